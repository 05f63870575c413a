"""What people are told of pods that plans leave out, and that none of it is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reconciler.core.actions import EmitEvent, pod_subject
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.reporting import report_tries
from reconciler.planning.tries import Try
from tests.reconciler.build import at, waiting, world

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod
    from reconciler.core.decision import Decision

Told: TypeAlias = "Decision[PlanningLedger]"
NOW = at(100)
REASON = "nothing holds it"


def told(*pods: Pod, busy: tuple[Pod, ...] = (), before: Told | None = None) -> Told:
    """What is said of pods that were just left out."""
    tries = {pod.metadata.uid: Try(count=1, counted_at=100.0, reason=REASON) for pod in pods}
    known = {} if before is None else before.section.told
    seen = world(*pods, busy=frozenset(pod_subject(pod) for pod in busy))
    ledger = PlanningLedger(tries=tries, told=known)
    return report_tries({}, ledger, {pod.metadata.uid: pod for pod in pods}, seen)


def regarding(found: Told) -> list[str]:
    steps = [step for each in found.sequences for step in each.steps]
    events = [step.event.regarding for step in steps if isinstance(step, EmitEvent)]
    return sorted(f"{each.namespace}/{each.name}" for each in events)


def test_pods_of_one_name_in_two_namespaces_are_told_apart() -> None:
    pods = [
        waiting("web-0", metadata={"namespace": namespace, "uid": f"uid-{namespace}"})
        for namespace in ("shop", "stage")
    ]
    found = told(*pods)
    assert regarding(found) == ["shop/web-0", "stage/web-0"]
    assert len({each.subject for each in found.sequences}) == 2
    assert regarding(told(*pods, busy=(pods[0],))) == ["stage/web-0"]


def test_what_could_not_be_said_while_a_pod_was_busy_is_said_later() -> None:
    pod, other = waiting("web-0"), waiting("web-1")
    first = told(pod, other, busy=(pod,))
    second = told(pod, other, before=first)
    third = told(pod, other, before=second)
    assert [regarding(each) for each in (first, second, third)] == [
        ["shop/web-1"],
        ["shop/web-0"],
        [],
    ]
