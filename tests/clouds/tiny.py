"""A third kind of provider, as small as one can be: one type in one place."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from typing_extensions import override

from growth.api.kinds import NODE_CLASSES
from growth.api.model import Model
from growth.api.nodeclass import NodeClass
from growth.api.written import ServerTypeName
from growth.scheduling.resources import parse_resources
from reconciler.providers.kind import ProviderKind
from reconciler.providers.port import Offering
from reconciler.providers.registry import PROVIDERS

if TYPE_CHECKING:
    import pytest


class TinySpec(Model):
    image: str = "v1"


class TinyNodeClass(NodeClass):
    kind_names: ClassVar[tuple[str, str, str]] = ("tinynodeclasses", "tinynodeclass", "tnc")
    provider: ClassVar[str] = "tiny"
    usually_bills_hours: ClassVar[bool] = True

    kind: Literal["TinyNodeClass"] = "TinyNodeClass"
    spec: TinySpec = TinySpec()

    @override
    def disclosed(self) -> dict[str, Any]:
        return {}


SMALL = Offering(
    provider=TinyNodeClass.provider,
    server_type=ServerTypeName("t1"),
    location="attic",
    price=Decimal("0.01"),
    allocatable=parse_resources({"cpu": "2", "memory": "4Gi", "pods": "110"}),
)


def _machine_id(provider_id: str) -> str | None:
    """With a place before it, which says nothing of the machine: aws:///eu-central-1a/i-0abc."""
    scheme, _, rest = provider_id.partition(":///")
    return rest.rpartition("/")[2] or None if scheme == "aws" else None


TINY = ProviderKind(
    node_class=TinyNodeClass,
    machine_id=_machine_id,
    parts=lambda node_class, *_: {"image": node_class.spec.image},
    own_catalogue=lambda _: (SMALL,),
    clients="tests.clouds.tiny",
)


def register_tiny(patched: pytest.MonkeyPatch) -> None:
    """The two lines that a provider of the product has in the registries."""
    patched.setitem(NODE_CLASSES, TinyNodeClass.__name__, TinyNodeClass)
    patched.setitem(PROVIDERS, TinyNodeClass.__name__, TINY)
