"""The life of a removal, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.removal_reason import RemovalReason
from growth.kube.events.event import Severity
from reconciler import removal as removing
from reconciler.brakes.pauses import Pause, PauseCause
from reconciler.brakes.trust import Trust
from reconciler.core.actions import DeleteMachine, EmitEvent, PatchStatus, SetFinalizers, SetNode
from reconciler.ledger import Ledger
from reconciler.providers.port import DeleteOutcome, Occupied, Sight
from tests.reconciler.build import RELEASED, at, pool
from tests.removal.build import (
    CLOUD,
    NAME,
    SCALE_DOWN,
    attempted,
    deleted,
    kinds,
    machine,
    node,
    occupied,
    removal,
    steps,
    world,
)
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.core.world import World

CANCELLING = [
    each for each in RemovalReason if not each.meaning.drains and each is not RemovalReason.ORPHAN
]
DONE = ["Delete NodeRemovalRequest"]


def on(name: str) -> Any:
    return build.pod("web-0", on=name)


def patch_of(given: World, seconds: float = 100.0) -> Any:
    (patch,) = (step for step in steps(given, seconds) if isinstance(step, PatchStatus))
    assert patch.version.resource_version == "5"
    return patch.status


def braked(**changes: Any) -> Ledger:
    brakes = replace(RELEASED, clouds={CLOUD: Trust(judged=90.0)}, **changes)
    return Ledger(brakes=brakes)


# Asking


def test_a_pending_removal_asks_for_the_very_machine_that_is_listed() -> None:
    (step,) = steps(world(removal(), shown=(machine(),)))
    assert isinstance(step, DeleteMachine)
    assert (step.node_class, step.machine) == (CLOUD, machine())


@pytest.mark.parametrize(
    "listed",
    [machine(machine_id="kwok://another"), machine(request_uid="uid-of-another")],
    ids=["another id", "another request"],
)
def test_another_machine_under_its_name_is_never_deleted(listed: Any) -> None:
    given = world(removal(), shown=(listed,), before=(machine(),))
    assert "DeleteMachine" not in kinds(given)


BRAKES = {
    "a cache is in doubt": {"ledger": braked(may_remove=False)},
    "the listing is not believed": {"ledger": Ledger(brakes=RELEASED)},
    "a person has paused the pool": {
        "ledger": braked(pauses={"default": Pause(cause=PauseCause.POOL, message="")})
    },
    "nothing was listed": {"clouds": {CLOUD: Sight()}},
}


@pytest.mark.parametrize("brake", BRAKES.values(), ids=BRAKES.keys())
def test_nothing_is_deleted_while(brake: dict[str, Any]) -> None:
    for status in ({}, attempted(seconds=10)):
        assert kinds(world(removal(status=status), shown=(machine(),), **brake)) == []


def test_a_machine_is_asked_for_once_while_the_provider_has_not_answered() -> None:
    given = world(removal(), shown=(machine(),))
    busy = removing.decide(given, at(100)).sequences[0].subject
    assert kinds(msgspec.structs.replace(given, busy=frozenset({busy}))) == []


# Answers


@pytest.mark.parametrize("outcome", [DeleteOutcome.ACCEPTED, DeleteOutcome.GONE])
def test_what_the_provider_accepts_is_deprovisioning(outcome: DeleteOutcome) -> None:
    given = world(removal(), shown=(machine(),), deletions=deleted(outcome))
    status = patch_of(given)
    assert (status["phase"], status["removalAttempt"]) == ("Deprovisioning", 1)
    assert status["removeAttemptedAt"] == "2026-01-01T00:01:40Z"
    assert status["events"][-1]["name"] == "Deletion requested"
    (condition,) = (each for each in status["conditions"] if each["type"] == "Reconciling")
    assert condition["reason"] == "Deprovisioning"


def test_what_the_provider_refuses_stays_and_is_counted_with_the_reason() -> None:
    given = world(removal(), shown=(machine(),), deletions=deleted(DeleteOutcome.FAILED))
    status = patch_of(given)
    assert (status["phase"], status["removalAttempt"]) == ("Pending", 1)
    last = status["events"][-1]
    assert (last["name"], last["reason"]) == ("Deletion failed", "no answer")
    (said,) = (step.event for step in steps(given) if isinstance(step, EmitEvent))
    assert (said.reason, said.severity) == ("DeletionFailed", Severity.WARNING)


def test_a_provider_that_asks_to_wait_is_given_its_time_and_no_try_is_counted() -> None:
    given = world(
        removal(),
        shown=(machine(),),
        deletions=deleted(DeleteOutcome.FAILED, seconds=30, after=80),
    )
    assert kinds(given, 109) == []
    assert removing.decide(given, at(109)).wake_at == pytest.approx(110)
    assert kinds(given, 110) == ["DeleteMachine"]


@pytest.mark.parametrize("reason", CANCELLING)
@pytest.mark.parametrize("look", ["the cache", "the last look at the API server"])
def test_a_pod_that_arrives_before_the_removal_keeps_its_node(
    reason: RemovalReason, look: str
) -> None:
    given = world(removal(reason=reason), node(taints=[SCALE_DOWN]), shown=(machine(),))
    if look == "the cache":
        pod = on(NAME)
        given = world(removal(reason=reason), node(taints=[SCALE_DOWN]), pod, shown=(machine(),))
    else:
        found = occupied(Occupied(pods=("default/web-0",)))
        given = msgspec.structs.replace(given, deletions=found)
    unmark, _ = steps(given)
    assert isinstance(unmark, SetNode)
    assert unmark.taints == ()
    assert unmark.unschedulable is None, "a cordon isn't ours to take off"
    assert kinds(given)[1:] == DONE


def test_an_accepted_delete_is_told_even_if_a_pod_has_come_since() -> None:
    given = world(removal(), node(), on(NAME), shown=(machine(),), deletions=deleted())
    assert patch_of(given)["phase"] == "Deprovisioning"


# Trying again


@pytest.mark.parametrize(("seconds", "asked"), [(109, False), (110, False), (110.1, True)])
def test_what_is_still_there_is_asked_for_again_after_retry_after(
    seconds: float,
    asked: bool,  # noqa: FBT001 - a column of the table
) -> None:
    given = world(removal(status=attempted()), shown=(machine(),))
    decided = removing.decide(given, at(seconds))
    assert bool(decided.sequences) is asked
    if not asked:
        assert 110 < decided.wake_at < 110.1


def test_each_attempt_counts() -> None:
    given = world(removal(status=attempted(3)), shown=(machine(),), deletions=deleted())
    assert patch_of(given)["removalAttempt"] == 4


def test_a_clock_that_was_set_back_lengthens_no_wait() -> None:
    given = world(removal(status=attempted(seconds=5000)), shown=(machine(),))
    assert kinds(given, 100) == ["DeleteMachine"]


# Of three that are allowed the fourth exceeds the count; at three it is only met.
@pytest.mark.parametrize(("times", "asked"), [(2, True), (3, True), (4, False)])
def test_beyond_its_attempts_a_removal_has_failed(
    times: int,
    asked: bool,  # noqa: FBT001 - a column of the table
) -> None:
    given = world(
        removal(status=attempted(times)),
        node(taints=[SCALE_DOWN]),
        pool(scaleDown={"attempts": 3}),
        shown=(machine(),),
    )
    if asked:
        assert kinds(given, 200) == ["DeleteMachine"]
        return
    assert patch_of(given, 200)["phase"] == "RemovalFailed"
    told = [step.event for step in steps(given, 200) if isinstance(step, EmitEvent)]
    assert [each.regarding.kind for each in told] == ["NodeRemovalRequest", "Node"]
    assert all("delete this NodeRemovalRequest" in each.note for each in told)
    assert kinds(given, 200) == ["PatchStatus NodeRemovalRequest"], "the taint stays"


def test_a_removal_that_failed_is_let_go_and_never_tried_again() -> None:
    status = {"phase": "RemovalFailed", "removalAttempt": 5}
    (step,) = steps(world(removal(status=status), shown=(machine(),)))
    assert isinstance(step, SetFinalizers)
    assert step.finalizers == ()
    assert kinds(world(removal(status=status, held=False), shown=(machine(),)), 9999) == []


def test_a_pod_that_came_before_the_next_attempt_ends_the_removal() -> None:
    given = world(removal(status=attempted()), node(), on(NAME), shown=(machine(),))
    assert kinds(given, 200) == DONE


# The end


GONE = {
    "a listing younger than the delete": ((), (machine(),), 90.0),
    "two listings, however old": ((), (), 70.0),
}


@pytest.mark.parametrize(("shown", "before", "listed_at"), GONE.values(), ids=GONE.keys())
def test_gone_is_what_is_not_shown_by(shown: Any, before: Any, listed_at: float) -> None:
    given = world(
        removal(status=attempted()), node(), shown=shown, before=before, listed_at=listed_at
    )
    assert kinds(given) == ["Delete nodes", *DONE]


def test_one_listing_older_than_the_delete_proves_nothing() -> None:
    given = world(removal(status=attempted()), before=(machine(),), listed_at=70)
    assert kinds(given) == []


def test_a_removal_that_was_deleted_is_let_go_when_its_machine_is_gone() -> None:
    given = world(removal(status=attempted(), deleting=True), before=(machine(),))
    assert kinds(given) == ["SetFinalizers NodeRemovalRequest"]
    assert kinds(world(removal(status=attempted(), deleting=True, held=False))) == []


def test_pods_on_the_node_of_a_machine_that_is_gone_end_the_removal_and_keep_the_node() -> None:
    given = world(removal(status=attempted()), node(taints=[SCALE_DOWN]), on(NAME))
    assert kinds(given) == ["SetNode", *DONE]


def test_what_was_never_asked_for_and_reports_still_is_not_gone() -> None:
    """A token of another project lists nothing, and calls it complete."""
    assert kinds(world(removal(), node())) == []
    assert kinds(world(removal(), node(ready=False))) == ["Delete nodes", *DONE]


def test_deleting_a_pending_removal_cancels_it() -> None:
    given = world(removal(deleting=True), node(taints=[SCALE_DOWN]), shown=(machine(),))
    assert kinds(given) == ["SetNode", "SetFinalizers NodeRemovalRequest"]


def test_deleting_a_removal_whose_delete_was_asked_changes_nothing() -> None:
    given = world(removal(status=attempted(), deleting=True), shown=(machine(),))
    assert kinds(given, 100) == []
    assert kinds(given, 111) == ["DeleteMachine"]


def test_a_removal_whose_pool_is_gone_is_carried_on() -> None:
    lost = removal(status=attempted(), deleting=True, pool="other")
    assert kinds(world(lost, shown=(machine(),)), 111) == ["DeleteMachine"]
    assert kinds(world(lost)) == ["SetFinalizers NodeRemovalRequest"]
