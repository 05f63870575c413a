"""The rule says of every pod what the table says; a real API server is asked the same elsewhere."""

from __future__ import annotations

import json

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from tests.webhooks.reviews import changed_by, pools_from, posted, warnings_of
from tests.webhooks.table import POOLS, TABLE, Case
from webhooks.admission import LARGEST
from webhooks.desk import Desk
from webhooks.metrics import AdmissionMetrics
from webhooks.pools import AdmissionPools

NO_POOLS = AdmissionPools()
every_case = pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)


def desk_with(pools: AdmissionPools | None, *, own_namespace: str = "growth-system") -> Desk:
    return Desk(
        lambda: pools,
        own_namespace=own_namespace,
        metrics=AdmissionMetrics(CollectorRegistry()),
    )


@every_case
def test_a_pod_becomes_what_the_table_says(case: Case) -> None:
    answer = desk_with(pools_from(POOLS[case.pools])).answer(posted(case.before))

    assert changed_by(answer, case.before) == case.after
    assert warnings_of(answer) == case.warnings


@every_case
def test_a_pod_that_was_changed_once_is_not_changed_again(case: Case) -> None:
    answer = desk_with(pools_from(POOLS[case.pools])).answer(posted(case.after))

    assert changed_by(answer, case.after) == case.after


def test_the_table_is_large_and_has_one_row_a_name() -> None:
    assert len({case.name for case in TABLE}) == len(TABLE) >= 40


@pytest.mark.parametrize("namespace", ["kube-system", "our-own"])
def test_pods_of_the_cluster_and_of_growth_itself_are_left_alone(namespace: str) -> None:
    desk = desk_with(pools_from(POOLS["prefer"]), own_namespace="our-own")

    answer = desk.answer(posted(TABLE[0].before, namespace=namespace))

    assert changed_by(answer, TABLE[0].before) == TABLE[0].before


@pytest.mark.parametrize(
    "request_of_another_kind",
    [
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
        {"operation": "CONNECT"},
        {"subResource": "status"},
        {"subResource": "binding"},
    ],
    ids=lambda each: " ".join(map(str, each.values())),
)
def test_only_the_creation_of_a_pod_changes_it(request_of_another_kind: dict[str, object]) -> None:
    pod = TABLE[0].before
    answer = desk_with(pools_from(POOLS["require"])).answer(posted(pod, **request_of_another_kind))

    assert "patch" not in json.loads(answer)["response"]
    assert warnings_of(answer) == ()


POD = next(case for case in TABLE if case.pools == "require").before
LEAVING = "2026-01-01T00:00:00Z"


def leaving(name: str, *, pools: str = "require") -> AdmissionPools:
    """The pools of the table, one of which is being deleted."""
    return pools_from(
        {**pool, "metadata": {**pool["metadata"], "deletionTimestamp": LEAVING}}
        if pool["metadata"]["name"] == name
        else pool
        for pool in POOLS[pools]
    )


def test_a_default_pool_that_is_being_deleted_binds_no_new_pod_to_itself() -> None:
    answer = desk_with(leaving("default")).answer(posted(POD))

    assert changed_by(answer, POD) == POD


def test_a_pool_that_is_being_deleted_still_serves_who_names_it() -> None:
    pod = {**POD, "spec": {**POD["spec"], "nodeSelector": {"growth.dev/pool": "gpu"}}}

    answer = desk_with(leaving("gpu")).answer(posted(pod))

    assert len(changed_by(answer, pod)["spec"]["tolerations"]) == 2


@pytest.mark.parametrize("selector", [{}, {"growth.dev/pool": "default"}])
def test_a_pool_that_cannot_be_read_is_warned_about_and_not_called_missing(
    selector: dict[str, str],
) -> None:
    pod = {**POD, "spec": {**POD["spec"], "nodeSelector": selector}}
    pools = msgspec.structs.replace(NO_POOLS, unreadable=frozenset({"default"}))

    answer = desk_with(pools).answer(posted(pod))

    assert changed_by(answer, pod) == pod
    [warning] = warnings_of(answer)
    assert "kubectl describe nodepool default" in warning
    assert len(warning) <= 256


@pytest.mark.parametrize(("more", "changed"), [(0, True), (1, False)])
def test_a_pod_with_conditions_beyond_measure_is_left_alone(more: int, *, changed: bool) -> None:
    own = [{"key": f"own-{number}", "operator": "Exists"} for number in range(LARGEST + more)]
    pod = {**POD, "spec": {**POD["spec"], "tolerations": own}}

    answer = desk_with(pools_from(POOLS["require"])).answer(posted(pod))

    assert (changed_by(answer, pod) != pod) is changed
    assert bool(warnings_of(answer)) is not changed


def test_a_warning_stays_within_what_the_api_server_shows() -> None:
    name, [pool] = "x" * 500, POOLS["untainted"]
    many = [{**pool, "metadata": {"name": f"a-pool-with-a-long-name-{n}"}} for n in range(40)]
    pod = {**POD, "spec": {**POD["spec"], "nodeSelector": {"growth.dev/pool": name}}}

    [warning] = warnings_of(desk_with(pools_from(many)).answer(posted(pod)))

    assert len(warning) <= 256
    assert "a-pool-with-a-long-name-0, " in warning
    assert warning.endswith(" more")


def test_many_missing_pools_are_summed_up() -> None:
    condition = {"key": "growth.dev/pool", "operator": "In", "values": [f"p{n}" for n in range(90)]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [condition]}]}
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    pod = {**POD, "spec": {**POD["spec"], "affinity": required}}

    warnings = warnings_of(desk_with(NO_POOLS).answer(posted(pod)))

    assert warnings[-1] == "growth: 85 more NodePools of the pod don't exist"
    assert len(warnings) == 6


def test_a_pod_at_which_growth_fails_comes_in_and_is_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setattr("webhooks.desk.decide", fail)
    with capture_logs() as logs:
        answer = desk_with(NO_POOLS).answer(posted(POD))

    assert changed_by(answer, POD) == POD
    assert "LookupError" in warnings_of(answer)[0]
    assert [(each["event"], each["pod"]) for each in logs] == [
        ("could not process a pod", "shop/web")
    ]
