"""Mistakes that others have made, planted into parts of our process.

Each is what a reasonable person could write, most stand for a row of the catalogue of faults; most
work as long as nothing is late. Everything else of the process is the real thing.
"""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
from typing_extensions import override

from growth.api.noderemovalrequest import RemovalPhase
from growth.api.wellknown import CORDONED_ANNOTATION
from growth.api.written import Duration
from growth.keeping.marks import is_cordoned_by_a_person
from growth.kube.cache.resource import Key
from growth.kube.errors import NotFound
from reconciler import planning, provisioning, removal, replacement
from reconciler.core.actions import DeleteMachine, Sequence, SetNode, machine
from reconciler.facts.cordons import uncordoned
from reconciler.invariants.breach import Invariant
from reconciler.invariants.judging import Judgement
from reconciler.loop import ROOMS, Room
from reconciler.planning.nominations import Nominated
from reconciler.simulation.caches import Cache
from reconciler.simulation.effects import Result, SimulatedEffects, Write
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.process import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.api.nodepool import NodePool
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import Evict
    from reconciler.core.decision import Decision
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.providers.port import ClassKey, Listing, Machine, Offering, Sight
    from reconciler.provisioning.ledger import ProvisioningLedger
    from reconciler.removal.ledger import RemovalLedger
    from reconciler.replacement.ledger import ReplacementLedger

CONSOLIDATING = range(3, 10)
"""Seeds in which nodes are replaced by cheaper ones."""
BOUND_UNSEEN = range(6, 14)
"""Seeds in which a pod comes to an idle node while nothing is heard of pods."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A planted mistake, and the faults under which it shows."""

    row: int | None = None
    """Of the catalogue of faults, if it is there."""
    name: str
    faults: tuple[SimulatedFault, ...] = ()
    parts: Callable[[], Parts]
    seeds: range = range(1, 9)
    minutes: float = 40.0


def lets_everything_pass(_sequences: object, world: World, _now: Instant) -> Judgement:
    """Our own brakes, off: they would hold back what the auditor is to see."""
    return Judgement(memory=world.ledger.invariants)


def _planned_by(decide: Callable[[World, Instant], Decision[PlanningLedger]]) -> Parts:
    return _with("planning", decide)


def _with(name: str, decide: Callable[[World, Instant], Decision[Any]]) -> Parts:
    """All rooms, one of them with a mistake."""
    rooms: Iterable[Room[Any]] = ROOMS
    return Parts(
        rooms=[replace(room, decide=decide) if room.name == name else room for room in rooms]
    )


def forgets_the_pods_of_a_node_that_serves(world: World, now: Instant) -> Decision[PlanningLedger]:
    """The node has joined, so its request is done: whoever still waits is demand again."""
    impatient = msgspec.structs.replace(world.timing, bind_wait=0.0)
    return planning.decide(msgspec.structs.replace(world, timing=impatient), now)


def believes_its_cache_after_a_write(world: World, now: Instant) -> Decision[PlanningLedger]:
    """What isn't in the cache isn't there."""
    known = world.ledger.planning
    forgetful = replace(known, unconfirmed={}, nominated=Nominated(), bought={})
    return planning.decide(world.remembering(replace(world.ledger, planning=forgetful)), now)


class GoesOn(SimulatedEffects):
    """A sequence that has begun is carried to its end, whoever leads by now."""

    @override
    def may_act(self) -> bool:
        return True


class BelievesAnyServer(Cache):
    """A list is a list, however old."""

    @override
    def accepts(self, version: int) -> bool:
        return True


class WaitsForTheMoment:
    """Acts when a node turns Ready, which it has to see happen."""

    def __init__(self) -> None:
        self._seen_booting: set[str] = set()

    def __call__(self, world: World, now: Instant) -> Decision[ProvisioningLedger]:
        nodes = world.cluster.nodes
        self._seen_booting |= {name for name, node in nodes.items() if not node.is_ready}
        shown = {
            name: node if name in self._seen_booting else _not_ready(node)
            for name, node in nodes.items()
        }
        cluster = msgspec.structs.replace(world.cluster, nodes=shown)
        return provisioning.decide(msgspec.structs.replace(world, cluster=cluster), now)


class DoesNotLookAgain(SimulatedEffects):
    """What the cache says of a node's pods is good enough."""

    @override
    def pods_in_the_way(self, name: str) -> tuple[Pod, ...]:
        return ()


def removes_while_it_is_blind(world: World, now: Instant) -> Decision[RemovalLedger]:
    """What was seen last is what there is."""
    bold = replace(world.ledger.brakes, may_remove=True, clear_since=0.0)
    return removal.decide(world.remembering(replace(world.ledger, brakes=bold)), now)


