"""What is true of every pod and every role, whatever it is for."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec
import pytest

from certs.wanted import EXTENDER
from growth.installation.rendering import rendered
from growth.installation.rights import rights_of
from growth.installation.values import Admission, InstallationValues, SchedulerChoice
from growth.scheduling.objects import Pod
from growth.service.settings import MetricsAccess
from tests.manifests.reading import ALL, SYSTEM, Object, named, pods

PODS = dict(pods())
CONTAINERS = {
    f"{name}/{container['name']}": container
    for name, pod in PODS.items()
    for container in pod["containers"]
}
ACCOUNTS = (
    "growth-reconciler",
    "growth-webhooks",
    "growth-certs",
    "growth-extender",
    "growth-scheduler",
)
ON_ITS_HOST = "growth-extender"


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_may_do_nothing_that_it_has_no_need_of(name: str) -> None:
    context = CONTAINERS[name]["securityContext"]

    assert context == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_is_watched_and_bounded(name: str) -> None:
    container = CONTAINERS[name]

    assert {"readinessProbe", "livenessProbe"} <= container.keys()
    assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
    probed = {container[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")}
    assert probed <= {port["name"] for port in container["ports"]}


@pytest.mark.parametrize("name", PODS)
def test_a_pod_runs_as_nobody_in_particular(name: str) -> None:
    context = PODS[name]["securityContext"]

    assert context["runAsNonRoot"]
    assert context["runAsUser"] == context["runAsGroup"] == context["fsGroup"] == 65532
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}


@pytest.mark.parametrize("name", PODS)
def test_a_token_comes_only_with_the_pod_that_asks_for_it(name: str) -> None:
    pod = PODS[name]

    assert named(ALL, "ServiceAccount", name)["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] == name
    assert pod["automountServiceAccountToken"] is True
    # Or variables such as GROWTH_EXTENDER_PORT would be in it, which are no settings.
    assert pod["enableServiceLinks"] is False


def test_nobody_but_the_extender_shares_anything_with_its_host() -> None:
    sharing = {
        name
        for name, pod in PODS.items()
        if {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
        or any("hostPath" in volume for volume in pod.get("volumes", ()))
    }

    assert sharing == {ON_ITS_HOST}
    assert "hostPID" not in PODS[ON_ITS_HOST]


@pytest.mark.parametrize(
    ("labels", "is_there"),
    [
        ({"node-role.kubernetes.io/control-plane": ""}, True),  # kubeadm, kind
        ({"node-role.kubernetes.io/control-plane": "true"}, True),  # k3s, RKE2
        ({"node-role.kubernetes.io/worker": "true"}, False),
        ({}, False),
    ],
)
def test_the_extender_is_on_control_plane_nodes_however_they_are_labelled(
    labels: dict[str, str], *, is_there: bool
) -> None:
    pod = msgspec.convert({"metadata": {"name": "extender"}, "spec": PODS[ON_ITS_HOST]}, Pod)

    assert pod.wanted_nodes.matches("node", labels) is is_there


def test_the_reconciler_reads_the_stream_at_a_name_that_the_extender_can_prove() -> None:
    words = PODS["growth-reconciler"]["containers"][0]["args"]
    [url] = [word.partition("=")[2] for word in words if word.startswith("--demand-url=")]
    place = urlsplit(url)

    assert place.scheme == "https"
    assert place.hostname in EXTENDER.names(SYSTEM)
    assert place.port in {
        each["port"] for each in named(ALL, "Service", place.hostname)["spec"]["ports"]
    }


@pytest.mark.parametrize("name", ["growth-reconciler", "growth-webhooks", "growth-certs"])
def test_growth_never_waits_for_a_machine_that_it_buys(name: str) -> None:
    pod = PODS[name]
    [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]

    assert term["matchExpressions"] == [{"key": "growth.dev/pool", "operator": "DoesNotExist"}]
    assert pod["priorityClassName"] == "growth-critical"
    tolerated = {each["key"] for each in pod["tolerations"]}
    assert "node-role.kubernetes.io/control-plane" in tolerated


@pytest.mark.parametrize("name", ["growth-reconciler", "growth-webhooks", "growth-scheduler"])
def test_a_drain_leaves_one_of_two_and_is_never_held_up_by_a_broken_one(name: str) -> None:
    deployment = named(ALL, "Deployment", name)
    budget = named(ALL, "PodDisruptionBudget", name)["spec"]

    assert deployment["spec"]["replicas"] == 2
    assert budget["maxUnavailable"] == 1
    assert budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert budget["selector"] == deployment["spec"]["selector"]


@pytest.mark.parametrize("account", ACCOUNTS)
def test_no_role_lets_anybody_out_of_it(account: str) -> None:
    for right in rights_of(account, ALL):
        assert "*" not in {right.group, right.resource, right.verb}
        assert right.verb not in {"escalate", "bind", "impersonate", "deletecollection"}
        assert (right.resource, right.verb) != ("pods", "create")
        if right.resource == "secrets":
            # A join token is taken away once its machine has joined.
            taken_away = {"delete"} if right.namespace == "kube-system" else set()
            assert right.verb in {"get", "create", "patch"} | taken_away
            assert right.namespace
            assert right.verb == "create" or right.name or right.namespace == "kube-system"


@pytest.mark.parametrize("account", ACCOUNTS)
def test_the_keys_of_the_authorities_are_nobody_elses(account: str) -> None:
    keys = {right for right in rights_of(account, ALL) if right.name.endswith(("-ca", "-tls"))}
    webhooks = {
        right for right in rights_of(account, ALL) if right.group == "admissionregistration.k8s.io"
    }

    assert bool(keys) == bool(webhooks) == (account == "growth-certs")


@pytest.mark.parametrize("account", ACCOUNTS)
def test_where_a_policy_admits_pods_nobody_may_touch_a_webhook(account: str) -> None:
    values = InstallationValues(admission=Admission.POLICY, scheduler=SchedulerChoice.SECOND)
    groups = {right.group for right in rights_of(account, rendered(values))}

    assert "admissionregistration.k8s.io" not in groups


@pytest.mark.parametrize("account", ["growth-webhooks", "growth-extender"])
def test_servers_only_read_and_ask_about_tokens(account: str) -> None:
    rights = rights_of(account, ALL)

    assert {right.verb for right in rights} == {"list", "watch", "create"}
    created = {right.resource for right in rights if right.verb == "create"}
    assert created == {"tokenreviews", "subjectaccessreviews"}


@pytest.mark.parametrize("access", ["loopback", "open"])
def test_processes_that_ask_about_no_token_have_no_right_to(access: str) -> None:
    items = rendered(InstallationValues(metrics_access=MetricsAccess(access)))

    for account in ACCOUNTS:
        resources = {right.resource for right in rights_of(account, items)}
        assert not resources & {"tokenreviews", "subjectaccessreviews"}


def test_every_object_lies_where_it_belongs() -> None:
    namespaces = {item["metadata"].get("namespace") for item in ALL}

    assert namespaces == {None, SYSTEM, "kube-system"}
    outside = [item for item in ALL if item["metadata"].get("namespace") == "kube-system"]
    assert {item["kind"] for item in outside} == {"Role", "RoleBinding"}


@pytest.mark.parametrize("name", PODS)
def test_a_policy_lets_each_port_be_reached_that_somebody_calls(name: str) -> None:
    if "hostNetwork" in PODS[name]:
        return
    labels = workload(name)["spec"]["template"]["metadata"]["labels"]
    open_ports = {
        port["port"]
        for item in ALL
        if item["kind"] == "NetworkPolicy"
        and item["spec"]["podSelector"].get("matchLabels", {}).items() <= labels.items()
        for rule in item["spec"].get("ingress", ())
        for port in rule["ports"]
    }
    named_ports = {port["name"] for each in PODS[name]["containers"] for port in each["ports"]}
    # The kubelet's probes come from the host, which policies don't hold back.
    assert named_ports - open_ports <= {"scheduler"}


def workload(name: str) -> Object:
    return next(
        item
        for item in ALL
        if item["kind"] in {"Deployment", "DaemonSet"} and item["metadata"]["name"] == name
    )
