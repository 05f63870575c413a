"""What all node classes have in common, and what each of them says about its provider.

Each kind of provider has one kind of node class. What processes and commands need to know about the
provider is on that class, so code that works with any of them never checks which one it has. What
only the reconciler's rules need is in `reconciler/providers`.
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


ANOTHER_WRITER: Final = "AnotherWriter"
"""The condition of a class while its cloud lists machines that another growth has bought with the
ID of this cluster; for its pools, the reason why removals are held."""
USABLE: Final = ObjectVerdict(ObjectStanding.CURRENT, "Usable", "Machines can be created.")


class NodeClassStatus(Model):
    """What the provider says about a node class."""

    observed_generation: Annotated[int, Field(ge=0)] = 0
    """The generation of the spec that this status describes."""
    blocked: Blockage | None = None
    """Why no machine can be created until a person changes something."""
    conditions: Conditions = ()
    """Ready, Reconciling and Stalled, as kstatus defines them; AnotherWriter once growth saw
    machines that another growth has bought with the ID of this cluster."""

    @property
    def verdict(self) -> ObjectVerdict:
        """The state of the class."""
        return self.blocked.verdict if self.blocked else USABLE


class NodeClass(CustomResource):
    """How machines are created at one provider, and how they join the cluster."""

    provider: ClassVar[str]
    """The provider's name in offerings, prices and installations, such as hetzner; no hyphen."""
    usually_bills_hours: ClassVar[bool] = False
    """Whether a started hour is paid in full, for when there is no class to ask."""

    kind: str
    """Kind of the object."""
    spec: Model
    """How machines are created."""
    status: NodeClassStatus = NodeClassStatus()
    """What the provider says about the class, written by growth."""

    @property
    def currency(self) -> str:
        """The currency of its prices, such as EUR; empty if unknown."""
        return ""

    @property
    def bills_hours(self) -> bool:
        """Whether a started hour is paid in full."""
        return self.usually_bills_hours

    @property
    def own_types(self) -> tuple[ServerTypeName, ...] | None:
        """The server types that the class itself lists; None if the list is elsewhere."""
        return None

    @property
    def catalogue_reference(self) -> KeyReference | None:
        """The ConfigMap that has its catalogue, if there is one."""
        return None

    @abstractmethod
    def disclosed(self) -> dict[str, Any]:
        """Spec and status for a bug report: without secrets, addresses and user data.

        Prices and resources are the real ones.
        """
