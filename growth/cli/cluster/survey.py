"""What `growth explain`, `top` and `cost` read: growth's objects, nodes, pods and budgets.

Everything comes from the API server and nothing from the reconciler, so the commands also work
while it isn't running, and give the answers that it would find after a restart. What only the
reconciler knows (which pods are promised a place on a node that was bought for others) is taken
from the status of its pools, and of records where a pool can't list all of its nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.conditions import Truth, condition_of_type
from growth.api.kinds import KINDS
from growth.api.nodeclass import NodeClass
from growth.api.nodepool import OBSERVING, NodePool
from growth.api.nodepool_status import MOST_KEPT
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import DEFAULT_NODE_CLASS, REPLACES_ANNOTATION
from growth.cli.cluster.lists import together
from growth.cli.cluster.names import ShortNames
from growth.cli.cluster.trouble import Trouble, trouble_of
from growth.cli.terminal.money import currency_of
from growth.clocks import wall_clock
from growth.demand.detection import is_demand
from growth.instant import Instant
from growth.keeping.answer import keepings
from growth.keeping.believing import as_believed
from growth.keeping.marks import pool_of_node
from growth.keeping.paid_hours import paid_hour_of
from growth.keeping.scene import KeepingScene
from growth.keeping.size import size_in_status
from growth.keeping.wanting import Keeping, KeepingReason
from growth.scheduling import objects
from growth.scheduling.cluster import Object, cluster_of
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.cli.cluster.lists import Lists

BUILT_IN: Final[Mapping[str, Callable[[bytes], Object]]] = {
    "/api/v1/nodes": objects.decode_node,
    "/api/v1/pods": objects.decode_pod,
    "/apis/policy/v1/poddisruptionbudgets": objects.decode_disruption_budget,
}
PAUSED: Final = "Paused"
NOT_IN_PLACE: Final = frozenset(
    {KeepingReason.STARTING, KeepingReason.MINIMUM, KeepingReason.PAID, KeepingReason.IDLE}
)
"""Reasons that apply only to nodes that no longer replace another one."""


class PausedUntil(msgspec.Struct, frozen=True):
    """A pause, as a pool's status tells it."""

    until: datetime | None
    """None if it has no end, because the written time is invalid or the pool only observes."""
    is_of_mode: bool = False
    """Whether the pool isn't paused, but only observes."""


class _Replaces(msgspec.Struct, frozen=True):
    """The annotation of a swap, as far as it is shown."""

    nodes: list[str] = []


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster at one moment, and why its nodes are kept."""

    scene: KeepingScene
    pending: tuple[Pod, ...]
    """Pods without a node that haven't finished."""
    ended: tuple[Pod, ...]
    """Finished pods."""
    records: Mapping[str, NodeRecord] = {}
    """What growth knows of each machine, by its name."""
    unrecorded: frozenset[str] = frozenset()
    """Nodes with growth's labels and without a record, in a cluster that has records."""
    kept: Mapping[str, Keeping]
    """The keeping of each of growth's nodes."""
    now: Instant
    unreadable: tuple[str, ...] = ()
    currency: str = ""
    """The currency of all prices, if it is known."""
    trouble: Trouble | None = None
    """What is wrong with growth itself."""

    @property
    def pools(self) -> Mapping[str, NodePool]:
        """The pools by name."""
        return self.scene.pools

    @property
    def names(self) -> ShortNames:
        """Short names of nodes, requests and removals."""
        scene = self.scene
        machines = (*scene.requests, *scene.removals, *self.records)
        return ShortNames([*scene.cluster.nodes, *machines])


async def surveyed(lists: Lists) -> Survey:
    """Read everything concurrently."""
    resources = await together(lists.ours(kind) for kind in KINDS.values())
    listed = await together(lists.all_of(path, decode) for path, decode in BUILT_IN.items())
    return survey(
        [each for several in resources for each in several],
        [each for several in listed for each in several],
        now=wall_clock(),
        unreadable=lists.unreadable,
        trouble=await trouble_of(lists),
    )


