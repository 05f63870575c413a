"""Demand becomes NodeRequests.

In each pass: what was promised is looked after, a plan that has come back is applied, and when a
wave of demand is complete (and no other question is open) the solver is asked. No demand is bought
for twice, whether its request is on its way to the API server, in the cache, at the provider or a
node that has just begun to serve; and no limit is exceeded.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

from reconciler.buying.market import market
from reconciler.core.actions import (
    CreateNodeRequest,
    Sequence,
    Solve,
    Subject,
    SubjectKind,
    machine,
)
from reconciler.core.decision import NEVER, Decision
from reconciler.facts.marks import is_tainted
from reconciler.facts.requested import HOUR, Bought, all_requests, bought_lately
from reconciler.planning.applying import Applied, apply_plan
from reconciler.planning.binding import binding_limits
from reconciler.planning.capacity import ground
from reconciler.planning.commit import widened
from reconciler.planning.demand import (
    announced,
    pools_by_pod,
    to_be_planned,
    unjudged,
    wanting,
    without_place,
)
from reconciler.planning.ledger import AskedProblem
from reconciler.planning.nominations import next_nomination_end
from reconciler.planning.probing import next_trial
from reconciler.planning.problem import question
from reconciler.planning.remembering import promises_looked_after
from reconciler.planning.seats import kept_seats
from reconciler.planning.telling import try_events
from reconciler.planning.tries import PAUSE, LeftOutCause, PodTries, after_left_out, after_overtaken
from reconciler.solver import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from growth.scheduling.pod import Pod
    from reconciler.buying.market import Market
    from reconciler.buying.refusals import Probe
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.planning.tries import Try

LANE = "demand"


def decide(world: World, now: Instant) -> Decision[PlanningLedger]:
    """The requests that a finished plan comes to, and the next question for the solver."""
    return _Pass(world, now).decision()


class _Pass:
    """One pass: what is known, and what it comes to step by step."""

    def __init__(self, world: World, now: Instant) -> None:
        self.before = world.ledger.planning
        self.now = now
        self.demand = wanting(world)
        self.ledger = promises_looked_after(world, now, self.demand)
        self.world = world.remembering(replace(world.ledger, planning=self.ledger))
        self.sequences: list[Sequence] = []
        self.wakes: list[float] = []

    def decision(self) -> Decision[PlanningLedger]:
        """All of it, in its order."""
        before = self.ledger.tries
        self._apply()
        self._create()
        self._ask()
        self._tell(before)
        self._let_marks_off()
        self._see_limits()
        self.wakes += (
            self.world.demand.next_end,
            next_nomination_end(self.ledger.nominated, self.world),
            self._next_try(),
            self._next_hour(),
            self.ledger.refusals.next_probe(self.now),
        )
        return Decision(
            section=self.ledger, sequences=tuple(self.sequences), wake_at=min(self.wakes)
        )

    def _remember(self, ledger: PlanningLedger) -> None:
        self.ledger = ledger
        self.world = self.world.remembering(replace(self.world.ledger, planning=self.ledger))

    def _apply(self) -> None:
        """Turn the plan into requests, if it is the one that was asked for."""
        asked, solved = self.ledger.asked, self.world.plans.get(LANE)
        if asked is None or solved is None or solved.number != asked.number:
            return
        if not isinstance(solved.plan, Plan):
            raise TypeError(f"lane {LANE} answered another question: {solved.plan}")
        chance = Random(self.world.seed)  # noqa: S311 - names have to be unlike, not secret
        waiting = without_place(self.demand, self.ledger.nominated)
        result = apply_plan(
            solved.plan,
            asked.question,
            self.world,
            waiting=waiting,
            market=market(self.world, self.now),
            new_id=lambda: UUID(int=chance.getrandbits(128), version=4),
            now=self.now,
        )
        if asked.probe is not None and not result.requests:
            known = self.ledger.refusals.probed_in_vain(asked.probe, self.now)
            self._remember(replace(self.ledger, refusals=known))
        self._remember(
            replace(
                self.ledger,
                asked=None,
                unconfirmed={**self.ledger.unconfirmed, **result.requests},
                nominated=self.ledger.nominated.with_places(result.places),
                tries=self._tries_after(result, is_probe=asked.probe is not None),
                bought={**self.ledger.bought, **dict(_bought(result, self.now))},
            )
        )

    def _let_marks_off(self) -> None:
        """Removal, which comes before planning, takes them off in the next pass."""
        before = self.before.nominated.places
        new = (place for uid, place in self.ledger.nominated.places.items() if uid not in before)
        if any(self._is_tainted(place.machine) for place in new):
            self.wakes.append(self.now.monotonic)

    def _see_limits(self) -> None:
        """Remember which limits bind; pools tell of a change in the next pass, due at once."""
        if self.ledger.tries is self.before.tries:
            return
        found = binding_limits(self.ledger.tries, self.demand, self.world.pools)
        if found != self.before.binding:
            self._remember(replace(self.ledger, binding=found))
            self.wakes.append(self.now.monotonic)

    def _is_tainted(self, machine: str) -> bool:
        node = self.world.cluster.nodes.get(machine)
        return node is not None and is_tainted(node)

    def _tries_after(self, result: Applied, *, is_probe: bool) -> Mapping[str, Try]:
        left = {
            uid: each
            for uid, each in self.ledger.tries.items()
            if is_probe or uid not in result.places
        }
        if is_probe:
            return left
        now = self.now.monotonic
        left |= {uid: after_overtaken(left.get(uid), now) for uid in result.overtaken}
        return left | {
            uid: after_left_out(
                left.get(uid),
                now,
                reason,
                cause=LeftOutCause.LIMITED if uid in result.limited else LeftOutCause.NO_PLACE,
                limit=result.limited.get(uid),
            )
            for uid, reason in result.left_out.items()
        }

    def _create(self) -> None:
        for name, request in self.ledger.unconfirmed.items():
            if self.world.is_free(machine(name)):
                self.sequences.append(_creation(request))

    def _ask(self) -> None:
        """Ask the solver, when a wave of demand is complete, or a minimum or a probe is due."""
        waiting = without_place(self.demand, self.ledger.nominated)
        pods = to_be_planned(waiting, self.ledger.tries, self.now.monotonic)
        window = widened(self.ledger.window, pods, self.now.monotonic)
        self._remember(replace(self.ledger, window=window))
        if self.ledger.asked is not None or not self.world.is_free(_lane()):
            return
        if window is not None:
            missing = unjudged(pods, self.world, self.now)
            closes = window.closes_at(missing, asked_at=self.ledger.asked_at)
            if closes > self.now.monotonic:
                self.wakes.append(closes)
            else:
                self._put(pods, market(self.world, self.now))
        elif not self._probe(waiting):
            self._prewarm()

    def _put(self, pods: Mapping[str, Pod], sold: Market, *, probe: Probe | None = None) -> None:
        pools, missing = pools_by_pod(pods, self.world)
        self._remember(replace(self.ledger, window=None))
        self._leave_out(missing, LeftOutCause.POOL_NOT_FOUND)
        if not sold.items:
            nothing = "its pools have nothing that could be bought now"
            self._leave_out(dict.fromkeys(pools, nothing), LeftOutCause.NO_PLACE)
            return
        if not pools and not sold.minima():
            return
        nominated = self.ledger.nominated
        coming = announced(self.world, nominated, self.now)
        requests = all_requests(self.world)
        seats = kept_seats(coming, self.world, requests, nominated, self.now)
        more = seats.rest if pools and probe is None else ()
        here = ground(self.world, requests, nominated, self.ledger.shelf.items, held=seats.held)
        asked = question(
            (pods[uid] for uid in pools),
            here,
            sold,
            pools_of=pools,
            nominated=nominated,
            announced=more,
        )
        number = self.ledger.number + 1
        self._remember(
            replace(
                self.ledger,
                number=number,
                asked=AskedProblem(number=number, question=asked, probe=probe),
                asked_at=self.now.monotonic,
            )
        )
        solve = Solve(lane=LANE, number=number, problem=asked.problem)
        count = sum(each.number for each in more)
        why = f"plan {len(pools)} pods" + (f", {count} more to come" if count else "")
        self.sequences.append(Sequence(subject=_lane(), steps=(solve,), why=why))

    def _leave_out(self, reasons: Mapping[str, str], cause: LeftOutCause) -> None:
        now, tries = self.now.monotonic, self.ledger.tries
        more = {
            uid: after_left_out(tries.get(uid), now, reason, cause=cause)
            for uid, reason in reasons.items()
        }
        self._remember(replace(self.ledger, tries={**tries, **more}))

    def _probe(self, waiting: Mapping[str, Pod]) -> bool:
        """Buy one machine of an offer that may be back, for a pod that waits for nothing else."""
        trial = next_trial(waiting, self.world, self.now)
        if trial is not None:
            self._put({trial.pod.metadata.uid: trial.pod}, trial.sold, probe=trial.probe)
        return trial is not None

    def _tell(self, before: Mapping[str, Try]) -> None:
        if self.ledger.tries is before:
            return
        self.sequences += (
            sequence
            for sequence in try_events(before, self.ledger, self.demand, now=self.now.monotonic)
            if self.world.is_free(sequence.subject)
        )
        said = {uid: each.reason for uid, each in self.ledger.tries.items() if each.count}
        self._remember(replace(self.ledger, told={**self.ledger.told, **said}))

    def _prewarm(self) -> None:
        """Ask for what pools keep without load; not again and again where it can't be had."""
        entries = (entry for pool in self.world.pools.values() for entry in pool.spec.server_types)
        if not any(entry.min for entry in entries):
            return
        last = self.ledger.prewarmed_at
        due = self.now.monotonic if last is None else last + PAUSE
        sold = market(self.world, self.now)
        if not sold.minima():
            return
        if due > self.now.monotonic:
            self.wakes.append(due)
            return
        self._remember(replace(self.ledger, prewarmed_at=self.now.monotonic))
        self._put({}, sold)

    def _next_hour(self) -> float:
        """When the brake on machines an hour lets go of one, if a pod may wait for that."""
        if not self.ledger.tries:
            return NEVER
        bought = bought_lately(self.world, self.now).values()
        return min((each.at + HOUR for each in bought), default=NEVER)

    def _next_try(self) -> float:
        """When the next pod that waits takes part in a plan again."""
        now = self.now.monotonic
        waiting = (
            each.next_at
            for each in self.ledger.tries.values()
            if each.standing(now) is PodTries.WAITING
        )
        return min(waiting, default=NEVER)


def _bought(result: Applied, now: Instant) -> Iterator[tuple[str, Bought]]:
    for name, request in result.requests.items():
        yield name, Bought(pool=request.spec.pool, at=now.monotonic)


def _creation(request: NodeRequest) -> Sequence:
    pods = ", ".join(f"{pod.namespace}/{pod.name}" for pod in request.spec.pods) or _told(request)
    return Sequence(
        subject=machine(request.name),
        steps=(CreateNodeRequest(request=request),),
        why=f"{request.spec.target_offering} for {pods}",
    )


def _told(request: NodeRequest) -> str:
    """For whom it is that isn't there yet."""
    coming = (f"{each.pods} of {each.namespace}/{each.name}" for each in request.spec.workloads)
    return ", ".join(coming) or "nobody yet"


def _lane() -> Subject:
    return Subject(SubjectKind.LANE, LANE)
