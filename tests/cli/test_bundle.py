"""`growth bundle`: no secret in it, names unreadable if wanted, and the same plan made of it."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.nodepool import NodePool
from growth.cli.__main__ import main
from growth.cli.bundle.bundling import bundle_lines, events_part, input_part, pack_bundle, part
from growth.cli.bundle.hashing import Hashing
from growth.cli.cluster.events import ObjectEvent
from growth.cli.plan.cluster import SeenCluster
from growth.cli.plan.input import KINDS, input_of, open_bundle, seen_of
from growth.cli.plan.input_fields import fields_of, fields_of_ours
from growth.scheduling import objects
from growth.scheduling.pod import Pod
from reconciler.seeing.sources import BUILT_IN
from tests.cli.test_doctor import nobody_listens
from tests.cli.test_plan_from_cluster import node_class, pool, wait_for_pods
from tests.reconciler import build as worlds
from tests.scheduling import build
from tests.thread.growing import deployment
from tests.trust.build import with_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

AT = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "s3cr3t"  # what must not be found in any bundle
ENV = {"name": "PASSWORD", "value": SECRET}
PLACES_OF_SECRETS: dict[str, Any] = {
    "metadata": {
        "name": "web-0",
        "namespace": "shop",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": SECRET,
            "vault.hashicorp.com/token": SECRET,
            "growth.dev/paused-reason": SECRET,
            "growth.dev/do-not-disrupt": "true",
        },
        "managedFields": [{"manager": SECRET}],
    },
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": SECRET,
                "command": [SECRET],
                "args": [SECRET],
                "env": [ENV],
                "envFrom": [{"prefix": SECRET}],
                "lifecycle": {"postStart": {"exec": {"command": [SECRET]}}},
                "livenessProbe": {"exec": {"command": [SECRET]}},
                "resources": {"requests": {"cpu": "1"}},
            }
        ],
        "initContainers": [{"name": "init", "env": [ENV], "args": [SECRET]}],
        "imagePullSecrets": [{"name": SECRET}],
        "hostAliases": [{"ip": "10.0.0.1", "hostnames": [SECRET]}],
        "volumes": [
            {"name": "secret", "secret": {"secretName": SECRET}},
            {"name": "csi", "csi": {"driver": "d", "volumeAttributes": {"key": SECRET}}},
            {"name": "flex", "flexVolume": {"driver": "d", "options": {"key": SECRET}}},
            {"name": "projected", "projected": {"sources": [{"secret": {"name": SECRET}}]}},
            {"name": "config", "configMap": {"name": SECRET}},
            {"name": "disk", "persistentVolumeClaim": {"claimName": "data"}},
        ],
    },
    "status": {"conditions": [{"type": "Ready", "status": "False", "message": SECRET}]},
}


def test_of_a_pod_nothing_is_taken_that_could_be_secret() -> None:
    pod = objects.decode_pod(json.dumps(PLACES_OF_SECRETS).encode())
    taken = json.dumps(fields_of(pod))
    assert SECRET not in taken
    assert "do-not-disrupt" in taken
    assert "claimName" in taken


def test_of_a_class_for_hetzner_only_what_decides_about_prices_and_room_is_taken() -> None:
    spec = {
        "tokenSecretRef": {"namespace": SECRET, "name": SECRET, "key": SECRET},
        "images": {"x86": "debian-13"},
        "networks": [SECRET],
        "sshKeys": [SECRET],
        "firewalls": [SECRET],
        "labels": {"team": SECRET},
        "publicIPv4": False,
        "bootstrap": {
            "kind": "Custom",
            "template": f"$(growth.nodeName) $(growth.nodeLabels) $(growth.nodeTaints) {SECRET}",
            "server": f"https://{SECRET}:6443",
            "kubelet": {"maxPods": 50},
        },
    }
    metadata = {"name": "default", "annotations": {"note": SECRET}, "labels": {"team": SECRET}}
    condition = {"type": "Ready", "status": "False", "reason": "NoSuchKey", "message": SECRET}
    status = {
        "sshKeys": [SECRET],
        "networks": [SECRET],
        "blocked": {"reason": "NoSuchKey", "message": SECRET},
        "conditions": [condition | {"lastTransitionTime": "2026-01-01T00:00:00Z"}],
    }
    document = {"metadata": metadata, "spec": spec, "status": status}
    one = HetznerNodeClass.model_validate(document)
    taken = fields_of_ours(one)
    assert SECRET not in json.dumps(taken, default=str)
    again = HetznerNodeClass.model_validate(taken)
    assert again.status.conditions[0].reason == "NoSuchKey"
    assert (again.spec.public_ipv4, again.spec.bootstrap.kubelet.max_pods) == (False, 50)


KNOWN_FIELDS = {
    "Pod": {
        "metadata": "annotations creationTimestamp deletionTimestamp generation labels name "
        "namespace ownerReferences resourceVersion uid",
        "spec": "affinity containers hostNetwork hostUsers initContainers nodeName nodeSelector "
        "overhead priority resourceClaims resources schedulerName schedulingGates schedulingGroup "
        "terminationGracePeriodSeconds tolerations topologySpreadConstraints volumes workloadRef",
        "status": "allocatedResources conditions containerStatuses initContainerStatuses "
        "nominatedNodeName phase resources startTime",
    },
    "Node": {
        "spec": "providerID taints unschedulable",
        "status": "allocatable capacity conditions nodeInfo",
    },
}


@pytest.mark.parametrize("kind", KNOWN_FIELDS)
def test_a_field_that_growth_begins_to_read_is_let_into_bundles_by_a_person(kind: str) -> None:
    taken = msgspec.to_builtins(KINDS[kind]())
    for section, known in KNOWN_FIELDS[kind].items():
        assert set(taken[section]) == set(known.split())


def test_every_kind_that_a_plan_sees_can_be_packed_and_unpacked() -> None:
    for decode in BUILT_IN.values():
        one = decode[1](b'{"metadata":{"name":"x"}}')
        seen = SeenCluster(objects=(one,), resources=(), config_maps={}, unreadable=())
        assert seen_of(input_of(seen, AT)).objects == (one,)


def shop() -> SeenCluster:
    """Pods with all that rules compare, on nodes of others and without a node."""
    zone = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {}}}
    like = {"labelSelector": {"matchLabels": {"app": "payroll"}}, "topologyKey": build.HOSTNAME}
    like |= {"namespaces": ["acme", "vault"]}
    waits = worlds.waiting(
        "payroll-0",
        namespace="acme",
        labels={"app": "payroll"},
        nodeSelector={"disk": "acme-ssd"},
        affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [like]}},
        topologySpreadConstraints=[zone | {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}],
        volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "payroll-data"}}],
        requests={"cpu": "1"},
    )
    other = build.pod("ledger-0", namespace="acme", on="acme-node-1", labels={"app": "payroll"})
    kept = {"node": "default-1", "reason": "Held", "owner": "Pod acme/ledger-0"}
    labelled = worlds.pool(labels={"disk": "acme-ssd"})
    status = type(labelled.status).model_validate({"kept": [kept]})
    labelled = labelled.model_copy(update={"status": status})
    blueprint = json.dumps({"labels": {"disk": "acme-ssd"}})
    contested = {"type": "Contested", "status": "True", "reason": "AnotherNode"}
    contested |= {"lastTransitionTime": AT.isoformat(), "message": "Node acme-node-1 has its ID"}
    known = {"template": blueprint, "conditions": [contested]}
    workload = {"kind": "StatefulSet", "namespace": "acme", "name": "payroll", "pods": 1}
    return SeenCluster(
        objects=(
            waits,
            other,
            build.node("acme-node-1", labels={"disk": "acme-ssd"}),
            with_words(build.node("default-1"), annotations={"growth.dev/template": blueprint}),
            build.claim("payroll-data", metadata={"namespace": "acme"}),
            build.namespace("acme"),
        ),
        resources=(
            labelled,
            worlds.node_class(),
            worlds.request(pods=(waits,), workloads=[workload]),
            worlds.record(template=blueprint, status=known),
        ),
        config_maps={},
        unreadable=(),
    )


def test_hashed_names_can_not_be_found_and_machines_keep_theirs() -> None:
    given = input_of(shop(), AT)
    plain = msgspec.json.encode(given).decode()
    hashed = msgspec.json.encode(Hashing(b"key", kept=frozenset({"default-1"})).of(given)).decode()
    for name in ("payroll", "acme", "ledger", "vault"):
        assert name in plain
        assert name not in hashed
    assert "default-1" in hashed
    assert "topology.kubernetes.io/zone" in hashed
    # Another bundle has other names.
    assert msgspec.json.encode(Hashing(b"other", kept=frozenset()).of(given)).decode() != hashed


def test_what_rules_compare_is_still_equal_after_hashing() -> None:
    seen = seen_of(Hashing(b"key", kept=frozenset({"default-1"})).of(input_of(shop(), AT)))
    waits, other = (each for each in seen.objects if isinstance(each, Pod))
    node = next(each for each in seen.objects if "disk" in each.metadata.labels)
    (bought,) = (each for each in seen.resources if isinstance(each, NodePool))
    assert waits.spec.node_selector["disk"] == node.metadata.labels["disk"]
    assert waits.spec.node_selector["disk"] == bought.spec.labels["disk"]
    assert other.spec.node_name == node.metadata.name == node.metadata.labels[build.HOSTNAME]
    (term,) = waits.anti_affinity_terms
    assert term.selector.matches(other.metadata.labels)
    claim = next(each for each in seen.objects if type(each).__name__ == "PersistentVolumeClaim")
    assert waits.claims[0].name == claim.metadata.name


def test_records_are_in_a_bundle_and_without_free_texts_if_names_are_hashed() -> None:
    given = input_of(shop(), AT)
    (whole,) = seen_of(given).records.values()
    assert whole.spec.template is not None
    (hashed,) = seen_of(Hashing(b"key", kept=frozenset({"default-1"})).of(given)).records.values()
    assert (hashed.name, hashed.spec.node_id) == ("default-1", "kwok://default-1")
    assert (hashed.spec.template, hashed.status.template) == (None, None)
    assert [each.message for each in hashed.status.conditions] == [""]


def test_of_events_on_other_objects_only_reason_and_time_are_told() -> None:
    said = ObjectEvent(
        at="2026-01-01T00:00:00Z", reason="NoPlace", note=SECRET, source="growth.dev/x"
    )
    events = {"Pod": [said], "NodePool": [said]}
    told = json.loads(events_part(events, is_told=frozenset({"NodePool"})).content)
    assert [each.get("note") for each in told] == [SECRET, None]


def test_the_list_tells_each_part_with_its_size() -> None:
    lines = list(
        bundle_lines([part("versions.json", "versions", {}), input_part(input_of(shop(), AT))])
    )
    assert lines[0] == "  versions.json            2 bytes  versions"
    assert "1 Namespace, 2 Node, 1 NodePool, 1 NodeRecord" in " ".join(" ".join(lines).split())
    assert max(len(line) for line in lines) <= 100


def test_a_bundle_that_is_none_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(path: Path) -> str:
        assert main(["plan", "--from-bundle", str(path)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert "no such file" in refused(tmp_path / "missing.tar.gz")
    (torn := tmp_path / "torn.tar.gz").write_bytes(b"torn")
    assert "create one with growth bundle" in refused(torn)
    pack_bundle(whole := tmp_path / "whole.tar.gz", [part("input.json", "", {"at": 1})], at=AT)
    content = bytearray(whole.read_bytes())
    (cut := tmp_path / "cut.tar.gz").write_bytes(content[: len(content) // 2])
    assert "create one with growth bundle" in refused(cut)
    content[12] ^= 0xFF
    (spoilt := tmp_path / "spoilt.tar.gz").write_bytes(content)
    assert "create one with growth bundle" in refused(spoilt)
    pack_bundle(empty := tmp_path / "empty.tar.gz", [part("other.json", "", {})], at=AT)
    assert "it contains no input.json" in refused(empty)
    pack_bundle(strange := tmp_path / "strange.tar.gz", [part("input.json", "", {"at": 1})], at=AT)
    assert "can't be read by this version of growth" in refused(strange)


def test_a_plan_starts_from_a_cluster_or_from_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--from-bundle", "x", "--from-cluster"]) == 2
    assert "use either --from-cluster or --from-bundle" in capsys.readouterr().err


def test_the_same_bundle_is_the_same_bytes(tmp_path: Path) -> None:
    parts = [input_part(input_of(shop(), AT))]
    one, other = tmp_path / "one.tar.gz", tmp_path / "other.tar.gz"
    pack_bundle(one, parts, at=AT)
    pack_bundle(other, parts, at=AT)
    assert one.read_bytes() == other.read_bytes()
    assert open_bundle(str(one))[1].wall == AT


def test_without_a_cluster_one_line_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "never.tar.gz"
    assert main(["bundle", "--kubeconfig", nobody_listens(tmp_path), "--file", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:" in line
    assert not path.exists()


@pytest.fixture
def demand(alone: LiveCluster, namespace: str) -> Iterator[str]:
    """Pods that wait for machines of a pool of one name."""
    name = f"b-{namespace}"
    alone.create(node_class(name), pool(name))
    web = deployment("web", pool=name, replicas=5, cpu="900m")
    web["spec"]["template"]["spec"]["containers"][0]["env"] = [ENV]
    alone.create(web, namespace=namespace)
    wait_for_pods(alone, namespace, 5)
    yield name
    alone.kubectl("delete", "nodepool,kwoknodeclass", name, "--wait=false")


@pytest.mark.cluster
def test_planning_from_the_bundle_gives_the_same_plan(
    defined: LiveCluster, demand: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ["--kubeconfig", str(defined.kubeconfig)]

    def planned(*words: str) -> list[tuple[str, str, int]]:
        main(["plan", "-o", "json", *words])
        nodes = json.loads(capsys.readouterr().out)["nodes"]
        return sorted(
            (each["serverType"], each["location"], len(each["pods"]))
            for each in nodes
            if each["pool"] == demand
        )

    plain, hashed = tmp_path / "plain.tar.gz", tmp_path / "hashed.tar.gz"
    assert main(["bundle", *own, "--file", str(plain)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("the bundle contains:\n  versions.json")
    assert "not included: Secrets" in printed
    assert main(["bundle", *own, "--file", str(hashed), "--hash-names", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(hashed)
    there = planned("--from-cluster", *own)
    assert there
    assert planned("--from-bundle", str(plain)) == there
    assert planned("--from-bundle", str(hashed)) == there
    held = unpacked(plain)
    assert SECRET not in held
    assert "127.0.0.1" not in held


def unpacked(path: Path) -> str:
    with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as bundle:
        files = (bundle.extractfile(each) for each in bundle)
        return "".join(file.read().decode() for file in files if file is not None)
