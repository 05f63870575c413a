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

from random import Random
from typing import TYPE_CHECKING, assert_never
from uuid import UUID

import msgspec

from growth.api.disruption import DisruptionReason
from reconciler.actions import Sequence, Solve, Subject, SubjectKind, machine
from reconciler.decision import NEVER, Decision
from reconciler.planning.applying import applied
from reconciler.planning.demand import to_be_planned, wanting, without_place
from reconciler.planning.fleet import HOUR
from reconciler.planning.ledger import Bought
from reconciler.planning.nominations import COMING, serves
from reconciler.removal.sights import clouds
from reconciler.replacement import asking, going_on, writing
from reconciler.replacement.allowance import next_change
from reconciler.replacement.candidates import (
    Candidate,
    Look,
    candidates,
    ceilings,
    disrupted,
    eligible,
    in_turn,
    is_in_use,
    movable,
    price_of,
)
from reconciler.replacement.drift import drifted
from reconciler.replacement.health import sick
from reconciler.replacement.ledger import Confirmation, Proof, Search
from reconciler.replacement.stillness import stillness
from reconciler.replacement.swaps import Stage, requests_of, swaps
from reconciler.replacement.worth import disturbance, is_worth_it
from reconciler.replaces import written
from reconciler.solver import Plan, Renewed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.actions import EmitEvent, Solved
    from reconciler.planning.applying import Applied
    from reconciler.replacement.ledger import ReplacementLedger
    from reconciler.replacement.swaps import Swap
    from reconciler.solver import Problem, Renewal
    from reconciler.world import World

LANE = "replacement"
REPAIR = DisruptionReason.UNHEALTHY
"""The end of a sick node may take as long as it likes, and holds up nobody."""


def decide(world: World, now: Instant) -> Decision:
    """The next step of every swap, and the next question."""
    return _Pass(world, now).decision()


