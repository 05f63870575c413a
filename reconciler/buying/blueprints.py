"""What a machine was made from, written down before it is asked for, so that drift can be told.

The request bears it from its first moment and hands it on to the node: nothing is lost in a crash.
It is kept part by part and not as one hash, so that people can be told what has changed; and it
holds only what is said otherwise than by default. A release that knows one more option, or another
default, makes no machine old. One that writes another form gives it a number of its own, and what
bears a number that isn't known is left alone.

Left out is what makes no machine different: limits, weights, prices, and who asks the cloud with
which token. A server type's sizes come from the catalogue, and that is no template: only where the
node class is the catalogue are they a part of it.
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
"""Of what is written out; of anything longer the digest tells whether it has changed."""
DIGEST: Final = "sha256:"


class Blueprint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one machine was made from."""

    form: int
    location: str = ""
    zone: str = ""
    architecture: str = ""
    labels: Mapping[str, str] = {}
    """Of its pool."""
    taints: tuple[Taint, ...] = ()
    """Of its pool, without those of the start."""
    parts: Mapping[str, str] | None = None
    """Of its node class, by their names in YAML; None where that can't be told."""

    @property
    def text(self) -> str:
        """As it is annotated."""
        return msgspec.json.encode(self, order="deterministic").decode()


_decode: Final = msgspec.json.Decoder(Blueprint).decode


def blueprint_of(pool: NodePool, offering: Offering, world: World) -> Blueprint:
    """What a machine that is asked for now is made from."""
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


# Nodes of one make bear the same text, and every pass asks for all of them.
@lru_cache(maxsize=4096)
def read_blueprint(text: str) -> Blueprint | None:
    """What an annotation tells; None where nothing can be concluded from it."""
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
    """What a node class says of such a machine, by the names of YAML; None where it says nothing.

    A value is there only if it isn't the default.
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
