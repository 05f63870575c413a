"""What a machine was created from, recorded before it is ordered, so that drift can be detected.

The request has it from the start and passes it on to the node, so a crash loses nothing. Its parts
are kept separately, not as one hash, so that growth can say what has changed. It holds only values
other than the defaults: a release with a new option or a new default makes no machine drift. A
release with another format gives it a new number, and an unknown number is left alone.

It leaves out what doesn't change a machine: limits, weights, prices, and credentials. The sizes of
a server type come from the catalogue and are left out too, unless the node class itself is the
catalogue.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.scheduling.taints import Taint
from growth.undecodable import UNDECODABLE
from reconciler.buying.offers import ZONE_LABEL
from reconciler.facts.node_classes import node_class_of
from reconciler.providers.registry import provider_kind

if TYPE_CHECKING:
    from growth.api.nodeclass import NodeClass
    from growth.api.nodepool import NodePool
    from growth.api.written import ServerTypeName
    from reconciler.core.world import World
    from reconciler.providers.port import Offering

FORM: Final = 1
ARCHITECTURE_LABEL: Final = "kubernetes.io/arch"
LONGEST: Final = 63
"""The most characters of a value; longer ones are recorded as a digest."""
DIGEST: Final = "sha256:"


class Blueprint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a machine was created from."""

    form: int
    location: str = ""
    zone: str = ""
    architecture: str = ""
    labels: Mapping[str, str] = {}
    """The labels of its pool."""
    taints: tuple[Taint, ...] = ()
    """The taints of its pool, without startup taints."""
    parts: Mapping[str, str] | None = None
    """Fields of its node class, by their names in YAML; None if they aren't known."""

    @property
    def text(self) -> str:
        """The text of the annotation."""
        # Nodes are compared by this text: another order after a restart would look like a change.
        return msgspec.json.encode(self, order="deterministic").decode()


_decode: Final = msgspec.json.Decoder(Blueprint).decode


def blueprint_of(pool: NodePool, offering: Offering, world: World) -> Blueprint:
    """What a machine that is bought now is made from."""
    node_class = world.node_classes.get(node_class_of(pool, world))
    architecture = offering.labels.get(ARCHITECTURE_LABEL, "")
    return Blueprint(
        form=FORM,
        location=offering.location,
        zone=offering.labels.get(ZONE_LABEL, ""),
        architecture=architecture,
        labels=dict(pool.spec.labels),
        taints=taints_of(pool),
        parts=parts_of(node_class, offering.server_type, architecture=architecture),
    )


# Equal nodes have the same text, and every pass reads all of them.
@lru_cache(maxsize=4096)
def read_blueprint(text: str) -> Blueprint | None:
    """The blueprint in an annotation; None if it can't be read or has an unknown form."""
    try:
        found = _decode(text)
    except UNDECODABLE:
        return None
    return found if found.form == FORM else None


def taints_of(pool: NodePool) -> tuple[Taint, ...]:
    """The taints that the pool's nodes keep, in a stable order."""
    taints = (Taint(each.key, each.effect.value, each.value) for each in pool.spec.taints)
    return tuple(sorted(taints, key=lambda taint: (taint.key, taint.effect)))


def parts_of(
    node_class: NodeClass | None, server_type: ServerTypeName, *, architecture: str
) -> Mapping[str, str] | None:
    """The fields of a node class for such a machine, by their names in YAML; None without a class.

    It contains only fields whose values aren't the default.
    """
    if node_class is None:
        return None
    parts = provider_kind(node_class).parts(node_class, server_type, architecture)
    return None if parts is None else {name: _as_text(value) for name, value in parts.items()}


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    if len(text) <= LONGEST:
        return text
    return f"{DIGEST}{sha256(text.encode()).hexdigest()[:12]}"
