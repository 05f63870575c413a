from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.requests import requests_when_bound, requests_when_pending
from tests.scheduling.build import Json, container, patient, pod, sidecar

GIB = 1 << 30


def status(name: str, *, given: Json, allocated: Json | None = None) -> Json:
    promised = given if allocated is None else allocated
    return {"name": name, "resources": {"requests": given}, "allocatedResources": promised}


def cpu_of(**spec: Any) -> int:
    return pod(**spec).requests["cpu"]


@pytest.mark.parametrize(
    ("spec", "cpu"),
    [
        pytest.param(
            {"containers": [container("a", requests={"cpu": "1"}), container("b")]},
            1000,
            id="a container that asks for nothing adds nothing",
        ),
        pytest.param(
            {"containers": [container(str(each), requests={"cpu": "300m"}) for each in range(3)]},
            900,
            id="containers run together",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1"})],
                "initContainers": [
                    container("first", requests={"cpu": "3"}),
                    container("second", requests={"cpu": "2"}),
                ],
            },
            3000,
            id="init containers run one by one, before the others",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1"})],
                "initContainers": [
                    sidecar("proxy", requests={"cpu": "2"}),
                    container("first", requests={"cpu": "3"}),
                ],
            },
            5000,
            id="an init container runs beside the sidecars that started before it",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "1"})],
                "initContainers": [
                    container("first", requests={"cpu": "2"}),
                    sidecar("proxy", requests={"cpu": "2"}),
                ],
            },
            3000,
            id="and not beside those that start later",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "4"})],
                "resources": {"requests": {"cpu": "1"}},
            },
            1000,
            id="a pod's own total replaces the sum",
        ),
        pytest.param(
            {"containers": [container(requests={"cpu": "1"})], "overhead": {"cpu": "250m"}},
            1250,
            id="overhead is added",
        ),
        pytest.param(
            {
                "containers": [container(requests={"cpu": "4"})],
                "resources": {"requests": {"cpu": "1"}},
                "overhead": {"cpu": "250m"},
            },
            1250,
            id="overhead is added to a pod's own total too",
        ),
        pytest.param(
            {"containers": [container(requests={"cpu": "0.0001"})]}, 1, id="cpu is rounded up"
        ),
    ],
)
def test_cpu_of_a_pending_pod(spec: Json, cpu: int) -> None:
    assert cpu_of(**spec) == cpu


def test_parts_of_a_byte_are_added_up_before_they_are_rounded() -> None:
    tenth = {"memory": "0.1Gi"}  # 107374182.4 bytes
    wanted = pod(
        containers=[container("a", requests=tenth), container("b", requests=tenth)],
        overhead={"memory": "0.1Gi", "cpu": "0.0001"},
    ).requests
    assert (wanted["memory"], wanted["cpu"]) == (322122548, 1)


def test_each_resource_has_its_own_widest_moment() -> None:
    wanted = pod(
        containers=[container(requests={"cpu": "2", "memory": "1Gi"})],
        initContainers=[container("first", requests={"cpu": "1", "memory": "4Gi"})],
    ).requests
    assert (wanted["cpu"], wanted["memory"]) == (2000, 4 * GIB)


