"""Each way in which an installation can be broken is named by `growth doctor`, with its remedy."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from typing_extensions import override

from growth.api.wellknown import PUT_ASIDE_ANNOTATION, WRITING_STOPPED_ANNOTATION
from growth.cli.doctor.command import examine_all, finding_lines
from growth.cli.doctor.examination.finding import ExaminedCluster, Level
from growth.installation.values import ProviderChoice
from growth.kube.call import Call
from growth.kube.errors import ApiError, Denied, Overloaded, Status, Unreachable, error_of
from tests.certs.api import WEBHOOKS
from tests.cli.installed import (
    APPS,
    DEFINITIONS,
    GROWTH,
    LEASE,
    NAMESPACE,
    PODS,
    Cluster,
    bind_pods,
    connection,
    installed,
    lead,
    pool,
    run_extender,
    run_scheduler,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.cli.doctor.examination.finding import Finding
    from growth.kube.transport import Response


def findings(cluster: Cluster) -> list[Finding]:
    async def look() -> list[Finding]:
        return await examine_all(ExaminedCluster(connection(cluster), NAMESPACE))

    return asyncio.run(look())


def wrong(cluster: Cluster) -> list[Finding]:
    return [each for each in findings(cluster) if each.level is not Level.OK]


def test_an_installation_that_is_well_is_all_green() -> None:
    found = findings(installed())

    assert [each for each in found if each.level is not Level.OK] == []
    assert [each.subject for each in found] == [
        "cluster",
        "clock",
        "objects",
        "processes",
        "leader",
        "rights",
        "guards",
        "certificates",
        "webhook",
        "extender",
        "class default",
        "pool default",
    ]
    assert all(not each.hint for each in found)


def test_machines_that_have_their_records_are_counted() -> None:
    cluster = installed()
    both(of_machine("Node"), of_machine("NodeRecord"))(cluster)

    (found,) = [each for each in findings(cluster) if each.subject == "records"]

    assert (found.level, found.text) == (Level.OK, "1 machine, each with its record")


class WithoutLeases(Cluster):
    """An API server that knows no such kind."""

    @override
    async def request(self, method: str, path: str, **words: Any) -> Response:
        if path.endswith("/leases"):
            call = Call(method=method, path=path)
            raise error_of(call, code=404, said=Status(), headers={})
        return await super().request(method, path, **words)


def test_an_api_server_that_knows_no_leases_ends_no_examination() -> None:
    well = {each.subject for each in findings(installed())}
    found = findings(WithoutLeases(**vars(installed())))
    assert {each.subject for each in found} == well - {"leader"}
    assert [each for each in found if each.level is Level.FAIL] == []


POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"


def gone(path: str) -> Callable[[Cluster], object]:
    return lambda cluster: cluster.objects.pop(path)


def unready(path: str, **status: Any) -> Callable[[Cluster], object]:
    return lambda cluster: cluster.edit(path, "status").update(status)


def foreign_schema(cluster: Cluster) -> None:
    versions = cluster.edit(f"{DEFINITIONS}/nodepools.growth.dev", "spec", "versions")
    del versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


def unserved(cluster: Cluster) -> None:
    cluster.edit(f"{DEFINITIONS}/nodepools.growth.dev", "status").update(conditions=None)


def crash(cluster: Cluster) -> None:
    cluster.edit(f"{APPS}/deployments/growth-webhooks", "status").update(readyReplicas=0)
    template = cluster.edit(f"{APPS}/deployments/growth-webhooks", "spec", "template", "metadata")
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pod = {
        "metadata": {"name": "w", "labels": template["labels"]},
        "status": {"containerStatuses": [{"state": {"waiting": waiting}}]},
    }
    cluster.put(f"{PODS}/w", pod)


def scaled_to_none(cluster: Cluster) -> None:
    cluster.edit(f"{APPS}/deployments/growth-reconciler", "spec").update(replicas=0)


def no_control_plane_node(cluster: Cluster) -> None:
    names = ("desiredNumberScheduled", "numberReady", "updatedNumberScheduled")
    status = cluster.edit(f"{APPS}/daemonsets/growth-extender", "status")
    status.update(dict.fromkeys(names, 0))
    cluster.objects.pop(f"{PODS}/growth-extender-1")


def never_led(cluster: Cluster) -> None:
    cluster.edit(LEASE).update(spec={})


def silent_leader(cluster: Cluster) -> None:
    lead(cluster, seconds_ago=60)


def stopped_leader(cluster: Cluster) -> None:
    lead(cluster, annotations={WRITING_STOPPED_ANNOTATION: "MaximumKept: 4 nodes, 3 allowed"})


def aside_leader(cluster: Cluster) -> None:
    lead(cluster, annotations={PUT_ASIDE_ANNOTATION: "machine a: OverflowError in x:3 (planning)"})


def two_leaders(cluster: Cluster) -> None:
    lead(cluster, "elsewhere")


def lacking(*rights: str) -> Callable[[Cluster], object]:
    return lambda cluster: cluster.refused.update(rights)


def trusted_by_nobody(cluster: Cluster) -> None:
    del cluster.edit(WEBHOOKS, "webhooks", 0, "clientConfig")["caBundle"]


def trusts_another(cluster: Cluster) -> None:
    cluster.edit(WEBHOOKS, "webhooks", 0, "clientConfig").update(caBundle="YW5vdGhlcg==")


def fails_closed(cluster: Cluster) -> None:
    cluster.edit(WEBHOOKS, "webhooks", 0).update(failurePolicy="Fail")


def unreachable_webhook(cluster: Cluster) -> None:
    cluster.webhook_answers = False


def opted_out(cluster: Cluster) -> None:
    labels = {"growth.dev/admission": "disabled"}
    cluster.edit("/api/v1/namespaces/default", "metadata").update(labels=labels)


def house_rules(cluster: Cluster) -> None:
    cluster.pods_are_refused = True


def pass_days(days: int) -> Callable[[Cluster], object]:
    """The certificates get older; the Lease is that of now."""

    def passed(cluster: Cluster) -> None:
        cluster.now += timedelta(days=days)

    return passed


def broken_secret(cluster: Cluster) -> None:
    cluster.change("growth-webhooks-tls", **{"tls.crt": b"nothing"})


def not_asked(cluster: Cluster) -> None:
    run_extender(cluster, "growth-extender-1")
    bind_pods(cluster, 14)


def not_configured(cluster: Cluster) -> None:
    not_asked(cluster)
    run_scheduler(cluster, "--leader-elect=true")


def not_restarted(cluster: Cluster) -> None:
    not_asked(cluster)
    run_scheduler(cluster, "--config=/etc/kubernetes/scheduler.yaml")


def not_configured_in_k3s(cluster: Cluster) -> None:
    not_asked(cluster)
    annotations = {"k3s.io/node-args": '["server","--disable","traefik"]'}
    cluster.put("/api/v1/nodes/one", {"metadata": {"name": "one", "annotations": annotations}})


def nothing_to_ask(cluster: Cluster) -> None:
    run_extender(cluster, "growth-extender-1")


def silent_extender(cluster: Cluster) -> None:
    cluster.metrics.clear()


def strange_questions(cluster: Cluster) -> None:
    run_extender(cluster, "growth-extender-1", questions=5, refused=3)


def classes(**status: Any) -> Callable[[Cluster], object]:
    def changed(cluster: Cluster) -> None:
        cluster.edit(f"{GROWTH}/kwoknodeclasses/default")["status"] = status

    return changed


def joins_by_kubeadm(version: str, image: str) -> Callable[[Cluster], object]:
    document = {
        "metadata": {"name": "default"},
        "spec": {
            "images": {"x86": image},
            "bootstrap": {"kind": "Kubeadm", "version": version},
        },
        "status": {"observedGeneration": 1},
    }
    return lambda cluster: cluster.put(f"{GROWTH}/hetznernodeclasses/default", document)


def pools(**status: Any) -> Callable[[Cluster], object]:
    return lambda cluster: cluster.put(f"{GROWTH}/nodepools/default", pool("default", **status))


def of_machine(kind: str, **fields: Any) -> Callable[[Cluster], object]:
    """A Node with growth's labels, or a NodeRecord."""
    metadata = {"name": "default-1", "labels": {"growth.dev/managed-by": "growth"}}
    path = "/api/v1/nodes" if kind == "Node" else f"{GROWTH}/noderecords"
    return lambda cluster: cluster.put(f"{path}/default-1", {"metadata": metadata, **fields})


