"""Objects that can't be decoded and stand for machines: they are put aside, and count.

A NodeRequest that can't be read may have bought a machine. If it were forgotten, the machine would
be bought again. So it counts as it was when it could be read last; after a restart, by what of it
can be read, and at least by its name. If not even its spec can be read, its pods and its price are
unknown, and nothing more is bought for its pool (`buying.blocking`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec
from pydantic import ValidationError

from growth.api.meta import ObjectMeta
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import (
    NodeRequest,
    NodeRequestSpec,
    NodeRequestStatus,
    RequestPhase,
)
from growth.api.written import ServerTypeName
from growth.undecodable import UNDECODABLE
from reconciler.core.actions import machine
from reconciler.facts.unknown_purchase import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.kube.cache.contents import Unreadable
    from reconciler.core.world import World

_NAME: Final = re.compile("(?P<pool>[a-z0-9-]+)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def with_unreadable(world: World, unreadable: Mapping[str, tuple[Unreadable, ...]]) -> World:
    """The world in which these count, each as far as it can be read."""
    requests = unreadable.get(NodeRequest.__name__, ())
    removals = unreadable.get(NodeRemovalRequest.__name__, ())
    unseen = (each for each in requests if each.key.name not in world.requests)
    aside = frozenset(machine(each.key.name) for each in (*requests, *removals))
    return msgspec.structs.replace(
        world,
        unreadable=unreadable,
        requests={**world.requests, **dict(_standing(unseen))} if requests else world.requests,
        aside=world.aside | aside,
    )


def _standing(found: Iterator[Unreadable]) -> Iterator[tuple[str, NodeRequest]]:
    for each in found:
        written = _written(each)
        spec = _spec(written.get("spec"), each.key.name)
        if spec is not None:
            metadata = ObjectMeta(name=each.key.name, uid=each.uid, resource_version=each.version)
            status = NodeRequestStatus(phase=_phase(written.get("status")))
            yield (
                each.key.name,
                NodeRequest.model_construct(metadata=metadata, spec=spec, status=status),
            )


def _written(found: Unreadable) -> dict[str, Any]:
    try:
        return msgspec.json.decode(found.content, type=dict[str, Any])
    except UNDECODABLE:
        return {}


def _spec(written: object, name: str) -> NodeRequestSpec | None:
    """The spec, or what the name tells of it; None if it isn't a name of growth's."""
    try:
        return NodeRequestSpec.model_validate(written)
    except (ValidationError, RecursionError):
        found = _NAME.fullmatch(name)
        return None if found is None else _unknown(found["pool"])


def _unknown(pool: str) -> NodeRequestSpec:
    return NodeRequestSpec.model_validate(
        {
            "pool": pool,
            "targetOffering": UNKNOWN,
            "serverType": str(ServerTypeName(UNKNOWN)),
            "location": UNKNOWN,
            "price": "0",
        }
    )


def _phase(written: object) -> RequestPhase:
    """Its phase; one that can't be read may have a machine that is on its way."""
    phase = written.get("phase", "") if isinstance(written, dict) else ""
    try:
        return RequestPhase(phase)
    except ValueError:
        return RequestPhase.PROVISIONING