def test_a_pods_own_total_speaks_only_of_what_it_may_name() -> None:
    wanted = pod(
        containers=[container(requests={"memory": "2Gi", "ephemeral-storage": "2Gi"})],
        resources={
            "requests": {"memory": "1Gi", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"}
        },
    ).requests
    assert wanted["memory"] == GIB
    assert wanted["ephemeral-storage"] == 2 * GIB
    assert wanted["hugepages-2Mi"] == 4 << 20


def test_a_pod_takes_one_place_for_a_pod_and_its_devices() -> None:
    wanted = pod(requests={"example.com/gpu": "2"}).requests
    assert wanted.amounts == {"example.com/gpu": 2, "pods": 1}


def running(status: Json, **spec: Any) -> int:
    return pod(on="one", status=status, **spec).requests["cpu"]


ASKS_FOR_ONE: Json = {"containers": [container(requests={"cpu": "1"})]}
REFUSED = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


@pytest.mark.parametrize(
    ("given_now", "promised", "conditions", "cpu"),
    [
        pytest.param("1", "1", [], 1000, id="all agree"),
        pytest.param("2", "2", [], 2000, id="shrinking, not yet done"),
        pytest.param("500m", "500m", [], 1000, id="growing, not yet done"),
        pytest.param("500m", "3", [], 3000, id="promised more than given"),
        pytest.param("500m", "500m", DEFERRED, 1000, id="growing later: keep room"),
        pytest.param("500m", "500m", REFUSED, 500, id="growing refused by the node"),
    ],
)
def test_cpu_of_a_bound_pod_that_is_being_resized(
    given_now: str, promised: str, conditions: list[Json], cpu: int
) -> None:
    is_given = status("main", given={"cpu": given_now}, allocated={"cpu": promised})
    now = {"containerStatuses": [is_given], "conditions": conditions}
    assert running(now, **ASKS_FOR_ONE) == cpu


def test_a_status_without_resources_leaves_the_spec_in_force() -> None:
    only_promised = {"name": "main", "allocatedResources": {"cpu": "9"}}
    assert running({"containerStatuses": [only_promised]}, **ASKS_FOR_ONE) == 1000


def test_each_container_counts_by_what_is_known_of_it() -> None:
    spec = {"containers": [container("a", requests={"cpu": "1"}), container("b")]}
    now = {"containerStatuses": [{"name": "a"}, status("b", given={"cpu": "2"})]}
    assert running(now, **spec) == 3000


def test_sidecars_can_be_resized_and_finished_init_containers_cannot() -> None:
    spec = {
        "containers": [container()],
        "initContainers": [
            sidecar("proxy", requests={"cpu": "1"}),
            container("first", requests={"cpu": "1"}),
        ],
    }
    now = {
        "initContainerStatuses": [
            status("proxy", given={"cpu": "2"}),
            status("first", given={"cpu": "7"}),
        ]
    }
    assert running(now, **spec) == 3000


@pytest.mark.parametrize(
    ("conditions", "cpu"), [([], 4000), (REFUSED, 3000)], ids=["resizing", "refused"]
)
def test_a_pods_own_total_can_be_resized_too(conditions: list[Json], cpu: int) -> None:
    now = {
        "resources": {"requests": {"cpu": "2"}},
        "allocatedResources": {"cpu": "3"},
        "conditions": conditions,
    }
    spec = {"containers": [container()], "resources": {"requests": {"cpu": "4"}}}
    assert running(now, **spec) == cpu


def test_a_pending_pod_is_judged_by_its_spec_whatever_its_status_says() -> None:
    now = {"containerStatuses": [status("main", given={"cpu": "9"})]}
    assert pod(status=now, **ASKS_FOR_ONE).requests["cpu"] == 1000


def test_a_quantity_that_is_none_names_the_resource() -> None:
    with pytest.raises(ValueError, match="memory: not a quantity: 'lots'"):
        _ = pod(requests={"memory": "lots"}).requests


amounts = st.integers(0, 5000)
kinds = st.sampled_from(["container", "sidecar", "init"])


@patient
@given(st.lists(st.tuples(kinds, amounts), max_size=8))
def test_a_pod_takes_the_most_that_runs_at_any_moment(parts: list[tuple[str, int]]) -> None:
    """The definition, played through: start each init container in turn, then everything else."""
    main = [amount for kind, amount in parts if kind == "container"]
    starting = [(kind, amount) for kind, amount in parts if kind != "container"]
    moments, sidecars = [0], 0
    for kind, amount in starting:
        moments.append(sidecars + amount)
        sidecars += amount if kind == "sidecar" else 0
    moments.append(sidecars + sum(main))

    made = pod(
        containers=[
            container(f"c{index}", requests={"cpu": f"{amount}m"})
            for index, amount in enumerate(main)
        ],
        initContainers=[
            (sidecar if kind == "sidecar" else container)(
                f"i{index}", requests={"cpu": f"{amount}m"}
            )
            for index, (kind, amount) in enumerate(starting)
        ],
    )
    assert made.requests["cpu"] == max(moments)


@patient
@given(amounts, amounts, amounts)
def test_a_bound_pod_never_counts_for_less_than_it_asks_for(
    wanted: int, given_now: int, promised: int
) -> None:
    is_given = status("main", given={"cpu": f"{given_now}m"}, allocated={"cpu": f"{promised}m"})
    made = pod(requests={"cpu": f"{wanted}m"}, status={"containerStatuses": [is_given]})
    at_least = requests_when_pending(made.spec)["cpu"]
    assert requests_when_bound(made.spec, made.status)["cpu"] == max(at_least, given_now, promised)
