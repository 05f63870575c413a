"""Reports: read leaf by leaf, refused in time, and judged in a fixed order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.core.provider import NodeCounts
from fleet.core.report import AgentCondition
from fleet.core.states import REPORTING, ClusterState
from fleet.nodes.steps import NodeStep, StepDirection
from fleet.reports.access import AGENT_ROLE, AgentClaims, refusal_of
from fleet.reports.body import LEAVES, report_in
from fleet.reports.judging import NoStep, ReportVerdict, judged_report
from fleet.reports.readiness import agent_is_ready
from fleet.reports.refusal import ReportRefused
from tests.fleet.bodies import a_body, without
from tests.fleet.building import a_report, amounts, scaled

SETTLED = NodeCounts(desired=6, existing=6)
SHORT = a_report(remaining=amounts(0))
NOT_READY = (AgentCondition(type="Ready", status="False"),)


def refused(body: Any) -> str:
    with pytest.raises(ReportRefused) as caught:
        report_in(json.dumps(body).encode())
    return caught.value.field


@pytest.mark.parametrize("leaf", LEAVES)
def test_a_leaf_that_is_missing_is_named(leaf: str) -> None:
    assert refused(without(a_body(), leaf)) == leaf


def test_of_many_missing_leaves_the_first_one_is_named() -> None:
    for position, leaf in enumerate(LEAVES):
        body = a_body()
        for missing in LEAVES[position:]:
            without(body, missing)
        assert refused(body) == leaf
    assert refused({}) == LEAVES[0]


@pytest.mark.parametrize("value", [True, 1.0, 1e400, "3", -1, 2**63, [], {}])
def test_a_count_is_a_whole_number_that_is_not_negative(value: Any) -> None:
    body = a_body()
    body["nodeInfo"]["floor"] = value
    assert refused(body) == "nodeInfo.floor"


def test_zero_is_a_value_and_more_than_all_may_be_in_use() -> None:
    body = a_body()
    body["remaining"]["connections"] = -7
    assert report_in(json.dumps(body).encode()).remaining == amounts(-7, 0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"null",
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
        json.dumps(a_body(conditions=7)).encode(),
        json.dumps(a_body(conditions=["Ready"])).encode(),
        json.dumps(a_body(conditions=[{"type": "Ready", "status": True}])).encode(),
        json.dumps(a_body(conditions=[{}] * 65)).encode(),
    ],
    ids=range(11),
)
def test_what_is_no_report_is_refused(body: bytes) -> None:
    with pytest.raises(ReportRefused):
        report_in(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from([*LEAVES, "conditions", "nodeInfo", "resizeInfo.delta"]), JSON)
def test_whatever_a_leaf_is_a_body_is_read_or_refused(path: str, value: Any) -> None:
    body = without(a_body(), path)
    *folders, name = path.split(".")
    inner = body
    for folder in folders:
        inner = inner[folder]
    inner[name] = value
    try:
        report_in(json.dumps(body).encode())
    except ReportRefused as refusal:
        assert refusal.field in {*LEAVES, "conditions"}  # noqa: PT017


@pytest.mark.parametrize("status", ["1", "t", "T", "true", "True", "TRUE"])
def test_a_condition_is_true_as_go_reads_it(status: str) -> None:
    assert agent_is_ready([AgentCondition(type="Ready", status=status)])
    with pytest.raises(ReportRefused):
        agent_is_ready([AgentCondition(type="Ready", status=f"{status}!")])


def test_the_first_condition_counts_and_none_is_not_ready() -> None:
    both = (AgentCondition(type="Ready", status="1"), *NOT_READY)
    assert agent_is_ready(both)
    assert not agent_is_ready([AgentCondition(type="Other", status="True")])


def judged(
    report: Any = SHORT, *, state: str = "ready", counts: NodeCounts = SETTLED, **known: Any
) -> ReportVerdict:
    return judged_report(report, state=ClusterState(state), cluster=scaled(**known), counts=counts)


def test_a_report_sets_the_state_and_takes_one_step() -> None:
    step = NodeStep(StepDirection.UP, 9)
    assert judged() == ReportVerdict(ClusterState.SCALING_UP, step)
    assert judged(a_report(remaining=amounts(9999)), state="full") == ReportVerdict(
        ClusterState.READY, NodeStep(StepDirection.DOWN, 3)
    )


@pytest.mark.parametrize(
    ("verdict", "state", "reason"),
    [
        (judged(counts=NodeCounts(desired=9, existing=6)), "compute_node_scaling_up", "SCALING"),
        (judged(counts=NodeCounts(desired=9, existing=9)), "compute_node_scaling_up", "STALE"),
        (judged(counts=NodeCounts(desired=3, existing=3)), "compute_node_scaling_up", "STALE"),
        (
            judged(counts=NodeCounts(desired=6, existing=None)),
            "compute_node_scaling_up",
            "NODES_UNKNOWN",
        ),
        (judged(scales=False, state="full"), "ready", "NOT_AUTOMATIC"),
        (judged(a_report(), state="full"), "ready", "NOT_NEEDED"),
        (
            judged(a_report(remaining=amounts(0), ceiling=8), multi_az=False),
            "compute_node_scaling_up",
            "STUCK",
        ),
        (
            judged(a_report(conditions=NOT_READY)),
            "waiting_for_kas_fleetshard_operator",
            "AGENT_NOT_READY",
        ),
    ],
)
def test_the_state_is_judged_also_where_no_step_may_be_taken(
    verdict: ReportVerdict, state: str, reason: str
) -> None:
    assert verdict == ReportVerdict(ClusterState(state), NoStep[reason])


@pytest.mark.parametrize("state", sorted(set(ClusterState) - REPORTING))
def test_a_report_changes_nothing_in_a_state_that_it_does_not_count_in(state: str) -> None:
    strange = a_report(conditions=(AgentCondition(type="Ready", status="perhaps"),))
    expected = ReportVerdict(ClusterState(state), NoStep.IGNORED)
    assert judged(strange, state=state) == expected


OWN = AgentClaims(issuer="us", roles=frozenset({AGENT_ROLE}), cluster="a")


@pytest.mark.parametrize(
    ("claims", "is_known", "status"),
    [
        (None, True, 401),
        (None, False, 401),
        (OWN, True, None),
        (OWN, False, 400),
        (AgentClaims(issuer="others", roles=OWN.roles, cluster="a"), True, 404),
        (AgentClaims(issuer=None, roles=OWN.roles, cluster="a"), True, 404),
        (AgentClaims(issuer="us", roles=frozenset({"reader"}), cluster="a"), True, 404),
        (AgentClaims(issuer="us", roles=OWN.roles, cluster="b"), True, 404),
        (AgentClaims(issuer="us", roles=OWN.roles, cluster=None), False, 404),
    ],
)
def test_an_agent_reports_for_its_own_cluster_only(
    claims: AgentClaims | None, is_known: object, status: int | None
) -> None:
    assert refusal_of(claims, cluster="a", issuers={"us"}, is_known=bool(is_known)) == status