class _Pass:
    """One pass: what is known, and what it comes to step by step."""

    def __init__(self, world: World, now: Instant) -> None:
        self.now = now
        self.world = world
        self.ledger = _looked_after(world, now)
        self.sequences: list[Sequence] = []
        self.wakes: list[float] = []
        self._see()

    def decision(self) -> Decision:
        """All of it, in its order."""
        self._read()
        self._create()
        self.sequences += going_on.left_behind(self.ledger, self.world)
        self._ask()
        self.wakes.append(going_on.next_end(self.ledger, self.now))
        return Decision(
            section=self.ledger,
            sequences=tuple(self.sequences),
            wake_at=min(self.wakes, default=NEVER),
        )

    def _see(self) -> None:
        """What swaps there are, and which nodes they are about."""
        self._remember(given_up=self.ledger.given_up)
        known = swaps(self.world)
        self.ledger = going_on.followed(self.ledger, known, self.world, self.now)
        self._remember(given_up=self.ledger.given_up)
        self.swaps = tuple(each for each in known if each.text not in self.ledger.given_up)
        old = {name for swap in self.swaps for name in swap.nodes}
        new = {name for swap in self.swaps for name in swap.machines}
        self.old = frozenset(old | self.ledger.going.keys())
        self.look = Look(
            world=self.world,
            now=self.now,
            clouds=clouds(self.world),
            taken=frozenset(self.old | new),
        )

    def _remember(self, **changed: object) -> None:
        self.ledger = msgspec.structs.replace(self.ledger, **changed)
        self.world = self.world.remembering("replacement", self.ledger)

    # What came back.

    def _read(self) -> None:
        asked, solved = self.ledger.asked, self.world.plans.get(LANE)
        if asked is None or not self.world.is_free(_lane()):
            return
        self._remember(asked=None)
        if solved is None or solved.number != asked.number:
            # It was stopped, since something else was more urgent.
            self._remember(seen=())
            return
        match asked:
            case Search():
                self._found(solved)
            case Proof():
                self._proven(asked, solved)
            case Confirmation():
                self._confirmed(asked, solved)
            case _:
                assert_never(asked)

    def _found(self, solved: Solved) -> None:
        """The search has an answer: what it found has to be proven."""
        answer = solved.plan
        if not isinstance(answer, Renewed) or not answer.goes or self._is_disturbed():
            return
        may_go = {each.name: each for each in self._candidates()}
        if not all(name in may_go for name in answer.goes):
            self._remember(seen=())
            return
        chosen = [may_go[name] for name in answer.goes]
        self._prove(
            {each.name: each.pods for each in chosen},
            reason=DisruptionReason.CONSOLIDATION,
            why="the same pods fit on less",
        )

    def _proven(self, asked: Proof, solved: Solved) -> None:
        """The plan for the pods of these nodes is there: it is written down if it is good."""
        if not isinstance(solved.plan, Plan) or self._is_disturbed() or self._has_changed(asked):
            self._remember(seen=())
            return
        chance = Random(self.world.seed)  # noqa: S311 - names have to be unlike, not secret
        pods = self._pods(asked.nodes)
        result = applied(
            solved.plan,
            asked.question,
            asking.without(self.world, frozenset(asked.nodes)),
            waiting={pod.metadata.uid: asking.unbound(pod) for pod in pods},
            market=asking.market(self.world),
            new_id=lambda: UUID(int=chance.getrandbits(128), version=4),
            now=self.now,
        )
        if not self._is_good(asked, result):
            self.ledger = going_on.resting(self.ledger, asked.nodes, self.now)
            self._remember(seen=())
            return
        self._swap(asked, result)

    def _is_good(self, asked: Proof, result: Applied) -> bool:
        if asked.reason is DisruptionReason.UNHEALTHY:
            # What runs on it is out of reach: to wait for a better plan helps nobody.
            return True
        left = {*result.left_out, *result.overtaken, *asked.question.waiting}
        if left or asked.question.left_out:
            return False
        if asked.reason is DisruptionReason.DRIFT:
            return True
        after = sum(int(each.spec.price * 1_000_000) for each in result.requests.values())
        world = self.world
        prices = {name: price_of(name, world) for name in asked.nodes}
        disturbed = sum(
            disturbance(prices[name], world.cluster.occupancy(name).keepers) for name in asked.nodes
        )
        return is_worth_it(before=sum(prices.values()), after=after, disturbed=disturbed)

    def _swap(self, asked: Proof, result: Applied) -> None:
        """Write down what is bought; where nothing is, the old ones go at once."""
        said = writing.told(
            asked.nodes,
            result.requests.values(),
            self.world,
            reason=asked.reason,
            why=asked.why,
        )
        if not result.requests:
            self._open(asked.nodes, asked.reason, said=said)
            return
        text = written(asked.nodes, of=len(result.requests), reason=asked.reason)
        requests = writing.replacing(result.requests.values(), text)
        bought = {
            name: Bought(pool=each.spec.pool, at=self.now.monotonic)
            for name, each in requests.items()
        }
        self._remember(
            unconfirmed={**self.ledger.unconfirmed, **requests},
            bought={**self.ledger.bought, **bought},
            given_up=self.ledger.given_up - {text},
        )
        self.sequences += (
            Sequence(subject=machine(name), steps=(event,), why="others take its place")
            for name, event in said.items()
        )

    def _confirmed(self, asked: Confirmation, solved: Solved) -> None:
        swap = next((each for each in self.swaps if each.text == asked.swap), None)
        if swap is None or not isinstance(solved.plan, Plan):
            return
        if solved.plan.unplaced and swap.reason is not DisruptionReason.UNHEALTHY:
            self.ledger = going_on.given_up(self.ledger, swap.text, swap.old(self.world), self.now)
            self._remember()
            self.swaps = tuple(each for each in self.swaps if each is not swap)
        elif swap.stage(self.world) is Stage.READY:
            self._open(swap.old(self.world), swap.reason, said={})

    def _open(
        self, names: Iterable[str], reason: DisruptionReason, *, said: Mapping[str, EmitEvent]
    ) -> None:
        opened = list(
            writing.openings(sorted(names), self.world, self.look.clouds, reason=reason, said=said)
        )
        self.sequences += opened
        going = {sequence.subject.name: reason for sequence in opened}
        self._remember(going={**self.ledger.going, **going})

    def _create(self) -> None:
        for name, request in self.ledger.unconfirmed.items():
            if self.world.is_free(machine(name)):
                self.sequences.append(writing.creation(request))

    # What is asked next.

    def _ask(self) -> None:
        if self.ledger.asked is not None or not self.world.is_free(_lane()):
            return
        ready = next((s for s in self.swaps if s.stage(self.world) is Stage.READY), None)
        if ready is not None:
            if self._may_confirm():
                self._confirm(ready)
        elif not self._is_disturbed() and not self._repair() and not self._renew_drifted():
            self._search()

    def _is_disturbed(self) -> bool:
        """Whether demand has no place yet, or anything is on its way in or out."""
        world, planning = self.world, self.world.ledger.planning
        waiting = without_place(wanting(world), planning.nominated)
        return (
            planning.asked is not None
            or bool(to_be_planned(waiting, planning.tries, self.now.monotonic))
            or any(each.reason is not REPAIR for each in self.swaps)
            or any(reason is not REPAIR for reason in self.ledger.going.values())
            or any(each.status.phase in COMING for each in self._requests().values())
        )

    def _requests(self) -> Mapping[str, NodeRequest]:
        return {**self.world.ledger.planning.unconfirmed, **requests_of(self.world)}

    def _may_confirm(self) -> bool:
        """Not again at once, where the removals couldn't be opened."""
        last, rest = self.ledger.confirmed_at, self.world.timing.retry
        if last is None or last + rest <= self.now.monotonic:
            return True
        self.wakes.append(last + rest)
        return False

    def _confirm(self, swap: Swap) -> None:
        pods = self._pods(swap.old(self.world))
        question = asking.proof(
            pods, frozenset(swap.nodes), self.world, asking.nothing_sold(self.world)
        )
        number = self._solve(question.problem, why=f"may {len(swap.nodes)} nodes go now?")
        asked = Confirmation(number=number, swap=swap.text)
        self._remember(asked=asked, confirmed_at=self.now.monotonic)

    def _repair(self) -> bool:
        health, found, wake_at = sick(self.world, self.now, self.ledger.health)
        self._remember(health=health)
        self.wakes.append(wake_at)
        return self._one_of(found, DisruptionReason.UNHEALTHY)

    def _renew_drifted(self) -> bool:
        return self._one_of(drifted(self.world), DisruptionReason.DRIFT)

    def _one_of(self, found: Mapping[str, str], reason: DisruptionReason) -> bool:
        """Ask about the first of the nodes that have to go; False if none of them may now."""
        if not found:
            return False
        most = ceilings(self.look, reason, disrupted(self.look, self.old))
        for node in in_turn(found, most, self.look):
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
        question = asking.proof(pods, frozenset(nodes), self.world, asking.market(self.world))
        number = self._solve(question.problem, why=f"where would {len(pods)} pods go?")
        proof = Proof(
            number=number,
            nodes={name: _uids(each) for name, each in nodes.items()},
            reason=reason,
            why=why,
            question=question,
        )
        self._remember(asked=proof)

    def _search(self) -> None:
        """Ask which nodes could go, if anything has changed since that was asked last."""
        most = self._ceilings()
        nodes, wake_at = eligible(self.look, most)
        self.wakes += (wake_at, self.ledger.opens_at)
        seen = self._seen(nodes, most)
        is_known = seen == self.ledger.seen and self.now.monotonic < self.ledger.opens_at
        if not nodes or is_known or not self._is_time():
            return
        found, opens_at = candidates(nodes, self.look)
        self._remember(seen=seen, searched_at=self.now.monotonic, opens_at=opens_at)
        asked = asking.renewal(found, self.world, most=most)
        if asked is not None:
            number = self._solve(asked, why=f"could any of {len(asked.standing)} nodes go?")
            self._remember(asked=Search(number=number))

    def _seen(self, nodes: Iterable[Node], most: Mapping[str, int]) -> tuple[object, ...]:
        """All that the answer depends on, in a form that is compared quickly."""
        world, still = self.world, self.ledger.still
        planning = world.ledger.planning
        return (
            tuple(node.name for node in nodes),
            {
                name: each.pods
                for name, each in still.items()
                if serves(world.cluster.nodes[name], world)
            },
            {key: each.allowed for key, each in world.cluster.budgets.items()},
            dict(most),
            planning.refusals,
            asking.market(world).items,
        )

    def _is_time(self) -> bool:
        last, rest = self.ledger.searched_at, self.world.timing.between_searches
        if last is None or last + rest <= self.now.monotonic:
            return True
        self.wakes.append(last + rest)
        return False

    def _ceilings(self) -> Mapping[str, int]:
        gone = disrupted(self.look, self.old)
        self.wakes += (next_change(pool, self.now) for pool in self.world.pools.values())
        return ceilings(self.look, DisruptionReason.CONSOLIDATION, gone)

    def _candidates(self) -> tuple[Candidate, ...]:
        nodes, _ = eligible(self.look, self._ceilings())
        return candidates(nodes, self.look)[0]

    def _solve(self, problem: Problem | Renewal, *, why: str) -> int:
        number = self.ledger.number + 1
        self._remember(number=number)
        solve = Solve(lane=LANE, number=number, problem=problem)
        self.sequences.append(Sequence(subject=_lane(), steps=(solve,), why=why))
        return number

    def _has_changed(self, asked: Proof) -> bool:
        """Whether any of the nodes isn't what the question was about."""
        world = self.world
        return any(
            name not in world.cluster.nodes
            or name in world.removals
            or not world.is_free(machine(name))
            or _uids(world.cluster.occupancy(name).keepers) != pods
            for name, pods in asked.nodes.items()
        )

    def _pods(self, names: Iterable[str]) -> list[Pod]:
        return [pod for name in names for pod in self.world.cluster.occupancy(name).keepers]


def _looked_after(world: World, now: Instant) -> ReplacementLedger:
    """The memory brought up to this moment, before anything is decided."""
    before = world.ledger.replacement
    nodes = world.cluster.nodes
    return msgspec.structs.replace(
        before,
        still=stillness(before.still, world, now),
        unconfirmed={n: each for n, each in before.unconfirmed.items() if n not in world.requests},
        bought={n: each for n, each in before.bought.items() if each.at + HOUR > now.monotonic},
        resting={
            name: until
            for name, until in before.resting.items()
            if name in nodes and until > now.monotonic
        },
    )


def _uids(pods: Iterable[Pod]) -> frozenset[str]:
    return frozenset(pod.metadata.uid for pod in pods)


def _lane() -> Subject:
    return Subject(SubjectKind.LANE, LANE)