def takes_silence_for_death(world: World, now: Instant) -> Decision[RemovalLedger]:
    """A node that isn't ready has no machine any more; who would ask the cloud?"""
    dead = {name for name, node in world.cluster.nodes.items() if not node.is_ready}
    clouds = {
        key: _showing(sight, lambda each: each.name not in dead)
        for key, sight in world.clouds.items()
    }
    return removal.decide(msgspec.structs.replace(world, clouds=clouds), now)


def asks_until_it_is_done(world: World, now: Instant) -> Decision[RemovalLedger]:
    """A listing shows the machine still, so it has to be deleted."""
    removals = {
        name: _never_asked(each) if _is_shown_still(each, world) else each
        for name, each in world.removals.items()
    }
    return removal.decide(msgspec.structs.replace(world, removals=removals), now)


def _is_shown_still(found: NodeRemovalRequest, world: World) -> bool:
    asked_at = found.status.remove_attempted_at
    listings = (sight.listing for sight in world.clouds.values() if sight.listing is not None)
    return asked_at is not None and any(
        found.name in listing.machines and listing.at.wall > asked_at for listing in listings
    )


def _never_asked(found: NodeRemovalRequest) -> NodeRemovalRequest:
    status = found.status.model_copy(update={"remove_attempted_at": None, "removal_attempt": 0})
    return found.model_copy(update={"status": status})


class FollowsWhatItBegan:
    """Each removal has somebody who looks after it: who has opened it."""

    def __init__(self) -> None:
        self._begun: dict[int, set[str]] = {}

    def __call__(self, world: World, now: Instant) -> Decision[RemovalLedger]:
        pending = {
            name
            for name, each in world.removals.items()
            if each.status.phase is RemovalPhase.PENDING
        }
        # The ledger is new in each life, so its clock tells which one this is.
        if world.ledger.removal.looked_at is None:
            self._begun.clear()
        begun = self._begun.setdefault(0, set())
        begun |= pending
        decision = removal.decide(world, now)
        others = world.removals.keys() - begun
        own = tuple(each for each in decision.sequences if each.subject.name not in others)
        return msgspec.structs.replace(decision, sequences=own)


def knows_all_its_machines(world: World, now: Instant) -> Decision[RemovalLedger]:
    """A machine that no object tells of isn't ours."""
    known = world.requests.keys() | world.cluster.nodes.keys() | world.removals.keys()
    clouds = {
        key: _showing(sight, lambda each: each.name in known) for key, sight in world.clouds.items()
    }
    return removal.decide(msgspec.structs.replace(world, clouds=clouds), now)


def _listing_only(world: World, shows: Callable[[Machine], bool]) -> World:
    clouds = {key: _showing(sight, shows) for key, sight in world.clouds.items()}
    return msgspec.structs.replace(world, clouds=clouds)


def _showing(sight: Sight, shows: Callable[[Machine], bool]) -> Sight:
    def shown(listing: Listing | None) -> Listing | None:
        if listing is None:
            return None
        machines = {name: each for name, each in listing.machines.items() if shows(each)}
        return msgspec.structs.replace(listing, machines=machines)

    return msgspec.structs.replace(sight, listing=shown(sight.listing), before=shown(sight.before))


def takes_every_orphan_for_its_own(world: World, now: Instant) -> Decision[RemovalLedger]:
    """Who else would buy machines with our id?"""
    clouds = {key: _without_origin(sight) for key, sight in world.clouds.items()}
    return removal.decide(msgspec.structs.replace(world, clouds=clouds), now)


def _without_origin(sight: Sight) -> Sight:
    if sight.listing is None:
        return sight
    machines = {
        name: msgspec.structs.replace(each, created_at=None, installation="")
        for name, each in sight.listing.machines.items()
    }
    return msgspec.structs.replace(
        sight, listing=msgspec.structs.replace(sight.listing, machines=machines)
    )


def waits_for_every_machine(world: World, now: Instant) -> Decision[ProvisioningLedger]:
    """It was accepted, so it will come."""
    patient = {"readiness_wait": Duration.parse("24h")}
    pools = {
        name: pool.model_copy(update={"spec": pool.spec.model_copy(update=patient)})
        for name, pool in world.pools.items()
    }
    return provisioning.decide(msgspec.structs.replace(world, pools=pools), now)


def ignores_the_budgets_of_pools(world: World, now: Instant) -> Decision[ReplacementLedger]:
    """What is cheaper is cheaper for all nodes at once."""
    pools = {name: _without_budgets(pool) for name, pool in world.pools.items()}
    return replacement.decide(msgspec.structs.replace(world, pools=pools), now)


def _without_budgets(pool: NodePool) -> NodePool:
    disruption = pool.spec.disruption.model_copy(update={"budgets": ()})
    return pool.model_copy(update={"spec": pool.spec.model_copy(update={"disruption": disruption})})


