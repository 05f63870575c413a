"""What a Node says in growth's words changes no ranking by the extender but its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from extender.steering import Steering
from growth.api import wellknown
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import Key
from tests.reconciler.build import at, request
from tests.scheduling import build
from tests.trust.build import with_words

if TYPE_CHECKING:
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.node import Node

WORDS = sorted(
    value
    for value in vars(wellknown).values()
    if isinstance(value, str) and value.startswith(wellknown.RESERVED_PREFIX)
)
LIES = st.dictionaries(st.sampled_from(WORDS), st.sampled_from(["default-1", "true", "growth"]))
TAINTS = st.lists(st.sampled_from(WORDS), unique=True)
POD = build.pod("web-0")
OTHER = build.pod("other-0")
"""Nothing was planned for it."""
BOUGHT = request("default-1", pods=(POD,), status={"phase": "Ready"})
HONEST = (build.node("default-1"), build.node("default-2"))
HOSTS = ("default-1", "default-2", "foreign")


def added(found: Node | NodeRequest) -> Change[Any]:
    return Change(ChangeKind.ADDED, Key("", found.metadata.name), None, found)


def steering(*nodes: Node) -> Steering:
    steers = Steering(now=lambda: at(0))
    steers.follow_requests([added(BOUGHT)])
    steers.follow_nodes([added(each) for each in nodes])
    return steers


@build.patient
@given(labels=LIES, annotations=LIES, taints=TAINTS)
def test_a_node_that_lies_changes_no_rank_but_its_own_and_no_wait(
    labels: dict[str, str], annotations: dict[str, str], taints: list[str]
) -> None:
    plain = build.node("foreign")
    marks = [{"key": key, "effect": "NoSchedule"} for key in taints]
    liar = with_words(build.node("foreign", taints=marks), labels=labels, annotations=annotations)
    before = steering(*HONEST, plain)
    after = steering(*HONEST, liar)
    for pod in (POD, OTHER):
        was, now = before.scores(pod.metadata, HOSTS), after.scores(pod.metadata, HOSTS)
        assert {name: now[name] for name in HOSTS[:2]} == {name: was[name] for name in HOSTS[:2]}
        assert now["foreign"] <= was["foreign"]
    assert not after.opening.is_under_way(HOSTS, 0.0)
