"""Beside the other inhabitants of a cluster: controllers, other webhooks, many pools, big pods."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.wellknown import POOL_LABEL
from tests.cluster_wide import acting
from tests.live import wait_until
from tests.webhooks.admitting import BY_BOTH, BY_POLICY, BY_WEBHOOK, FREE, NODE_POOLS
from tests.webhooks.api import only_in
from tests.webhooks.strangers import PATIENT, changing, registered, stranger
from webhooks.admission import LARGEST
from webhooks.registration.policy import binding, policy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.webhooks.admitting import Admitting

pytestmark = pytest.mark.cluster

Document = dict[str, Any]
TEAM = {"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"}
DEDICATED = {"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}
every_way = pytest.mark.parametrize("way", [BY_WEBHOOK, BY_POLICY])
names = (f"pod-{number}" for number in itertools.count())


def a_pod(**spec: Any) -> Document:
    container = {"name": "main", "image": "none"}
    return {"metadata": {"name": next(names)}, "spec": {"containers": [container], **spec}}


def created(setting: Admitting, pod: Document, *, namespace: str) -> Document:
    spec: Document = setting.api.create_pod(pod, namespace=namespace, query="?dryRun=All").body[
        "spec"
    ]
    return spec


def preferred_pools(spec: Document) -> list[str]:
    affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    wishes = affinity.get("preferredDuringSchedulingIgnoredDuringExecution", [])
    return [
        value
        for wish in wishes
        for condition in wish["preference"]["matchExpressions"]
        if condition["key"] == POOL_LABEL
        for value in condition["values"]
    ]


TEMPLATE: Document = {
    "metadata": {"labels": {"app": "one"}},
    "spec": {"containers": [{"name": "main", "image": "none"}]},
}
SELECTOR = {"matchLabels": {"app": "one"}}
WORKLOADS: dict[str, tuple[str, Document]] = {
    "Deployment": ("apps/v1", {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}),
    "StatefulSet": (
        "apps/v1",
        {"replicas": 1, "serviceName": "one", "selector": SELECTOR, "template": TEMPLATE},
    ),
    "DaemonSet": (
        "apps/v1",
        {
            "selector": SELECTOR,
            "template": {
                **TEMPLATE,
                "spec": {**TEMPLATE["spec"], "tolerations": [{"operator": "Exists"}]},
            },
        },
    ),
    "Job": (
        "batch/v1",
        {"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}},
    ),
}


@every_way
def test_the_pods_of_controllers_get_their_pool_but_those_of_daemon_sets(
    way: str, admitting: Admitting
) -> None:
    admitting.pools("prefer")
    for kind, (version, spec) in WORKLOADS.items():
        group = f"/apis/{version}/namespaces/{way}/{kind.lower()}s"
        document = {"apiVersion": version, "kind": kind, "metadata": {"name": "one"}, "spec": spec}
        admitting.api.do("POST", group, document)

    def by_owner() -> dict[str, list[Document]]:
        pods = admitting.api.do("GET", f"/api/v1/namespaces/{way}/pods")["items"]
        owned = [(pod["metadata"]["ownerReferences"][0]["kind"], pod["spec"]) for pod in pods]
        return {kind: [spec for each, spec in owned if each == kind] for kind, _ in owned}

    count = {"ReplicaSet": 2, "StatefulSet": 1, "DaemonSet": 1, "Job": 1}
    wait_until(
        lambda: {kind: len(pods) for kind, pods in by_owner().items()} == count,
        "the pods of the controllers",
    )
    for kind, pods in by_owner().items():
        for spec in pods:
            is_ours = kind != "DaemonSet"
            assert (preferred_pools(spec) == ["default"]) is is_ours
            assert (TEAM in spec["tolerations"]) is is_ours
    for kind, (version, _) in WORKLOADS.items():
        place = f"/apis/{version}/namespaces/{way}/{kind.lower()}s/one"
        admitting.api.do("DELETE", f"{place}?propagationPolicy=Background")


@every_way
def test_a_dry_run_shows_the_same_and_stores_nothing(way: str, admitting: Admitting) -> None:
    admitting.pools("prefer")
    pod = a_pod()

    shown = created(admitting, pod, namespace=way)

    place = f"/api/v1/namespaces/{way}/pods/{pod['metadata']['name']}"
    assert admitting.api.ask("GET", place).status == 404
    stored = admitting.api.create_pod(pod, namespace=way).body["spec"]
    assert shown["affinity"] == stored["affinity"]
    assert shown["tolerations"] == stored["tolerations"]
    admitting.api.do("DELETE", f"{place}?gracePeriodSeconds=0")


@every_way
def test_a_pod_of_a_hundred_containers_keeps_all_of_them(way: str, admitting: Admitting) -> None:
    admitting.pools("require")
    variables = [{"name": f"KEY_{number}", "value": "x" * 200} for number in range(20)]
    containers = [
        {"name": f"c-{number}", "image": f"registry.example.org/{number}", "env": variables}
        for number in range(100)
    ]
    pod = a_pod(containers=containers, initContainers=[{"name": "init", "image": "none"}])

    spec = created(admitting, pod, namespace=way)

    assert spec["nodeSelector"] == {POOL_LABEL: "default"}
    assert TEAM in spec["tolerations"]
    same = ("name", "image", "env")
    assert [{key: each[key] for key in same} for each in spec["containers"]] == containers


def test_what_a_webhook_before_us_adds_is_seen(admitting: Admitting, tmp_path: Path) -> None:
    admitting.pools("prefer")

    def choose_the_database(pod: Document) -> list[Document]:
        if "nodeSelector" in pod["spec"]:
            return []
        return [{"op": "add", "path": "/spec/nodeSelector", "value": {POOL_LABEL: "db"}}]

    with (
        stranger(admitting, tmp_path, changing(choose_the_database)) as url,
        registered(admitting, "a-before", url, namespace=BY_WEBHOOK, within=PATIENT),
    ):
        spec = created(admitting, a_pod(), namespace=BY_WEBHOOK)

    assert DEDICATED in spec["tolerations"]
    assert "affinity" not in spec


def test_what_a_webhook_after_us_changes_is_answered_once_more(
    admitting: Admitting, tmp_path: Path
) -> None:
    admitting.pools("prefer")

    def choose_the_database_late(pod: Document) -> list[Document]:
        if "nodeSelector" in pod["spec"]:
            return []
        sidecar = {"name": "sidecar", "image": "none"}
        return [
            {"op": "add", "path": "/spec/nodeSelector", "value": {POOL_LABEL: "db"}},
            {"op": "add", "path": "/spec/containers/-", "value": sidecar},
        ]

    with (
        stranger(admitting, tmp_path, changing(choose_the_database_late)) as url,
        registered(admitting, "z-after", url, namespace=BY_BOTH, within=PATIENT),
    ):
        spec = created(admitting, a_pod(), namespace=BY_BOTH)

    assert [each["name"] for each in spec["containers"]] == ["main", "sidecar"]
    # The first time the pod named no pool; what it got then does no harm beside its pool.
    assert preferred_pools(spec) == ["default"]
    assert spec["tolerations"].count(TEAM) == 1
    assert spec["tolerations"].count(DEDICATED) == 1


def test_a_webhook_that_throws_our_tolerations_away_gets_them_back(
    admitting: Admitting, tmp_path: Path
) -> None:
    admitting.pools("prefer")
    own = [{"key": "own", "operator": "Exists"}]

    def only_my_own(pod: Document) -> list[Document]:
        if own[0] in pod["spec"]["tolerations"]:
            return []
        return [{"op": "replace", "path": "/spec/tolerations", "value": own}]

    with (
        stranger(admitting, tmp_path, changing(only_my_own)) as url,
        registered(admitting, "z-after", url, namespace=BY_WEBHOOK, within=PATIENT),
    ):
        spec = created(admitting, a_pod(), namespace=BY_WEBHOOK)

    assert [each for each in spec["tolerations"] if each in (own[0], TEAM)] == [own[0], TEAM]


def pools_of(count: int, *, taints: int) -> Iterable[Document]:
    for number in range(count):
        name = "default" if number == 0 else f"pool-{number}"
        listed = [
            {"key": f"example.org/{name}-{taint}", "value": "yes", "effect": "NoSchedule"}
            for taint in range(taints)
        ]
        spec = {"serverTypes": [{"name": "cx23", "max": 10}], "taints": listed}
        yield {
            "apiVersion": "growth.dev/v1alpha1",
            "kind": "NodePool",
            "metadata": {"name": name},
            "spec": spec,
        }


def naming(pools: list[str]) -> Document:
    return _requiring(POOL_LABEL, pools)


def in_zones(zones: list[str]) -> Document:
    return _requiring("topology.kubernetes.io/zone", zones)


def _requiring(key: str, values: list[str]) -> Document:
    condition = {"key": key, "operator": "In", "values": values}
    term = {"matchExpressions": [condition]}
    required = {"nodeSelectorTerms": [term]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def test_twenty_pools_with_all_the_taints_they_may_have_are_within_the_cost_of_cel(
    admitting: Admitting,
) -> None:
    pools = list(pools_of(20, taints=32))
    admitting.replace_pools(pools)
    everywhere = [pool["metadata"]["name"] for pool in pools]
    keys = {taint["key"] for pool in pools for taint in pool["spec"]["taints"]}
    own = [{"key": f"own-{number}", "operator": "Exists"} for number in range(50)]

    for way in (BY_WEBHOOK, BY_POLICY):
        unnamed = created(admitting, a_pod(), namespace=way)
        named = created(
            admitting, a_pod(affinity=naming(everywhere), tolerations=own), namespace=way
        )

        assert preferred_pools(unnamed) == ["default"]
        assert len([each for each in unnamed["tolerations"] if each["key"] in keys]) == 32
        assert {each["key"] for each in named["tolerations"]} >= keys
        assert named["tolerations"][: len(own)] == own


@every_way
def test_a_pod_with_conditions_beyond_measure_is_left_as_it_is(
    way: str, admitting: Admitting
) -> None:
    admitting.pools("require")
    own = [{"key": f"own-{number}", "operator": "Exists"} for number in range(LARGEST - 20)]
    zones = in_zones([f"zone-{number}" for number in range(20)])

    below = created(admitting, a_pod(tolerations=own), namespace=way)
    above = created(admitting, a_pod(tolerations=own, affinity=zones), namespace=way)

    assert below["nodeSelector"] == {POOL_LABEL: "default"}
    assert "nodeSelector" not in above
    assert TEAM not in above["tolerations"]


@every_way
def test_a_default_pool_that_is_being_deleted_draws_nobody(way: str, admitting: Admitting) -> None:
    admitting.pools("require")
    default = f"{NODE_POOLS}/default"
    admitting.api.do("PATCH", default, {"metadata": {"finalizers": ["example.org/wait"]}})
    admitting.api.do("DELETE", default)
    try:
        wait_until(
            lambda: "nodeSelector" not in created(admitting, a_pod(), namespace=way),
            "nobody is drawn any more",
        )
        named = created(admitting, a_pod(nodeSelector={POOL_LABEL: "default"}), namespace=way)
        assert TEAM in named["tolerations"]
    finally:
        admitting.api.do("PATCH", default, {"metadata": {"finalizers": []}})
        admitting.replace_pools([])


def test_the_policy_serves_pods_that_have_no_tolerations_at_all(admitting: Admitting) -> None:
    """Clusters may do without the two that the API server gives to each pod; this one doesn't."""
    admitting.pools("prefer")
    rule = policy()
    [tolerations] = [each for each in rule["spec"]["variables"] if each["name"] == "tolerations"]
    tolerations["expression"] = "object.spec.tolerations.filter(each, false)"
    rule["metadata"] = {"name": "bare.example.org"}
    bound = binding()
    bound["metadata"] = {"name": "bare.example.org"}
    selector = only_in((FREE,), {"matchExpressions": []})
    bound["spec"] |= {
        "policyName": "bare.example.org",
        "matchResources": {"namespaceSelector": selector},
    }

    def acts() -> bool:
        return "affinity" in created(admitting, a_pod(), namespace=FREE)

    with acting(admitting.cluster, rule, bound, acts=acts):
        spec = created(admitting, a_pod(), namespace=FREE)

    assert spec["tolerations"] == [TEAM]
    assert preferred_pools(spec) == ["default"]
