"""A request that nobody has bought for yet: the provider is asked, and its answer decides."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from growth.api.noderequest import UnmetScope
from growth.kube.cache.health import CacheHealth
from reconciler.providers.port import (
    Accepted,
    Checked,
    Failed,
    FailureClass,
    Order,
    Throttled,
    Unmet,
)
from reconciler.provisioning.pending import pause_after_failures
from tests.provisioning.build import CLOUD, NAME, Life, machine, made_at, settled
from tests.reconciler.build import START, node_class, pool
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.providers.port import CreateAnswer

ACCEPTED = Accepted(machine_id="kwok://default-1")
SOLD_OUT = Unmet(reason="sold out", scope=UnmetScope.OFFER)
TROUBLE = Failed(failure=FailureClass.TRANSIENT, reason="gateway")
WRONG = Failed(failure=FailureClass.TEMPLATE, reason="the image is for another architecture")
NO_ACCESS = Failed(failure=FailureClass.FATAL, reason="the token is read-only")


def always(answer: CreateAnswer, life: Life) -> Life:
    life.answer = lambda _: answer
    return life


def test_the_provider_is_asked_under_the_requests_own_name() -> None:
    life = Life(made_at(99), settled(labels={"team": "a"}))
    life.soon()
    (order,) = life.orders
    assert (order.name, order.request_uid) == (NAME, "uid-default-1")
    assert order.labels["growth.dev/pool"] == "default"
    assert order.labels["growth.dev/node-request"] == NAME
    assert order.labels["team"] == "a"
    assert order.taints[0].text == "growth.dev/unregistered:NoSchedule"
    assert order.annotations["growth.dev/price"] == "1"
    assert order.intended_at is not None
    assert (order.intended_at - START).total_seconds() == 99


def test_it_is_asked_once_while_it_has_not_answered() -> None:
    life = Life(made_at(99), settled())
    life.until(130)
    assert len(life.orders) == 1


def test_an_accepted_request_is_provisioning_with_the_machines_id() -> None:
    life = always(ACCEPTED, Life(made_at(99), settled()))
    life.machines[NAME] = machine()
    life.soon()
    status = life.get("NodeRequest").status
    assert (life.phase, status.node_id) == ("Provisioning", "kwok://default-1")
    assert [event.name for event in status.events] == ["nodeRequested"]
    assert {each.type: each.status for each in status.conditions}["Reconciling"] == "True"


def test_a_machine_is_recorded_before_its_request_says_that_it_comes() -> None:
    life = always(ACCEPTED, Life(made_at(99), settled()))
    life.soon()
    recorded = life.writes.index("CreateNodeRecord")
    assert life.writes[recorded + 1] == "PatchStatus"
    assert life.phase == "Provisioning"
    spec = life.get("NodeRecord").spec
    assert (spec.pool, spec.node_id, spec.request_uid) == (
        "default",
        "kwok://default-1",
        "uid-default-1",
    )
    assert (str(spec.server_type), spec.location, str(spec.price)) == ("small", "here", "1")


def test_a_request_that_the_provider_cannot_meet_says_why_and_what_happens_now() -> None:
    life = always(SOLD_OUT, Life(made_at(99), settled()))
    life.soon()
    (event,) = life.get("NodeRequest").status.events
    assert (life.phase, event.name, event.reason) == ("Unmet", "nodeRequestFailed", "sold out")
    (said,) = [note for kind, reason, note in life.events if reason == "Unmet"]
    assert "small in here" in said


def test_a_throttled_request_waits_as_long_as_the_provider_asks() -> None:
    life = Life(made_at(99), settled())
    life.step()
    life.answered(Throttled(seconds=30))
    life.until(129.9)
    assert len(life.orders) == 1
    life.until(130.2)
    assert len(life.orders) == 2


def test_passing_trouble_is_asked_again_later_and_later() -> None:
    life = always(TROUBLE, Life(made_at(99), settled()))
    moments: list[float] = []

    def answer(_: Order) -> CreateAnswer:
        moments.append(life.now)
        return TROUBLE

    life.answer = answer
    life.until(200)
    gaps = [b - a for a, b in itertools.pairwise(moments)]
    assert gaps == pytest.approx([2, 4, 8, 16, 32], abs=0.05)
    assert [reason for _, reason, _ in life.events].count("ProviderTrouble") == 1


@pytest.mark.parametrize(("failures", "seconds"), [(1, 2), (2, 4), (5, 32), (6, 60), (10**9, 60)])
def test_the_pause_grows_to_a_minute(failures: int, seconds: float) -> None:
    assert pause_after_failures(failures, first=2.0) == seconds


def test_an_offer_that_is_not_sold_any_more_ends_its_request() -> None:
    life = Life(made_at(99), settled())
    life.put(node_class(types=node_class().spec.model_dump(by_alias=True)["types"][1:]))
    life.until(110)
    assert (life.phase, life.orders) == ("", [])
    assert [reason for _, reason, _ in life.events] == ["NotSold"]


def test_while_the_catalogue_is_not_known_a_request_waits() -> None:
    life = Life(made_at(99), settled())
    life.extra = {"offerings": {}}
    life.until(110)
    assert (life.phase, life.orders) == ("Pending", [])


@pytest.mark.parametrize(
    ("answer", "reason"), [(WRONG, "TemplateRefused"), (NO_ACCESS, "AccessRefused")]
)
def test_what_asking_again_does_not_mend_blocks_the_pool_and_ends_its_requests(
    answer: Failed, reason: str
) -> None:
    life = always(answer, Life(made_at(98), made_at(99, "default-2"), settled()))
    life.until(110)
    assert life.get("NodeRequest") is None
    assert life.get("NodeRequest", "default-2") is None
    blocked = life.get("NodePool", "default").status.blocked
    assert (blocked.reason, blocked.message) == (reason, answer.reason)
    told = {each.type: each for each in life.get("NodePool", "default").status.conditions}
    assert (told["NodeClassReady"].status, told["Stalled"].status) == ("False", "True")
    assert [why for _, why, _ in life.events] == ["Blocked"]


def changed(found: object, generation: int) -> object:
    metadata = found.metadata.model_copy(update={"generation": generation})  # type: ignore[attr-defined]
    return found.model_copy(update={"metadata": metadata})  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "name"), [("NodePool", "default"), ("KwokNodeClass", "default")])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_blocked_pool_is_free_when_it_or_its_class_changes(
    kind: str, name: str, *, restarts: bool
) -> None:
    life = always(WRONG, Life(made_at(99), settled()))
    life.until(110)
    assert life.get("NodePool", "default").status.blocked is not None
    if restarts:
        life.restart()
    life.put(changed(life.get(kind, name), 7))
    life.soon()
    assert life.get("NodePool", "default").status.blocked is None


CLASS_WRONG = Checked(at=90.0, failure=FailureClass.TEMPLATE, problems=("no such image",))
LOCKED_OUT = Checked(at=90.0, failure=FailureClass.FATAL, problems=("the token is gone",))


@pytest.mark.parametrize(
    ("checked", "reason"), [(CLASS_WRONG, "ClassRefused"), (LOCKED_OUT, "AccessRefused")]
)
def test_a_pool_is_blocked_while_the_look_at_its_class_finds_it_wrong(
    checked: Checked, reason: str
) -> None:
    life = Life(settled())
    life.extra = {"checks": {CLOUD: checked}}
    life.soon()
    blocked = life.get("NodePool", "default").status.blocked
    assert (blocked.reason, blocked.message) == (reason, checked.problems[0])
    life.extra = {}
    life.until(110)
    assert life.get("NodePool", "default").status.blocked is not None, "nobody has looked since"
    life.extra = {"checks": {CLOUD: Checked(at=109.0)}}
    life.soon()
    assert life.get("NodePool", "default").status.blocked is None


def test_a_pool_without_access_is_tried_again_after_a_while() -> None:
    life = always(NO_ACCESS, Life(made_at(99), settled()))
    life.until(390)
    assert life.get("NodePool", "default").status.blocked is not None
    life.until(402)
    assert life.get("NodePool", "default").status.blocked is None


def test_the_answer_to_a_request_that_is_going_blocks_its_pool_no_longer() -> None:
    life = always(NO_ACCESS, Life(made_at(99), settled()))
    life.believes = False
    life.until(402)
    assert life.phase == "Pending", "nobody can say that there is no machine of it"
    assert life.get("NodePool", "default").status.blocked is None


def test_an_answer_about_an_earlier_class_blocks_nothing() -> None:
    life = Life(made_at(99), settled())
    life.step()
    life.put(changed(life.get("KwokNodeClass", "default"), 7))
    life.answered(WRONG)
    life.until(103)
    assert life.get("NodePool", "default").status.blocked is None
    assert len(life.orders) == 2


@pytest.mark.parametrize("is_named", [False, True])
def test_a_pool_without_a_node_class_says_so(*, is_named: bool) -> None:
    reference = {"nodeClassRef": {"kind": "KwokNodeClass", "name": "mine"}} if is_named else {}
    life = Life(settled(**reference))
    life.drop("KwokNodeClass", "default")
    life.soon()
    blocked = life.get("NodePool", "default").status.blocked
    assert blocked.reason == "NodeClassMissing"
    life.put(node_class("mine" if is_named else "default"))
    life.soon()
    assert life.get("NodePool", "default").status.blocked is None


def test_a_late_request_for_pods_that_have_one_is_cancelled() -> None:
    """A deposed leader's write may arrive after the next leader has bought."""
    pods = (build.pod("web-0"), build.pod("web-1"))
    first, late = made_at(90, pods=pods), made_at(95, "default-2", pods=pods[:1])
    life = always(TROUBLE, Life(*pods, first, late, settled()))
    life.until(110)
    assert (life.phase, life.get("NodeRequest", "default-2")) == ("Pending", None)