def both(*ways: Callable[[Cluster], object]) -> Callable[[Cluster], object]:
    return lambda cluster: [way(cluster) for way in ways]


def version(said: str) -> Callable[[Cluster], object]:
    return lambda cluster: setattr(cluster, "version_said", said)


def wrong_clock(cluster: Cluster) -> None:
    cluster.skew = timedelta(minutes=-20)


FAIL, WARN = Level.FAIL, Level.WARN
BLOCKED = {"reason": "AccessRefused", "message": "Secret growth-system/hetzner isn't there"}
DOUBT = {"type": "PricesBelieved", "reason": "Implausible", "message": "cx23: it costs nothing"}
ANOTHER = {
    "type": "AnotherWriter",
    "status": "True",
    "reason": "MachinesOfAnother",
    "message": "Another growth buys machines",
}
PAUSED = {"type": "Paused", "status": "True", "reason": "Paused", "message": "until noon"}
CLAIMED = {
    "type": "Contested",
    "status": "True",
    "reason": "AnotherNode",
    "message": "Node theirs has the providerID of this machine.",
}
HELD = {"type": "RemovalHeld", "status": "True", "reason": "R", "message": "too many orphans"}
MISSING = {"type": "TypesMissing", "status": "True", "reason": "NotSold", "message": "cx11: gone"}
LIMIT = {"type": "LimitReached", "status": "True", "reason": "Nodes", "message": "limits.nodes: 3"}
POOLS = f"{DEFINITIONS}/nodepools.growth.dev"
RECONCILER = f"{APPS}/deployments/growth-reconciler"


