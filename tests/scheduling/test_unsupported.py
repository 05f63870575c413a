from __future__ import annotations

import pytest

from growth.scheduling import objects
from growth.scheduling.fits import unsupported
from tests.scheduling.build import (
    Json,
    claim,
    cluster,
    container,
    mounting,
    pod,
    storage_class,
    volume,
)

SPREAD: Json = {
    "topologyKey": "rack",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Near"}]},
}
GANG: Json = {"schedulingGroup": {"podGroupName": "training"}}
RULES: Json = {"restartPolicyRules": [{"action": "RestartAllContainers"}]}


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ({}, ()),
        (
            {
                "volumes": [
                    {"name": kind, kind: {}} for kind in ("emptyDir", "secret", "csi", "nfs")
                ]
            },
            (),
        ),
        (
            {"resourceClaims": [{"name": "gpu", "resourceClaimName": "x"}]},
            ("resource claim gpu (dynamic resource allocation)",),
        ),
        (GANG, ("scheduling group training (all pods of a group at once)",)),
        (
            {"workloadRef": {"name": "w", "podGroup": "workers"}},
            ("scheduling group workers (all pods of a group at once)",),
        ),
        (
            {"volumes": [{"name": "a", "awsElasticBlockStore": {"volumeID": "x"}}]},
            ("volume of kind awsElasticBlockStore",),
        ),
        ({"volumes": [{"name": "a", "hologram": {}}]}, ("volume of kind hologram",)),
        ({"tolerations": [{"operator": "Near"}]}, ("toleration operator Near",)),
        ({"topologySpreadConstraints": [SPREAD]}, ("label selector operator Near",)),
        (
            {"containers": [container(**RULES)]},
            ("restart rule RestartAllContainers (a feature that nodes must declare)",),
        ),
        (
            {"hostNetwork": True, "hostUsers": False},
            ("user namespaces on the host network (a feature that nodes must declare)",),
        ),
        (
            {"containers": [container(requests={"deviceclass.resource.kubernetes.io/x": "1"})]},
            ("extended resource deviceclass.resource.kubernetes.io/x (served by a device class)",),
        ),
    ],
)
def test_what_cannot_be_judged_is_named(spec: Json, names: tuple[str, ...]) -> None:
    assert unsupported(pod(**spec), cluster()) == names


def test_unknown_node_affinity_operators_are_named() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    made = pod(affinity={"nodeAffinity": required})
    assert unsupported(made, cluster()) == ("node affinity operator Near",)


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize("where", ["labelSelector", "namespaceSelector"])
def test_unknown_operators_between_pods_are_named(kind: str, where: str) -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Near"}]}
    required = [{"topologyKey": "rack", where: selector}]
    made = pod(affinity={kind: {"requiredDuringSchedulingIgnoredDuringExecution": required}})
    assert unsupported(made, cluster()) == ("label selector operator Near",)


def test_operators_that_are_known_are_not_named() -> None:
    known = [{"key": "a", "operator": "Exists"}]
    required = {"nodeSelectorTerms": [{"matchExpressions": known}]}
    made = pod(
        tolerations=[{"operator": "Exists"}],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        topologySpreadConstraints=[SPREAD | {"labelSelector": {"matchExpressions": known}}],
        **mounting("missing"),
    )
    assert unsupported(made, cluster()) == ()


def test_an_extended_resource_of_a_device_class_is_named() -> None:
    served = objects.decode_device_class(
        b'{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}}'
    )
    made = pod(requests={"example.com/gpu": "1"})
    assert unsupported(made, cluster()) == ()
    assert unsupported(made, cluster(served)) == (
        "extended resource example.com/gpu (served by a device class)",
    )


def test_volumes_that_a_driver_took_over_from_the_cloud_are_named() -> None:
    old = volume(gcePersistentDisk={"pdName": "x"})
    assert unsupported(pod(**mounting("data")), cluster(claim(volume="disk"), old)) == (
        "persistent volume of kind gcePersistentDisk",
    )


def test_in_tree_provisioners_are_named_while_the_claim_is_open() -> None:
    old = storage_class(provisioner="kubernetes.io/aws-ebs")
    user = pod(**mounting("data"))
    open_claim = claim(storageClassName="waiting")
    assert unsupported(user, cluster(open_claim, old)) == (
        "in-tree provisioner kubernetes.io/aws-ebs",
    )
    done = claim(volume="disk", storageClassName="waiting")
    assert unsupported(user, cluster(done, old, volume())) == ()


def test_a_driver_that_wants_its_capacity_regarded_is_named() -> None:
    driver = objects.decode_csi_driver(
        b'{"metadata":{"name":"csi.example.com"},"spec":{"storageCapacity":true}}'
    )
    world = cluster(claim(storageClassName="waiting"), storage_class(), driver)
    assert unsupported(pod(**mounting("data")), world) == (
        "storage capacity of driver csi.example.com",
    )