def test_a_request_that_serves_one_pod_more_is_no_duplicate() -> None:
    pods = (build.pod("web-0"), build.pod("web-1"))
    first, second = made_at(90, pods=pods[:1]), made_at(95, "default-2", pods=pods)
    life = always(TROUBLE, Life(*pods, first, second, settled()))
    life.until(110)
    assert life.get("NodeRequest", "default-2") is not None


def test_what_nobody_waits_for_any_more_is_not_bought() -> None:
    """Its pods are bound or gone: the first leader's write may come after they were served."""
    bound = build.pod("web-0", on="elsewhere")
    life = Life(bound, made_at(99, pods=(bound, build.pod("web-1"))), settled())
    life.until(110)
    assert (life.get("NodeRequest", "default-1"), life.orders) == (None, [])


def test_no_pool_no_request() -> None:
    life = Life(made_at(99))
    life.soon()
    assert (life.phase, life.orders) == ("", [])


def test_a_request_of_an_earlier_pool_of_the_same_name_goes() -> None:
    made = made_at(99)
    owner = {"kind": "NodePool", "name": "default", "uid": "another", "apiVersion": "v1"}
    document = made.document()
    document["metadata"]["ownerReferences"] = [owner]
    life = Life(type(made).model_validate(document), settled())
    life.soon()
    assert (life.phase, life.orders) == ("", [])


def test_a_pool_that_cannot_be_read_is_no_reason_to_delete_its_requests() -> None:
    life = Life(made_at(99))
    life.extra = {"sources": {"NodePool": CacheHealth(is_complete=True, unreadable=1)}}
    life.until(110)
    assert life.phase == "Pending"


def test_a_pool_is_held_before_anything_else_is_written_on_it() -> None:
    life = Life(pool())
    life.soon()
    assert life.get("NodePool", "default").metadata.finalizers == ("growth.dev/provider-cleanup",)
    assert life.writes[0] == "SetFinalizers"