def survey(
    resources: Iterable[Any],
    seen: Iterable[Object],
    *,
    now: datetime,
    unreadable: Iterable[str] = (),
    trouble: Trouble | None = None,
) -> Survey:
    """The survey of what was read."""
    known = list(resources)
    records = _named(known, NodeRecord)
    written = list(seen)
    found = list(as_believed(written, records))
    pools, requests = _named(known, NodePool), _named(known, NodeRequest)
    classes = [each for each in known if isinstance(each, NodeClass)]
    pods = [each for each in found if isinstance(each, Pod)]
    pending = tuple(each for each in pods if not each.spec.node_name and not each.is_finished)
    told = _told(pools, records)
    scene = KeepingScene(
        cluster=cluster_of(found),
        pools=pools,
        requests=requests,
        removals=_named(known, NodeRemovalRequest),
        promises=_promises(requests.values(), pending, told),
        in_place_of=_in_place_of(found, told),
        pauses={name: pause for name, pool in pools.items() if (pause := paused(pool))},
        sizes={name: size_in_status(pool) for name, pool in pools.items()},
        paid_hours={
            name: paid_hour_of(pool, _class_of(pool, classes)) for name, pool in pools.items()
        },
    )
    # Nothing waits on the monotonic clock here, so it may begin at any number.
    instant = Instant(0.0, now)
    return Survey(
        scene=scene,
        pending=pending,
        ended=tuple(each for each in pods if each.is_finished),
        records=records,
        unrecorded=_unrecorded(written, found),
        kept=keepings(scene, instant),
        now=instant,
        unreadable=tuple(sorted(unreadable)),
        currency=currency_of(classes),
        trouble=trouble,
    )


def _told(pools: Mapping[str, NodePool], records: Mapping[str, NodeRecord]) -> Mapping[str, str]:
    """Why nodes are kept, as growth has written it. Records are written later than pools."""
    lines = {each.node: each.reason for pool in pools.values() for each in pool.status.kept}
    full = {name for name, pool in pools.items() if len(pool.status.kept) == MOST_KEPT}
    others = {
        name: each.status.kept
        for name, each in records.items()
        if each.spec.pool in full and each.status.kept is not None
    }
    return {**others, **lines}


def _unrecorded(written: Iterable[Object], found: Iterable[Object]) -> frozenset[str]:
    return frozenset(
        before.name
        for before, after in zip(written, found, strict=True)
        if isinstance(before, Node) and isinstance(after, Node)
        if pool_of_node(before) and not pool_of_node(after)
    )


def paused(pool: NodePool) -> PausedUntil | None:
    """Why growth doesn't act for a pool: a pause or its mode, from its conditions."""
    if is_observing(pool):
        return PausedUntil(None, is_of_mode=True)
    found = condition_of_type(pool.status.conditions, PAUSED)
    if found is None or found.status is not Truth.TRUE:
        return None
    return PausedUntil(pool.status.paused_until)


def is_observing(pool: NodePool) -> bool:
    """Whether growth only tells what it would do for the pool."""
    found = condition_of_type(pool.status.conditions, OBSERVING)
    return found is not None and found.status is Truth.TRUE


def _named(known: Iterable[Any], kind: type[Any]) -> dict[str, Any]:
    return {each.name: each for each in known if isinstance(each, kind)}


def _class_of(pool: NodePool, classes: Iterable[NodeClass]) -> NodeClass | None:
    """The node class that the pool names, or the only one called `default`."""
    reference = pool.spec.node_class_ref
    if reference is not None:
        wanted = (reference.kind.value, reference.name)
        return next((each for each in classes if (each.kind, each.name) == wanted), None)
    found = [each for each in classes if each.name == DEFAULT_NODE_CLASS]
    return found[0] if len(found) == 1 else None


def _promises(
    requests: Iterable[NodeRequest], pending: Iterable[Pod], told: Mapping[str, str]
) -> frozenset[str]:
    """Nodes that are promised to pods, while any pod is pending.

    The pools' status lists them. Until it does, machines that were requested for pods that are
    still pending count too.
    """
    waiting = {pod.metadata.uid for pod in pending}
    wished = {pod.metadata.uid for pod in pending if is_demand(pod)}
    said = {name for name, reason in told.items() if reason == KeepingReason.PROMISED and waiting}
    asked = {each.name for each in requests if any(pod.uid in wished for pod in each.spec.pods)}
    return frozenset(said | (asked - told.keys()))


def _in_place_of(found: Iterable[Object], told: Mapping[str, str]) -> dict[str, str]:
    """Nodes that replace others, while those exist and the swap isn't given up."""
    nodes = {each.name: each for each in found if isinstance(each, Node)}
    return {
        name: old
        for name, node in nodes.items()
        if told.get(name) not in NOT_IN_PLACE
        and (old := next((each for each in _replaced(node) if each in nodes), ""))
    }


def _replaced(node: Node) -> list[str]:
    try:
        written = node.metadata.annotations.get(REPLACES_ANNOTATION, "{}")
        return msgspec.json.decode(written, type=_Replaces).nodes
    except UNDECODABLE:
        return []
