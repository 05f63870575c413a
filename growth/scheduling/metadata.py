"""What every object of Kubernetes carries, in the fields that growth reads.

The structs here and in the other rooms decode the API server's JSON directly; a field that nobody
reads is not declared and so costs neither time nor memory. They are frozen and take no part in the
cyclic garbage collection (`gc=False`): an object of the API never refers back to itself. Only the
few kinds that keep derived values are tracked, one small object each, since they need a `__dict__`.
"""

from __future__ import annotations

import msgspec


class OwnerReference(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Who made an object. Only one owner may be the controller."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool = False


class Metadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Name, identity and labels of an object. Times stay text until somebody compares them."""

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
        """The owner that manages this object, if one does."""
        for owner in self.owner_references:
            if owner.controller:
                return owner
        return None


class ObservedCondition(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One thing that is said of an object, and since when."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
