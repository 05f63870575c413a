"""Which node goes for which: found by a search, proven by demand's own rules, written in objects.

One thing at a time: a question, or a swap. Nothing is begun while demand has no place or anything
is on its way, since whatever is found then is wrong a moment later; a swap that has begun goes on.
What has to go (a sick node, then one that has drifted) comes before what would only be cheaper.

    search    which set of nodes could go, and what for?     all candidates, as they are
    proof     do the pods of exactly these find a place?     a world without those nodes
    swap      requests that name the old nodes               the rest lies in objects
    confirm   is that still so, now that the new ones serve?
    removal   one for each old node; its drain is removal's work
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, assert_never
from uuid import UUID

from growth.api.disruption import DisruptionReason
from reconciler.buying.market import market, nothing_sold
from reconciler.core.actions import Sequence, Solve, Subject, SubjectKind, machine
from reconciler.core.decision import NEVER, Decision
from reconciler.facts.listings import clouds
from reconciler.facts.requested import Bought
from reconciler.facts.swap_annotation import swap_text
from reconciler.planning.applying import apply_plan
from reconciler.replacement import asking, going_on, writing
from reconciler.replacement.allowance import next_change
from reconciler.replacement.at_rest import is_moving, sight
from reconciler.replacement.candidates import (
    ReplacementCandidate,
    ReplacementLook,
    candidates,
    ceilings,
    disrupted,
    eligible,
    in_turn,
    is_in_use,
    movable,
)
from reconciler.replacement.drift import drifted
from reconciler.replacement.health import sick
from reconciler.replacement.horizon import horizon
from reconciler.replacement.judging import (
    culprits,
    has_changed,
    have_room,
    is_worth_it,
    pods_to_move,
    steadied,
    uids,
    unsteady,
)
from reconciler.replacement.ledger import Confirmation, PendingProof, PendingSearch
from reconciler.replacement.mending import mended
from reconciler.replacement.remembering import swaps_looked_after
from reconciler.replacement.swaps import SwapStage, swaps
from reconciler.solver import Plan, Renewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.actions import EmitEvent, Solved
    from reconciler.core.world import World
    from reconciler.planning.applying import Applied
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.swaps import Swap
    from reconciler.solver import Problem, Renewal

LANE = "replacement"


def decide(world: World, now: Instant) -> Decision[ReplacementLedger]:
    """The next step of every swap, and the next question."""
    return _Pass(world, now).decision()


class _Pass:
    """One pass: what is known, and what it comes to step by step."""

    def __init__(self, world: World, now: Instant) -> None:
        self.now = now
        self.world = world
        self.ledger = swaps_looked_after(world, now)
        self.sequences: list[Sequence] = []
        self.wakes: list[float] = []
        self.sick: Mapping[str, str] = {}
        self._see()

    def decision(self) -> Decision[ReplacementLedger]:
        """All of it, in its order."""
        self._read()
        self._create()
        self.sequences += going_on.machines_left_behind(self.ledger, self.world)
        self._ask()
        self.sequences += mended(self.world)
        self.wakes.append(going_on.next_wait_end(self.ledger, self.now))
        return Decision(
            section=self.ledger,
            sequences=tuple(self.sequences),
            wake_at=min(self.wakes, default=NEVER),
        )

    def _see(self) -> None:
        """What swaps there are, and which nodes they are about."""
        health, self.sick, wake_at = sick(self.world, self.now, self.ledger.health)
        self.wakes.append(wake_at)
        self._remember(replace(self.ledger, health=health))
        known = swaps(self.world)
        self.ledger = going_on.followed(self.ledger, known, self.world, self.now)
        self._remember(self.ledger)
        self.swaps = tuple(each for each in known if each.text not in self.ledger.given_up)
        old = {name for swap in self.swaps for name in swap.nodes}
        new = {name for swap in self.swaps for name in swap.machines}
        self.old = frozenset(old | self.ledger.going.keys() | self.ledger.opening.keys())
        self.look = ReplacementLook(
            world=self.world,
            now=self.now,
            clouds=clouds(self.world),
            taken=frozenset(self.old | new),
        )

    def _remember(self, ledger: ReplacementLedger) -> None:
        self.ledger = ledger
        self.world = self.world.remembering(replace(self.world.ledger, replacement=self.ledger))

    # What came back.

    def _read(self) -> None:
        asked, solved = self.ledger.asked, self.world.plans.get(LANE)
        if asked is None or not self.world.is_free(_lane()):
            return
        self._remember(replace(self.ledger, asked=None))
        if solved is None or solved.number != asked.number:
            # It was stopped, since something else was more urgent.
            self._remember(replace(self.ledger, seen=()))
            return
        match asked:
            case PendingSearch():
                self._found(solved)
            case PendingProof():
                self._proven(asked, solved)
            case Confirmation():
                self._confirmed(asked, solved)
            case _:
                assert_never(asked)

    def _found(self, solved: Solved) -> None:
        """The search has an answer: what it found has to be proven."""
        answer = solved.plan
        if not isinstance(answer, Renewed) or not answer.goes or self._is_moving():
            return
        may_go = {each.name: each for each in self._candidates() if each.is_quiet}
        if not all(name in may_go for name in answer.goes):
            self._remember(replace(self.ledger, seen=()))
            return
        chosen = [may_go[name] for name in answer.goes]
        self._prove(
            {each.name: each.pods for each in chosen},
            reason=DisruptionReason.CONSOLIDATION,
            why="the same pods fit on less",
        )

    def _proven(self, asked: PendingProof, solved: Solved) -> None:
        """The plan for the pods of these nodes is there: it is written down if it is good."""
        if not isinstance(solved.plan, Plan) or self._is_late(asked):
            self._remember(replace(self.ledger, seen=()))
            return
        result = self._applied(asked, solved.plan)
        if misplaced := culprits(asked, result, self.world):
            self._prove_without(misplaced, asked, seconds=going_on.RESTS)
            return
        steady = steadied(asked, solved.plan, self.world)
        if steady is not None and steady is not solved.plan:
            result = self._applied(asked, steady)
        if steady is not None and is_worth_it(asked, result, self.world, horizon=self._horizon()):
            self._swap(asked, result)
        elif homeless := unsteady(asked, solved.plan, self.world):
            self._remember(
                replace(self.ledger, left_over=_counted(self.ledger.left_over, homeless))
            )
            times = max(self.ledger.left_over[name] for name in homeless)
            self._prove_without(homeless, asked, seconds=going_on.rest_after(times))

    def _applied(self, asked: PendingProof, plan: Plan) -> Applied:
        chance = Random(self.world.seed)  # noqa: S311 - names have to be unlike, not secret
        pods = pods_to_move(asked.nodes, self.world)
        return apply_plan(
            plan,
            asked.question,
            asking.without(self.world, frozenset(asked.nodes)),
            waiting={pod.metadata.uid: pod for pod in asking.unbound(pods)},
            market=market(self.world, self.now),
            new_id=lambda: UUID(int=chance.getrandbits(128), version=4),
            now=self.now,
        )

    def _prove_without(self, names: frozenset[str], asked: PendingProof, *, seconds: float) -> None:
        """These nodes stay for now; the others may go all the same, and have more room to go to."""
        self.ledger = going_on.resting(self.ledger, names, self.now, seconds=seconds)
        self._remember(self.ledger)
        occupancy = self.world.cluster.occupancy
        others = {name: occupancy(name).keepers for name in asked.nodes if name not in names}
        if others:
            self._prove(others, reason=asked.reason, why=asked.why)

    def _is_late(self, asked: PendingProof) -> bool:
        """Whether the world has gone on, so that the answer is about another one."""
        if has_changed(asked, self.world, self.now):
            return True
        return asked.reason is not DisruptionReason.UNHEALTHY and self._is_moving()

    def _swap(self, asked: PendingProof, result: Applied) -> None:
        """Write down what is bought; where nothing is, the old ones go at once."""
        self._remember(replace(self.ledger, left_over={}))
        said = writing.replacement_events(
            asked.nodes,
            result.requests.values(),
            self.world,
            reason=asked.reason,
            why=asked.why,
        )
        if not result.requests:
            self._open(asked.nodes, asked.reason, said=said)
            return
        text = swap_text(asked.nodes, of=len(result.requests), reason=asked.reason)
        requests = writing.replacing(result.requests.values(), text)
        bought = {
            name: Bought(pool=each.spec.pool, at=self.now.monotonic)
            for name, each in requests.items()
        }
        self._remember(
            replace(
                self.ledger,
                unconfirmed={**self.ledger.unconfirmed, **requests},
                bought={**self.ledger.bought, **bought},
                given_up=self.ledger.given_up - {text},
            )
        )
        self.sequences += (
            Sequence(subject=machine(name), steps=(event,), why="others take its place")
            for name, event in said.items()
        )

    def _confirmed(self, asked: Confirmation, solved: Solved) -> None:
        swap = next((each for each in self.swaps if each.text == asked.swap), None)
        if swap is None or not isinstance(solved.plan, Plan):
            return
        has_place = have_room(asked.question, solved.plan, self.world)
        if not has_place and swap.reason is not DisruptionReason.UNHEALTHY:
            self.ledger = going_on.swap_given_up(
                self.ledger, swap.text, swap.old(self.world), self.now
            )
            self._remember(self.ledger)
            self.swaps = tuple(each for each in self.swaps if each is not swap)
        elif swap.stage(self.world) is SwapStage.READY:
            asked_about = (name for name in swap.goers(self.world) if name in asked.nodes)
            self._open(asked_about, swap.reason, said={})

    def _open(
        self, names: Iterable[str], reason: DisruptionReason, *, said: Mapping[str, EmitEvent]
    ) -> None:
        opened = list(
            writing.openings(sorted(names), self.world, self.look.clouds, reason=reason, said=said)
        )
        self.sequences += opened
        going = {sequence.subject.name: reason for sequence in opened}
        self._remember(replace(self.ledger, opening={**self.ledger.opening, **going}))

    def _create(self) -> None:
        for name, request in self.ledger.unconfirmed.items():
            if self.world.is_free(machine(name)):
                self.sequences.append(writing.creation(request))

    # What is asked next.

    def _ask(self) -> None:
        if self.ledger.asked is not None or not self.world.is_free(_lane()):
            return
        ready = next((s for s in self.swaps if s.stage(self.world) is SwapStage.READY), None)
        if ready is not None:
            if self._may_confirm():
                self._confirm(ready)
        elif self._one_of(self.sick, DisruptionReason.UNHEALTHY) or self._is_moving():
            return
        elif not self._one_of(drifted(self.world), DisruptionReason.DRIFT):
            self._search()

    def _is_moving(self) -> bool:
        return is_moving(self.world, self.now, self.swaps)

    def _may_confirm(self) -> bool:
        """Not again at once, where the removals couldn't be opened."""
        return self._is_due(self.ledger.confirmed_at, self.world.timing.retry)

    def _confirm(self, swap: Swap) -> None:
        goers = frozenset(swap.goers(self.world))
        pods = pods_to_move(sorted(goers), self.world)
        question = asking.proof(pods, goers, self.world, nothing_sold(self.world))
        number = self._solve(question.problem, why=f"may {len(goers)} nodes go now?")
        asked = Confirmation(number=number, swap=swap.text, nodes=goers, question=question)
        self._remember(replace(self.ledger, asked=asked, confirmed_at=self.now.monotonic))

    def _one_of(self, found: Mapping[str, str], reason: DisruptionReason) -> bool:
        """Ask about the first of the nodes that have to go; False if none of them may now."""
        if not found:
            return False
        most = ceilings(self.look, reason, disrupted(self.look, self.old))
        turn = in_turn(found, most, self.look, reason=reason)
        self.wakes.append(turn.wake_at)
        for node in turn.nodes:
            pods = self._pods_to_move(node, reason)
            if pods is not None:
                self._prove({node.name: pods}, reason=reason, why=found[node.name])
                return True
        return False

    def _pods_to_move(self, node: Node, reason: DisruptionReason) -> tuple[Pod, ...] | None:
        if reason is DisruptionReason.UNHEALTHY:
            return self.world.cluster.occupancy(node.name).keepers
        if not is_in_use(node, self.world):
            return None
        pods, passes_at = movable(node, self.look)
        self.wakes.append(passes_at)
        return pods

    def _prove(
        self, nodes: Mapping[str, tuple[Pod, ...]], *, reason: DisruptionReason, why: str
    ) -> None:
        pods = [pod for each in nodes.values() for pod in each]
        sold = market(self.world, self.now)
        # What will go for the same reason is no place to go to: pods would be moved twice.
        closed = frozenset(drifted(self.world)) if reason is DisruptionReason.DRIFT else frozenset()
        question = asking.proof(pods, frozenset(nodes), self.world, sold, closed=closed)
        number = self._solve(question.problem, why=f"where would {len(pods)} pods go?")
        proof = PendingProof(
            number=number,
            nodes={name: uids(each) for name, each in nodes.items()},
            reason=reason,
            why=why,
            question=question,
        )
        self._remember(replace(self.ledger, asked=proof))

    def _search(self) -> None:
        """Ask which nodes could go, if anything has changed since that was asked last."""
        most = self._ceilings()
        nodes = eligible(self.look, most)
        self.wakes += (nodes.wake_at, self.ledger.opens_at)
        lasts = self._horizon()
        seen = (lasts, *sight(nodes.quiet, most, self.world))
        is_known = seen == self.ledger.seen and self.now.monotonic < self.ledger.opens_at
        if not nodes.quiet or is_known:
            return
        if not self._is_due(self.ledger.searched_at, self.world.timing.between_searches):
            return
        found, opens_at = candidates(nodes, self.look)
        self._remember(
            replace(self.ledger, seen=seen, searched_at=self.now.monotonic, opens_at=opens_at)
        )
        asked = asking.renewal(found, self.world, self.now, most=most, horizon=lasts)
        if asked is not None:
            number = self._solve(asked, why=f"could any of {len(asked.standing)} nodes go?")
            self._remember(replace(self.ledger, asked=PendingSearch(number=number)))

    def _horizon(self) -> float:
        lasts, more = horizon(self.ledger.regret, self.world, self.now)
        self.wakes.append(more)
        return lasts

    def _is_due(self, last: float | None, rest: float) -> bool:
        if last is None or last + rest <= self.now.monotonic:
            return True
        self.wakes.append(last + rest)
        return False

    def _ceilings(self) -> Mapping[str, int]:
        gone = disrupted(self.look, self.old)
        self.wakes += (next_change(pool, self.now) for pool in self.world.pools.values())
        return ceilings(self.look, DisruptionReason.CONSOLIDATION, gone)

    def _candidates(self) -> tuple[ReplacementCandidate, ...]:
        return candidates(eligible(self.look, self._ceilings()), self.look)[0]

    def _solve(self, problem: Problem | Renewal, *, why: str) -> int:
        number = self.ledger.number + 1
        self._remember(replace(self.ledger, number=number))
        solve = Solve(lane=LANE, number=number, problem=problem)
        self.sequences.append(Sequence(subject=_lane(), steps=(solve,), why=why))
        return number


def _counted(before: Mapping[str, int], names: Iterable[str]) -> Mapping[str, int]:
    return {**before, **{name: before.get(name, 0) + 1 for name in names}}


def _lane() -> Subject:
    return Subject(SubjectKind.LANE, LANE)