class DeletesPods(SimulatedEffects):
    """Who has to go, goes."""

    @override
    def _evict(self, action: Evict) -> Result:
        with suppress(NotFound):
            self._server.delete("pods", Key(action.namespace, action.name))
        return Result()


class NeverCordons(SimulatedEffects):
    """Its mark is enough."""

    @override
    def _write(self, action: Write) -> Result:
        if isinstance(action, SetNode) and action.unschedulable:
            action = msgspec.structs.replace(action, unschedulable=None)
        return super()._write(action)


def _drained(world: World) -> frozenset[str]:
    return frozenset(
        name
        for name, each in world.removals.items()
        if each.spec.reason.meaning.drains and name in world.cluster.nodes
    )


def drains_without_a_cordon(world: World, now: Instant) -> Decision[RemovalLedger]:
    """Its pods are evicted, and then it is empty."""
    nodes = dict(world.cluster.nodes)
    for name in _drained(world):
        spec = msgspec.structs.replace(nodes[name].spec, unschedulable=True)
        marked = {**nodes[name].metadata.annotations, CORDONED_ANNOTATION: "Consolidation"}
        metadata = msgspec.structs.replace(nodes[name].metadata, annotations=marked)
        nodes[name] = msgspec.structs.replace(nodes[name], spec=spec, metadata=metadata)
    cluster = msgspec.structs.replace(world.cluster, nodes=nodes)
    return removal.decide(msgspec.structs.replace(world, cluster=cluster), now)


def takes_who_is_asked_to_go_for_gone(world: World, now: Instant) -> Decision[RemovalLedger]:
    """An evicted pod is no reason to wait."""
    cluster = world.cluster
    for name in _drained(world):
        for pod in cluster.occupancy(name).pods:
            if pod.is_terminating:
                cluster = cluster.without_pod(pod)
    return removal.decide(msgspec.structs.replace(world, cluster=cluster), now)


def _not_ready(node: Node) -> Node:
    status = msgspec.structs.replace(node.status, conditions=())
    return msgspec.structs.replace(node, status=status)


class BuysOneType:
    """One type is easier to look after, and maxima are for others."""

    def __init__(self) -> None:
        self._known: dict[ClassKey, tuple[tuple[Offering, ...], tuple[Offering, ...]]] = {}

    def __call__(self, world: World, now: Instant) -> Decision[PlanningLedger]:
        pools = {name: self._allowing(pool) for name, pool in world.pools.items()}
        sold = {key: self._one_of(key, offers) for key, offers in world.offerings.items()}
        return planning.decide(msgspec.structs.replace(world, pools=pools, offerings=sold), now)

    def _allowing(self, pool: NodePool) -> NodePool:
        more = tuple(each.model_copy(update={"max": 80}) for each in pool.spec.server_types)
        return pool.model_copy(update={"spec": pool.spec.model_copy(update={"server_types": more})})

    def _one_of(self, key: ClassKey, offers: tuple[Offering, ...]) -> tuple[Offering, ...]:
        """The same object for the same catalogue, as everything is planned anew for another one."""
        if key not in self._known or self._known[key][0] is not offers:
            medium = (each for each in offers if each.server_type.canonical == "medium")
            self._known[key] = offers, tuple(medium)
        return self._known[key][1]


def frees_what_people_hold(world: World, now: Instant) -> Decision[RemovalLedger]:
    """A cordon is in the way of pods, so it is taken off."""
    decision = removal.decide(world, now)
    freed = (
        Sequence(subject=machine(name), steps=(uncordoned(node),), why="make room")
        for name, node in sorted(world.cluster.nodes.items())
        if is_cordoned_by_a_person(node) and world.is_free(machine(name))
    )
    return msgspec.structs.replace(decision, sequences=(*freed, *decision.sequences))


def deletes_what_bears_the_name(world: World, now: Instant) -> Decision[RemovalLedger]:
    """Ids are for clouds: a name is enough."""
    decision = removal.decide(world, now)
    return msgspec.structs.replace(
        decision, sequences=tuple(_by_name(each) for each in decision.sequences)
    )


def _by_name(sequence: Sequence) -> Sequence:
    steps = tuple(
        msgspec.structs.replace(
            step, machine=msgspec.structs.replace(step.machine, machine_id=step.machine.name)
        )
        if isinstance(step, DeleteMachine)
        else step
        for step in sequence.steps
    )
    return msgspec.structs.replace(sequence, steps=steps)


