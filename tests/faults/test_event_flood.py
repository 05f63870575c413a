"""Row 21 of the fault catalogue: a thousand pods that nothing can serve, for a day.

Planning's own rule decides over virtual time, and what it has to say goes through what writes
events. People are told of each pod, and the API server hardly notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from typing_extensions import override

from growth.kube.events.aggregation import Aggregation, Create, Extend
from growth.kube.events.budget import EventLimits
from reconciler.core.actions import EmitEvent
from tests.events.stories import wall
from tests.planning.driver import Planner
from tests.reconciler.build import node_class, pool, waiting

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.kube.events.aggregation import Dropped, Write
    from growth.kube.events.event import Event
    from reconciler.core.actions import Action

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
PODS: Final = 1000
DISTURBED_AT: Final = (DAY / 2,)
"""When somebody changes the pool, and all of them are planned anew."""


class Telling(Planner):
    """Planning, with the moment of each event."""

    def __init__(self, *objects: object) -> None:
        super().__init__(*objects)
        self.said: list[tuple[float, Event]] = []

    @override
    def _carry_out(self, step: Action) -> None:
        if isinstance(step, EmitEvent):
            self.said.append((self.now, step.event))
        super()._carry_out(step)


def a_day() -> list[tuple[float, Event]]:
    """What planning says of pods that are larger than every machine."""
    huge = [waiting(f"huge-{n}", requests={"cpu": str(100 + n % 20)}) for n in range(PODS)]
    planner = Telling(pool(), node_class(), *huge)
    for number, at in enumerate(DISTURBED_AT, start=1):
        planner.until(at)
        planner.put(changed(number))
    planner.until(DAY)
    return planner.said


def changed(number: int) -> NodePool:
    """The pool, after so many changes."""
    made = pool(weight=number)
    versions = {"generation": number, "resource_version": str(number)}
    return made.model_copy(update={"metadata": made.metadata.model_copy(update=versions)})


def written(said: list[tuple[float, Event]]) -> list[tuple[float, Create | Extend]]:
    """What of it reaches the API server, looked after once a second while anything waits."""
    seen, done = Aggregation(EventLimits(), now=0.0), list[tuple[float, Create | Extend]]()
    left = sorted(said, key=lambda each: each[0])[::-1]
    now = 0.0
    while left or len(seen):
        now = min(left[-1][0] if left else DAY * 2, max(seen.wake_at, now + 1.0))
        answers: list[Write | Dropped | None] = [*seen.due(now)]
        while left and left[-1][0] <= now:
            answers.append(seen.observe(left.pop()[1], now=now, wall=wall(now)))
        done += [(now, each) for each in answers if isinstance(each, Create | Extend)]
    return done


def test_row_21_a_thousand_pods_without_a_place_are_told_once_and_never_flood() -> None:
    said = a_day()
    writes = written(said)

    # The reason, and that it rests; once more that it rests, for each time it was planned anew.
    assert 2 * PODS < len(said) <= PODS * (2 + len(DISTURBED_AT))
    # In half an hour, which is how long news stay news, the budget of one reason tells nearly all.
    assert len({each.event.regarding.name for _, each in writes}) > 0.9 * PODS
    minutes = [int(now // 60) for now, _ in writes]
    # A bucket that was full when the minute began gives as much again while it fills.
    assert max(minutes.count(minute) for minute in set(minutes)) <= 2 * EventLimits().per_minute
    # And nothing more is written until something changes, however often it is tried again.
    assert {now // HOUR for now, _ in writes} == {at // HOUR for at in (0.0, *DISTURBED_AT)}
