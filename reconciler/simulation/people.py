"""What people do in a cluster with growth; each action is undone after a while.

They cordon a node, protect one with an annotation, allow no disruptions, or start a pod that runs
where others don't. The auditor knows each wish, and so which nodes must stay.

If a pool reports that removals are held because there are too many orphans, or because another
growth buys here, a person looks after a while. They delete the orphans of this cluster at the
cloud, because none of them is in use, and give the other growth an id of its own.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.conditions import Truth
from growth.api.disruption import Disruption, NodeDisruptionBudget
from growth.api.nodeclass import ANOTHER_WRITER
from growth.api.wellknown import DO_NOT_DISRUPT_ANNOTATION, SCALE_DOWN_TAINT
from growth.kube.cache.resource import Key
from growth.kube.errors import NotFound
from growth.scheduling.objects import Pod
from reconciler.removal.another_writer import HELD
from reconciler.simulation.chance import Chance
from reconciler.simulation.cloud import pool_of_simulated_node
from reconciler.simulation.evictions import HealthyPods
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.server import with_metadata
from reconciler.simulation.workload import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.api.nodepool import NodePool
    from growth.scheduling.node import Node
    from reconciler.simulation.living import Living
    from reconciler.simulation.server import StoredChange

    Change = Callable[[Node], Node]

LASTS: Final = (60.0, 1200.0)
"""Seconds until an action is undone, also longer than any event can be lost."""
LOOKS_AFTER: Final = (1200.0, 1800.0)
"""Seconds until a person reads the condition: longer than orphans may stay undetected."""
WAITS_FOR_PEOPLE: Final = frozenset({"TooManyOrphans", ANOTHER_WRITER})
"""The reasons that a person has to look at."""
POOL_BUDGETS: Final = tuple(
    tuple(NodeDisruptionBudget.model_validate(each) for each in budgets)
    for budgets in (
        [{"nodes": 0}],
        [{"nodes": 1}],
        [{"nodes": "50%"}],
        [{"nodes": "100%"}],
        [{"nodes": 0, "reasons": ["Consolidation"]}, {"nodes": 2}],
        [{"nodes": "40%"}, {"nodes": 0, "window": {"start": "00:30", "duration": "30m"}}],
    )
)
"""What people write into a pool."""
ALL: Final = HealthyPods(10**6)
"""A budget that requires this many healthy pods allows no disruption."""


class People:
    """All people."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._server = living.server
        self._started = 0
        self._chance = Chance(living.around.story.seed, "people")
        self._server.kind("NodePool").heard_by.append(self._read)

    @property
    def strokes(self) -> Mapping[SimulatedFault, Callable[[Chance], None]]:
        """The actions of people by kind of fault."""
        return {
            SimulatedFault.CORDON: self._cordon,
            SimulatedFault.KEPT: self._keep,
            SimulatedFault.NOTHING_MOVES: self._guard,
            SimulatedFault.VISITOR: self._visit,
            SimulatedFault.POOL_BUDGETS: self._limit,
        }

    def _read(self, event: StoredChange) -> None:
        if _says_held(event.new) and not _says_held(event.old):
            wait = self._chance.between(*LOOKS_AFTER)
            self._living.timeline.after(wait, self._clear_up)

    def _clear_up(self) -> None:
        # They look again before they delete anything: a listing may have been wrong, and right
        # since.
        if any(_says_held(pool) for pool in self._server.kind("NodePool").objects.values()):
            # What is bought a moment later may keep the condition as it is.
            self._living.timeline.after(LOOKS_AFTER[0], self._clear_up)
            self._living.around.trace.note("a person: tells the clusters apart")
            self._living.cloud.foreign.clear()
            for name in self._living.auditor.unknown.names:
                self._living.around.trace.note(f"a person: deletes the machine {name}")
                self._living.cloud.die(name)

    def _a_node(self, chance: Chance) -> Node | None:
        """A serving node that isn't cordoned."""
        nodes = [
            node
            for node in self._server.kind("nodes").objects.values()
            if pool_of_simulated_node(node) and node.is_ready and not node.spec.unschedulable
        ]
        return chance.one_of(nodes) if nodes else None

    def _cordon(self, chance: Chance) -> None:
        node = self._a_node(chance)
        if node is not None:
            self._wish(node, _cordoned, _uncordoned, seconds=chance.between(*LASTS))

    def _keep(self, chance: Chance) -> None:
        node = self._a_node(chance)
        if node is not None and DO_NOT_DISRUPT_ANNOTATION not in node.metadata.annotations:
            self._wish(node, _kept, _left, seconds=chance.between(*LASTS))

    def _wish(self, node: Node, does: Change, undoes: Change, *, seconds: float) -> None:
        self._living.around.trace.note(f"a person: {does.__name__.strip('_')} {node.name}")
        wished = self._living.auditor.wished_at
        wished.setdefault(node.name, self._living.timeline.now)
        self._server.change("nodes", Key("", node.name), does)
        self._living.timeline.after(seconds, self._take_back, node, undoes)

    def _take_back(self, node: Node, undoes: Change) -> None:
        self._living.auditor.wished_at.pop(node.name, None)
        with suppress(NotFound):
            self._server.change("nodes", Key("", node.name), undoes)

    def _guard(self, chance: Chance) -> None:
        self._living.around.trace.note("a person: nothing may be moved")
        self._living.evictions.guard("all", namespace=NAMESPACE, selects={}, needs=ALL)
        self._living.timeline.after(chance.between(*LASTS), self._relax)

    def _relax(self) -> None:
        self._living.evictions.lift("all", namespace=NAMESPACE)

    def _limit(self, chance: Chance) -> None:
        name, budgets = chance.one_of(("default", "batch")), chance.one_of(POOL_BUDGETS)
        self._living.around.trace.note(f"a person: changes the budgets of {name}")
        self._write_budgets(name, budgets)
        usual = Disruption().budgets
        self._living.timeline.after(chance.between(*LASTS), self._write_budgets, name, usual)

    def _write_budgets(self, pool: str, budgets: tuple[NodeDisruptionBudget, ...]) -> None:
        # It may have been deleted.
        with suppress(NotFound):
            self._server.change("NodePool", Key("", pool), partial(_with_budgets, budgets))

    def _visit(self, chance: Chance) -> None:
        self._started += 1
        pod = _visitor(f"visitor-{self._started}")
        self._server.create("pods", pod)
        key = Key(NAMESPACE, pod.metadata.name)
        self._living.timeline.after(chance.between(*LASTS), self._end, key)

    def _end(self, key: Key) -> None:
        # It may have died with its node.
        if key in self._server.kind("pods").objects:
            self._living.kubelets.end(key)


