"""The metadata of Kubernetes objects: the fields that growth reads.

The structs here and in the other modules decode the API server's JSON directly. A field that growth
doesn't read isn't declared, and so costs neither time nor memory. Structs are frozen and excluded
from cyclic garbage collection (`gc=False`), because an API object never refers to itself. Only the
few kinds with derived values are tracked, since they need a `__dict__`.
"""

from __future__ import annotations

import msgspec


class OwnerReference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An owner of an object; only one of them may be the controller."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Name, identity and labels of an object. Times stay text until they are compared."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that is this object's controller, if there is one."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class ObservedCondition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A condition in an object's status."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