MUTANTS = (
    Mutant(
        row=3,
        name="forgets the pods of a node that serves",
        faults=(SimulatedFault.WATCH_LAG,),
        parts=lambda: _planned_by(forgets_the_pods_of_a_node_that_serves),
    ),
    Mutant(
        row=4,
        name="believes a list of pods that lacks some",
        faults=(SimulatedFault.PODS_MISSING, SimulatedFault.RESTART),
        parts=lambda: Parts(effects=DoesNotLookAgain),
    ),
    Mutant(
        row=5,
        name="counts an outage as idle time",
        faults=(SimulatedFault.OUTAGE,),
        parts=lambda: dataclasses.replace(
            _with("removal", removes_while_it_is_blind), effects=DoesNotLookAgain
        ),
        seeds=BOUND_UNSEEN,
        minutes=10.0,
    ),
    Mutant(
        row=6,
        name="takes silence for death",
        faults=(SimulatedFault.PARTITION,),
        parts=lambda: _with("removal", takes_silence_for_death),
    ),
    Mutant(
        row=8,
        name="asks until it is done",
        faults=(SimulatedFault.DELETE_FAILS,),
        parts=lambda: _with("removal", asks_until_it_is_done),
    ),
    Mutant(
        row=9,
        name="follows only what it began itself",
        faults=(SimulatedFault.RESTART,),
        parts=lambda: _with("removal", FollowsWhatItBegan()),
        # A process has to end while a machine goes; in these one does.
        seeds=range(10, 18),
    ),
    Mutant(
        row=10,
        name="knows all its machines",
        faults=(SimulatedFault.NODE_FORGOTTEN,),
        parts=lambda: _with("removal", knows_all_its_machines),
    ),
    Mutant(
        row=27,
        name="takes every orphan for its own",
        faults=(SimulatedFault.SECOND_WRITER,),
        parts=lambda: _with("removal", takes_every_orphan_for_its_own),
    ),
    Mutant(
        row=12,
        name="waits for every machine that was accepted",
        faults=(SimulatedFault.NEVER_READY,),
        parts=lambda: _with("provisioning", waits_for_every_machine),
    ),
    Mutant(
        row=16,
        name="goes on when another one leads",
        # Alone a freeze hides it: what was missed arrives before anything more is decided.
        faults=(SimulatedFault.FREEZE, SimulatedFault.WATCH_LAG),
        parts=lambda: Parts(effects=GoesOn),
    ),
    Mutant(
        row=17,
        name="believes its cache after a write",
        faults=(SimulatedFault.WATCH_LAG,),
        parts=lambda: _planned_by(believes_its_cache_after_a_write),
    ),
    Mutant(
        row=18,
        name="believes a server that is behind",
        faults=(SimulatedFault.STALE_SERVER,),
        parts=lambda: Parts(cache=BelievesAnyServer),
    ),
    Mutant(
        row=19,
        name="waits for the moment a node turns Ready",
        faults=(SimulatedFault.EVENT_LOST,),
        parts=lambda: _with("provisioning", WaitsForTheMoment()),
    ),
    Mutant(
        row=13,
        name="deletes pods that a budget holds",
        faults=(SimulatedFault.NOTHING_MOVES,),
        parts=lambda: Parts(effects=DeletesPods),
        seeds=CONSOLIDATING,
        minutes=20.0,
    ),
    Mutant(
        name="ignores the budgets of pools",
        parts=lambda: _with("replacement", ignores_the_budgets_of_pools),
        # In these, more nodes could go than may.
        seeds=range(31, 35),
        minutes=9.0,
    ),
    Mutant(
        name="drains without a cordon",
        parts=lambda: dataclasses.replace(
            _with("removal", drains_without_a_cordon), effects=NeverCordons
        ),
        seeds=CONSOLIDATING,
        minutes=20.0,
    ),
    Mutant(
        name="deletes before the last pod is gone",
        parts=lambda: dataclasses.replace(
            _with("removal", takes_who_is_asked_to_go_for_gone), effects=DoesNotLookAgain
        ),
        seeds=CONSOLIDATING,
        minutes=20.0,
    ),
)


def _named(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


HELD_BACK = (
    (
        Mutant(
            name="buys one type, however many",
            parts=lambda: _planned_by(BuysOneType()),
            minutes=8.0,
        ),
        Invariant.MAXIMUM_KEPT,
    ),
    (
        Mutant(
            name="deletes what bears the name",
            parts=lambda: _with("removal", deletes_what_bears_the_name),
            minutes=20.0,
        ),
        Invariant.DELETED_AS_NAMED,
    ),
    (
        Mutant(
            name="frees what people hold",
            faults=(SimulatedFault.CORDON,),
            parts=lambda: _with("removal", frees_what_people_hold),
            minutes=20.0,
        ),
        Invariant.CORDON_KEPT,
    ),
    (_named("counts an outage as idle time"), Invariant.NEVER_BLIND),
    (_named("deletes before the last pod is gone"), Invariant.PODS_KEEP_NODES),
)
"""Mistakes that our own brakes find before they are carried out, and the rule that they break."""
