"""What all node classes have in common, and what each of them tells of its provider.

A kind of provider has one kind of node class. What every process and command may need to know of
the provider stands on that class, so that code which works with any of them never asks which one it
has. What only the reconciler's rules need is in `reconciler/providers`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from pydantic import Field

from growth.api.conditions import Conditions, ObjectStanding, ObjectVerdict
from growth.api.meta import Blockage, CustomResource
from growth.api.model import Model

if TYPE_CHECKING:
    from growth.api.meta import KeyReference
    from growth.api.written import ServerTypeName


USABLE: Final = ObjectVerdict(ObjectStanding.CURRENT, "Usable", "Machines can be made.")


class NodeClassStatus(Model):
    """What the provider says of a node class."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status is about."""
    blocked: Blockage | None = None
    """Why no machine can be made until somebody changes something."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, after kstatus."""

    @property
    def verdict(self) -> ObjectVerdict:
        """Where the class stands."""
        return self.blocked.verdict if self.blocked else USABLE


class NodeClass(CustomResource):
    """How machines are made at one provider, and how they join the cluster."""

    provider: ClassVar[str]
    """The provider's name, as offerings, prices and installations have it: hetzner."""
    usually_bills_hours: ClassVar[bool] = False
    """Whether a started hour is paid in full where the class isn't there to say it."""

    kind: str
    """Kind of the object."""
    spec: Model
    """How machines are made."""
    status: NodeClassStatus = NodeClassStatus()
    """What the provider says of it; written by growth."""

    @property
    def currency(self) -> str:
        """What its prices are in, such as EUR; empty where nobody has said."""
        return ""

    @property
    def bills_hours(self) -> bool:
        """Whether a started hour is paid in full."""
        return self.usually_bills_hours

    @property
    def own_types(self) -> tuple[ServerTypeName, ...] | None:
        """The server types that the class itself lists; None where the list is elsewhere."""
        return None

    @property
    def catalogue_reference(self) -> KeyReference | None:
        """The ConfigMap that has its catalogue, if there is one."""
        return None

    @abstractmethod
    def disclosed(self) -> dict[str, Any]:
        """Spec and status as a bug report may have them: no secret, no address, no user data.

        They decide about prices and room as the real ones do.
        """
