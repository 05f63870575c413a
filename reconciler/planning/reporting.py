"""Events for pods that a plan has no place for.

A pod gets one event with the reason, another when the reason changes, and a last one when it goes
into back-off. An event is never repeated for the same reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.kube.events.event import Severity
from reconciler.core.actions import Sequence, pod_subject
from reconciler.core.decision import Decision
from reconciler.facts.events import EventAction, event_about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.scheduling.pod import Pod
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.planning.tries import Try

BACK_OFF = "BackOff"


def report_tries(
    before: Mapping[str, Try],
    ledger: PlanningLedger,
    pods: Mapping[str, Pod],
    world: World,
) -> Decision[PlanningLedger]:
    """The events for what has changed in the tries since `before`, and the reasons reported."""
    if ledger.tries is before:
        return Decision(section=ledger)
    events = dict(_events(before, ledger, pods))
    # A pod that another sequence works on can't get its event now. It isn't marked as told, so the
    # next change of the tries reports it.
    later = {uid for uid, each in events.items() if not world.is_free(each.subject)}
    said = {
        uid: each.reason for uid, each in ledger.tries.items() if each.count and uid not in later
    }
    return Decision(
        section=replace(ledger, told={**ledger.told, **said}),
        sequences=tuple(each for uid, each in events.items() if uid not in later),
    )


def _events(
    before: Mapping[str, Try], ledger: PlanningLedger, pods: Mapping[str, Pod]
) -> Iterator[tuple[str, Sequence]]:
    """The events by the UID of their pod."""
    for uid, one in ledger.tries.items():
        pod, earlier = pods.get(uid), before.get(uid)
        if pod is None or not one.count:
            continue
        news = _news(earlier, one, is_known=ledger.told.get(uid) == one.reason)
        steps = tuple(
            event_about(
                pod,
                action=EventAction.PLANNING,
                reason=reason,
                note=note,
                severity=Severity.WARNING,
            )
            for reason, note in news
        )
        if steps:
            yield uid, Sequence(subject=pod_subject(pod), steps=steps, why=one.reason)


def _news(earlier: Try | None, one: Try, *, is_known: bool) -> Iterator[tuple[str, str]]:
    if not is_known:
        yield one.cause.value, one.reason
    if one.rests and (earlier is None or not earlier.rests):
        text = f"{one.count} plans in a row found no place for this pod; it is planned again when "
        yield BACK_OFF, f"{text}something that it waits for changes: {one.reason}"