class Broken(NamedTuple):
    """One way to break an installation, and what has to be said of it."""

    how: Callable[[Cluster], object]
    level: Level
    subject: str
    text: str
    hint: str


BROKEN: dict[str, Broken] = {
    "an old cluster": Broken(
        version("1.30.9"), FAIL, "cluster", "is too old", "upgrade the cluster"
    ),
    "a new cluster": Broken(
        version("1.40.0"), WARN, "cluster", "newer than this", "a newer version of growth"
    ),
    "another clock": Broken(wrong_clock, FAIL, "clock", "s ahead of the API server", "chronyc"),
    "a kind is missing": Broken(
        gone(POOLS), FAIL, "objects", "is not installed", "growth crds apply"
    ),
    "a kind isn't served": Broken(
        unserved, FAIL, "objects", "doesn't serve it", "growth crds apply"
    ),
    "a kind is old": Broken(
        foreign_schema, FAIL, "objects", "another version", "growth crds apply"
    ),
    "no image": Broken(
        crash, FAIL, "processes", "0 of 2 are ready: ImagePullBackOff", "describe pods"
    ),
    "scaled to none": Broken(
        scaled_to_none, FAIL, "processes", "scaled to 0 replicas", "kubectl scale"
    ),
    "no extender": Broken(
        gone(f"{APPS}/daemonsets/growth-extender"),
        FAIL,
        "processes",
        "growth-extender is missing",
        "growth install",
    ),
    "no webhooks": Broken(
        gone(f"{APPS}/deployments/growth-webhooks"),
        FAIL,
        "processes",
        "growth-webhooks is missing",
        "growth install",
    ),
    "a managed control plane": Broken(
        no_control_plane_node,
        FAIL,
        "processes",
        "growth-extender: scaled to 0 replicas",
        "scheduler: Second",
    ),
    "nobody ever led": Broken(never_led, FAIL, "leader", "no reconciler has ever led", "logs"),
    "nobody leads": Broken(silent_leader, FAIL, "leader", "no reconciler leads", "logs"),
    "writing stopped": Broken(
        stopped_leader, FAIL, "leader", "MaximumKept: 4 nodes, 3 allowed", "rollout restart"
    ),
    "something is put aside": Broken(
        aside_leader, WARN, "put aside", "machine a: OverflowError", "GrowthSubjectsPutAside"
    ),
    "two lead": Broken(two_leaders, FAIL, "leader", "2 reconcilers lead", "growth uninstall"),
    "a role lacks something": Broken(
        lacking("patch nodes", "list pods"),
        FAIL,
        "rights",
        "growth-reconciler isn't allowed to list pods, patch nodes",
        "growth install",
    ),
    "nobody keeps the certificates": Broken(
        gone(f"{APPS}/deployments/growth-certs"),
        FAIL,
        "processes",
        "growth-certs is missing",
        "growth install",
    ),
    **{
        f"the policy {name} is gone": Broken(
            gone(f"{POLICIES}/{name}"), FAIL, "guards", f"{name} is missing", "growth install"
        )
        for name in ("nodes.growth.dev", "node-marks.growth.dev", "records.growth.dev")
    },
    "a policy isn't bound": Broken(
        gone(f"{BINDINGS}/pools.growth.dev"),
        FAIL,
        "guards",
        "ValidatingAdmissionPolicyBinding pools.growth.dev is missing",
        "growth install",
    ),
    "a policy only warns": Broken(
        lambda cluster: cluster.edit(f"{BINDINGS}/pools.growth.dev", "spec").update(
            validationActions=["Warn"]
        ),
        FAIL,
        "guards",
        "doesn't deny",
        "growth install",
    ),
    "a policy fails open": Broken(
        lambda cluster: cluster.edit(f"{POLICIES}/nodes.growth.dev", "spec").update(
            failurePolicy="Ignore"
        ),
        FAIL,
        "guards",
        "ignores its own failures",
        "growth install",
    ),
    "a binding is for another policy": Broken(
        lambda cluster: cluster.edit(f"{BINDINGS}/nodes.growth.dev", "spec").update(
            policyName="another"
        ),
        FAIL,
        "guards",
        "is for another policy",
        "growth install",
    ),
    "nobody trusts the webhook": Broken(
        trusted_by_nobody,
        FAIL,
        "webhook",
        "no caBundle",
        "growth certs show",
    ),
    "another authority is trusted": Broken(
        *(
            trusts_another,
            FAIL,
            "certificates",
            "trusts another authority",
            "growth certs run-once",
        ),
    ),
    "the webhook fails closed": Broken(fails_closed, FAIL, "webhook", "is Fail", "growth install"),
    "the webhook isn't reached": Broken(
        unreachable_webhook,
        FAIL,
        "webhook",
        "doesn't reach it",
        "port 9443",
    ),
    "no webhook at all": Broken(
        gone(WEBHOOKS), FAIL, "webhook", "neither a webhook", "growth install"
    ),
    "nobody wants admission": Broken(
        opted_out, WARN, "webhook", "every namespace", "kubectl label"
    ),
    "somebody refuses pods": Broken(
        house_rules, WARN, "webhook", "the house rules", "check other webhooks"
    ),
    "certificates end": Broken(
        pass_days(85), WARN, "certificates", "expires in 4 days", "growth certs"
    ),
    "certificates have ended": Broken(
        pass_days(100),
        FAIL,
        "certificates",
        "expired 10 days ago",
        "growth certs run-once",
    ),
    "a certificate is garbage": Broken(
        broken_secret,
        FAIL,
        "certificates",
        "growth-webhooks-tls",
        "growth certs run-once",
    ),
    "the scheduler doesn't ask": Broken(
        not_asked,
        FAIL,
        "extender",
        "no call in 10 m, though 14 pods were bound",
        "growth scheduler-config",
    ),
    "kubeadm without --config": Broken(
        not_configured,
        FAIL,
        "extender",
        "no call in 10 m",
        "without --config: growth scheduler-config --for kubeadm",
    ),
    "kubeadm not restarted": Broken(
        not_restarted,
        FAIL,
        "extender",
        "no call in 10 m",
        "or it wasn't restarted since",
    ),
    "k3s without --config": Broken(
        not_configured_in_k3s,
        FAIL,
        "extender",
        "no call in 10 m",
        "growth scheduler-config --for k3s",
    ),
    "nothing was to be asked": Broken(
        nothing_to_ask,
        WARN,
        "extender",
        "not known yet",
        "growth scheduler-config",
    ),
    "no way to the extender": Broken(
        silent_extender,
        WARN,
        "extender",
        "growth-extender-1: no route to host",
        "check on its node whether kube-scheduler calls it",
    ),
    "somebody else asks": Broken(strange_questions, WARN, "extender", "3 calls", "runbooks"),
    "a class nobody looked at": Broken(
        classes(), WARN, "class default", "hasn't been asked", "reconciler runs"
    ),
    "a class without access": Broken(
        classes(observedGeneration=1, blocked=BLOCKED),
        FAIL,
        "class default",
        BLOCKED["message"],
        "tries again by itself",
    ),
    "a doubtful price": Broken(
        classes(observedGeneration=1, conditions=[DOUBT]),
        WARN,
        "class default",
        "it costs nothing",
        "last plausible prices",
    ),
    "another growth buys there": Broken(
        classes(observedGeneration=1, conditions=[ANOTHER]),
        WARN,
        "class default",
        "Another growth buys machines",
        "GrowthAnotherWriter",
    ),
    "a containerd that is too old": Broken(
        joins_by_kubeadm("1.37.0", "debian-13"),
        WARN,
        "class default",
        "the containerd of debian-13 is too old",
        "a snapshot that contains containerd 2",
    ),
    "a node without a record": Broken(
        of_machine("Node"), WARN, "records", "no NodeRecord for 1 Node", "growth ignores such"
    ),
    "a record without a node": Broken(
        of_machine("NodeRecord"), WARN, "records", "no Node for 1 NodeRecord", "the provider"
    ),
    "a machine that two nodes claim": Broken(
        both(of_machine("Node"), of_machine("NodeRecord", status={"conditions": [CLAIMED]})),
        WARN,
        "records",
        "default-1: Node theirs has the providerID",
        "delete that Node",
    ),
    "a pool that can't buy": Broken(
        pools(blocked=BLOCKED),
        FAIL,
        "pool default",
        BLOCKED["message"],
        "kubectl edit nodepool default",
    ),
    "a pool nobody looked at": Broken(
        pools(observedGeneration=0),
        WARN,
        "pool default",
        "no reconciler has read it",
        "runs and leads",
    ),
    "a paused pool": Broken(
        pools(conditions=[PAUSED]),
        WARN,
        "pool default",
        "until noon",
        "growth resume",
    ),
    "a doubted cloud": Broken(
        pools(conditions=[HELD]),
        WARN,
        "pool default",
        "too many orphans",
        "growth removes nothing until",
    ),
    "a limit that binds": Broken(
        pools(conditions=[LIMIT]), WARN, "pool default", "limits.nodes: 3", "kubectl edit nodepool"
    ),
    "a type that is gone": Broken(
        pools(conditions=[MISSING]), WARN, "pool default", "cx11: gone", "kubectl edit nodepool"
    ),
    "no pool": Broken(
        gone(f"{GROWTH}/nodepools/default"), WARN, "pools", "no NodePool", "kubectl apply"
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named_with_its_remedy(name: str) -> None:
    broken = BROKEN[name]
    cluster = installed()
    broken.how(cluster)

    found = wrong(cluster)

    named = [each for each in found if _is_about(broken, each)]
    assert named, found
    assert all(each.level is broken.level and broken.hint in each.hint for each in named)
    assert all(each.hint for each in found)
    lines = [line for each in found for line in finding_lines(each)]
    assert max(map(len, lines)) <= 100


def _is_about(broken: Broken, finding: Finding) -> bool:
    return finding.subject == broken.subject and broken.text in finding.text


def test_a_proxy_that_writes_names_of_headers_in_small_letters_hides_no_webhook() -> None:
    cluster = installed()
    cluster.warning_header = "warning"

    assert wrong(cluster) == []


@pytest.mark.parametrize(
    ("version", "image"),
    [("v1.36.3", "debian-13"), ("1.37.0", "debian-14"), ("1.37.0", "12345")],
    ids=["a release that takes it", "a newer one", "a snapshot, of which nothing is known"],
)
def test_no_containerd_is_blamed_that_serves_for_all_we_know(version: str, image: str) -> None:
    cluster = installed()
    joins_by_kubeadm(version, image)(cluster)

    levels = {each.level for each in findings(cluster) if each.subject == "class default"}

    assert levels == {Level.OK}


@pytest.mark.parametrize(
    ("end", "level"), [(Denied, Level.FAIL), (Unreachable, Level.FAIL), (Overloaded, Level.WARN)]
)
def test_rights_that_cannot_be_asked_about_are_one_finding_among_all_others(
    end: type[ApiError], level: Level
) -> None:
    cluster = installed()
    well = [each.subject for each in findings(cluster)]
    cluster.reviews_end_in = end

    found = findings(cluster)

    assert [each.subject for each in found] == well
    (rights,) = (each for each in found if each.level is not Level.OK)
    assert (rights.subject, rights.level) == ("rights", level)
    assert "subjectaccessreviews: not for you" in rights.text


def test_before_an_installation_it_is_said_whether_there_can_be_one() -> None:
    cluster = Cluster()
    cluster.refused = {"create clusterroles"}

    found = {each.subject: each for each in wrong(cluster)}

    assert found["processes"].text == f"growth isn't installed in namespace {NAMESPACE}"
    assert found["your rights"].text.startswith("you can't create clusterroles")
    assert not {"leader", "rights", "certificates", "webhook", "extender"} & found.keys()


def test_processes_beside_the_cluster_are_known_by_their_lease() -> None:
    cluster = Cluster()
    lead(cluster, "kube-system")

    [leader] = [each for each in findings(cluster) if each.subject == "leader"]

    assert (leader.level, leader.text) == (Level.OK, "reconciler-kube-system in kube-system")


@pytest.mark.parametrize(
    ("provider", "plural", "foreign"),
    [
        (ProviderChoice.HETZNER, "hetznernodeclasses", "create nodes"),
        (ProviderChoice.KWOK, "kwoknodeclasses", "delete secrets"),
    ],
)
def test_rights_are_those_of_the_cloud_that_is_used(
    provider: ProviderChoice, plural: str, foreign: str
) -> None:
    cluster = installed(provider)
    cluster.objects.pop(f"{GROWTH}/kwoknodeclasses/default")
    there = {"metadata": {"name": "default"}, "status": {"observedGeneration": 1}}
    cluster.put(f"{GROWTH}/{plural}/default", there)
    cluster.refused = {foreign}

    assert wrong(cluster) == []


def test_pods_that_nobody_scheduled_or_others_did_say_nothing_of_the_stanza() -> None:
    cluster = installed()
    run_extender(cluster, "growth-extender-1")
    daemon_set = {"kind": "DaemonSet", "name": "d", "uid": "u"}
    bind_pods(cluster, 3, ownerReferences=[daemon_set])

    assert [each.level for each in wrong(cluster)] == [Level.WARN]


def test_questions_to_one_of_several_extenders_are_enough() -> None:
    cluster = installed()
    run_extender(cluster, "growth-extender-2", questions=0)
    bind_pods(cluster, 5)

    assert wrong(cluster) == []


def test_what_cannot_be_answered_is_a_finding_and_the_rest_goes_on() -> None:
    cluster = installed()
    cluster.forbidden = {"growth-webhooks-tls"}

    found = findings(cluster)

    [failed] = [each for each in found if each.level is Level.FAIL]
    assert failed.subject == "certificates"
    assert found[-1].subject == "pool default"