def _with_budgets(budgets: tuple[NodeDisruptionBudget, ...], pool: NodePool) -> NodePool:
    disruption = pool.spec.disruption.model_copy(update={"budgets": budgets})
    return pool.model_copy(update={"spec": pool.spec.model_copy(update={"disruption": disruption})})


def _says_held(pool: NodePool | None) -> bool:
    said = pool.status.conditions if pool is not None else ()
    return any(
        each.type == HELD and each.status is Truth.TRUE and each.reason in WAITS_FOR_PEOPLE
        for each in said
    )


def _visitor(name: str) -> Pod:
    """A small pod without a controller that tolerates the mark of nodes."""
    requests = {"cpu": "100m", "memory": "64Mi"}
    document: dict[str, Any] = {
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "containers": [{"name": "main", "resources": {"requests": requests}}],
            "tolerations": [{"key": SCALE_DOWN_TAINT, "operator": "Exists"}],
        },
        "status": {"phase": "Pending"},
    }
    return msgspec.convert(document, Pod)


def _cordoned(node: Node) -> Node:
    return _with_cordon(node, unschedulable=True)


def _uncordoned(node: Node) -> Node:
    return _with_cordon(node, unschedulable=False)


def _with_cordon(node: Node, *, unschedulable: bool) -> Node:
    spec = msgspec.structs.replace(node.spec, unschedulable=unschedulable)
    return msgspec.structs.replace(node, spec=spec)


def _kept(node: Node) -> Node:
    return _annotated(node, {**node.metadata.annotations, DO_NOT_DISRUPT_ANNOTATION: "true"})


def _left(node: Node) -> Node:
    rest = dict(node.metadata.annotations)
    rest.pop(DO_NOT_DISRUPT_ANNOTATION, None)
    return _annotated(node, rest)


def _annotated(node: Node, annotations: Mapping[str, str]) -> Node:
    changed: Node = with_metadata(node, annotations=annotations)
    return changed
