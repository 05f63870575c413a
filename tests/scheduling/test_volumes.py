from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from growth.scheduling import objects
from growth.scheduling.fits import FITS, Rejected, RejectionReason, feasible_nodes, verdict
from tests.scheduling.build import (
    ZONE,
    Json,
    claim,
    cluster,
    csi_node,
    mounting,
    node,
    pod,
    storage_class,
    volume,
)

if TYPE_CHECKING:
    from growth.scheduling.cluster import Object
    from growth.scheduling.verdicts import Verdict

A = node("a", labels={ZONE: "za"})
B = node("b", labels={ZONE: "zb"})
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def placed(new: objects.Pod, *world: Object) -> list[str]:
    return [each.name for each in feasible_nodes(new, cluster(A, B, *world))]


def on_a(new: objects.Pod, *world: Object) -> Verdict:
    return verdict(new, A, cluster(A, B, *world))


USER = pod(**mounting("data"))


@pytest.mark.parametrize(
    ("world", "problem"),
    [
        pytest.param([], "its claim data doesn't exist", id="missing"),
        pytest.param(
            [claim(volume="disk", phase="Lost")],
            "its claim data has lost its volume disk",
            id="lost",
        ),
        pytest.param(
            [
                claim(volume="disk", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
                volume(),
            ],
            "its claim data is being deleted",
            id="being deleted",
        ),
        pytest.param(
            [claim(storageClassName="at-once"), storage_class("at-once", mode="Immediate")],
            "its claim data is not yet bound to a volume",
            id="unbound though it should be at once",
        ),
        pytest.param(
            [claim(storageClassName="nowhere")],
            "its claim data is unbound, and its storage class nowhere doesn't exist",
            id="of a class that doesn't exist",
        ),
        pytest.param([claim()], "its claim data is not yet bound to a volume", id="of no class"),
        pytest.param(
            [claim(volumeName="disk", storageClassName="waiting"), storage_class(), volume()],
            "its claim data is not yet bound to its volume disk",
            id="reserved, but not bound yet",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_keeps_its_pod_off_every_node(
    world: list[Object], problem: str
) -> None:
    assert on_a(USER, *world) == Rejected(RejectionReason.CLAIM, problem)
    assert placed(USER, *world) == []


def test_a_claim_of_another_namespace_is_not_the_pods() -> None:
    elsewhere = claim(volume="disk", metadata={"namespace": "other"})
    assert isinstance(on_a(USER, elsewhere, volume()), Rejected)


def test_a_bound_volume_decides_where_its_pod_goes() -> None:
    world = (claim(volume="disk"), volume(reachable={ZONE: "zb"}))
    assert placed(USER, *world) == ["b"]
    assert on_a(USER, *world) == Rejected(
        RejectionReason.VOLUME_ELSEWHERE,
        f"its volume disk can only be used on nodes with {ZONE}=zb",
    )


def test_a_volumes_node_affinity_passes_over_the_nodes_own_fields() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
    named = volume(nodeAffinity={"required": {"nodeSelectorTerms": terms}})
    assert placed(USER, claim(volume="disk"), named) == ["a", "b"]


def test_a_bound_volume_that_is_gone_keeps_its_pod_off_every_node() -> None:
    assert on_a(USER, claim(volume="disk")) == Rejected(
        RejectionReason.NO_VOLUME, "its volume disk doesn't exist"
    )


@pytest.mark.parametrize(
    ("label", "text", "nodes"),
    [
        (ZONE, "zb", ["b"]),
        (OLD_ZONE, "zb", ["b"]),
        (ZONE, "za__zb", ["a", "b"]),
        (ZONE, "zc", []),
        (ZONE, "", ["a", "b"]),
        ("topology.kubernetes.io/region", "north", []),
    ],
)
def test_zone_labels_of_a_volume(label: str, text: str, nodes: list[str]) -> None:
    labelled = volume(metadata={"labels": {label: text}})
    assert placed(USER, claim(volume="disk"), labelled) == nodes


def test_a_node_without_any_zone_takes_volumes_of_every_zone() -> None:
    bare, labelled = node("bare"), volume(metadata={"labels": {ZONE: "zb"}})
    assert verdict(USER, bare, cluster(bare, claim(volume="disk"), labelled)) == FITS


WAITING = claim(storageClassName="waiting")


def test_a_waiting_claim_goes_where_its_class_can_make_a_volume() -> None:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["zb", "zc"]}]}]
    assert placed(USER, WAITING, storage_class(allowedTopologies=terms)) == ["b"]
    assert placed(USER, WAITING, storage_class()) == ["a", "b"]
    assert placed(USER, WAITING, storage_class(allowedTopologies=[{}])) == []


def test_a_waiting_claim_goes_where_it_was_promised() -> None:
    promised = claim(
        storageClassName="waiting", annotations={"volume.kubernetes.io/selected-node": "b"}
    )
    assert placed(USER, promised, storage_class()) == ["b"]
    assert on_a(USER, promised, storage_class()) == Rejected(
        RejectionReason.VOLUME_ELSEWHERE, "its claim data is being provisioned on b"
    )


LOCAL = storage_class("local", provisioner="kubernetes.io/no-provisioner")
LOCAL_CLAIM = claim(storageClassName="local")


def local(name: str = "disk", /, **more: Any) -> objects.PersistentVolume:
    return volume(name, **{"storageClassName": "local", "reachable": {ZONE: "zb"}} | more)


TABLE: list[tuple[str, Json, Json, bool]] = [
    ("as it is", {}, {}, True),
    ("larger than asked for", {"size": "20Gi"}, {}, True),
    ("too small", {"size": "5Gi"}, {}, False),
    ("of another class", {"storageClassName": "other"}, {}, False),
    ("not available", {"phase": "Released"}, {}, False),
    ("of another form", {"volumeMode": "Block"}, {}, False),
    ("of the same form by default", {"volumeMode": "Filesystem"}, {}, True),
    ("with other attributes", {"volumeAttributesClassName": "gold"}, {}, False),
    ("for reading only", {"accessModes": ["ReadOnlyMany"]}, {}, False),
    ("with more modes", {"accessModes": ["ReadWriteMany", "ReadWriteOnce"]}, {}, True),
    ("being deleted", {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, {}, False),
    ("not selected", {}, {"selector": {"matchLabels": {"kind": "ssd"}}}, False),
    (
        "selected",
        {"metadata": {"labels": {"kind": "ssd"}}},
        {"selector": {"matchLabels": {"kind": "ssd"}}},
        True,
    ),
    ("of another claim", {"claimRef": {"namespace": "shop", "name": "other"}}, {}, False),
    (
        "reserved for the claim, though not available",
        {"claimRef": {"namespace": "shop", "name": "data"}, "phase": "Pending"},
        {},
        True,
    ),
    (
        "reserved for an earlier claim of that name",
        {"claimRef": {"namespace": "shop", "name": "data", "uid": "earlier"}},
        {},
        False,
    ),
]


@pytest.mark.parametrize(
    ("of_volume", "of_claim", "serves"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_which_free_volume_serves_a_claim(of_volume: Json, of_claim: Json, *, serves: bool) -> None:
    asked = claim(storageClassName="local", **of_claim)
    assert placed(USER, asked, LOCAL, local(**of_volume)) == (["b"] if serves else [])


def test_a_claim_without_a_free_volume_is_told_so() -> None:
    assert on_a(USER, LOCAL_CLAIM, LOCAL, local()) == Rejected(
        RejectionReason.NO_VOLUME, "its claim data can't get a volume on the node"
    )


def test_a_volume_reserved_for_the_claim_elsewhere_leaves_no_choice() -> None:
    reserved = local("mine", claimRef={"namespace": "shop", "name": "data"})
    free = local("free", reachable={ZONE: "za"})
    assert placed(USER, LOCAL_CLAIM, LOCAL, reserved, free) == ["b"]


def test_two_claims_need_two_volumes_and_the_small_one_leaves_the_large_volume() -> None:
    both = pod(**mounting("large", "small"))
    claims = (
        claim("large", size="20Gi", storageClassName="local"),
        claim("small", size="5Gi", storageClassName="local"),
    )
    large, small = local("x", size="20Gi"), local("y", size="10Gi")
    assert placed(both, *claims, LOCAL, large) == []
    assert placed(both, *claims, LOCAL, large, small) == ["b"]


def test_claims_of_one_size_choose_in_the_order_of_the_pods_volumes() -> None:
    fast = {"matchLabels": {"kind": "ssd"}}
    claims = (
        claim("any", storageClassName="local"),
        claim("fast", storageClassName="local", selector=fast),
    )
    volumes = (local("a", metadata={"labels": {"kind": "ssd"}}), local("b"))
    assert placed(pod(**mounting("fast", "any")), *claims, LOCAL, *volumes) == ["b"]
    assert placed(pod(**mounting("any", "fast")), *claims, LOCAL, *volumes) == []


def test_a_claim_that_is_mounted_twice_looks_for_two_volumes() -> None:
    twice: Json = {
        "volumes": [
            {"name": name, "persistentVolumeClaim": {"claimName": "data"}} for name in ("x", "y")
        ]
    }
    assert placed(pod(**twice), LOCAL_CLAIM, LOCAL, local("a")) == []
    assert placed(pod(**twice), LOCAL_CLAIM, LOCAL, local("a"), local("b")) == ["b"]


def test_the_beta_annotation_names_the_class_too() -> None:
    annotated = claim(annotations={"volume.beta.kubernetes.io/storage-class": "waiting"})
    assert placed(USER, annotated, storage_class()) == ["a", "b"]


EPHEMERAL: Json = {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]}


def test_the_claim_of_an_ephemeral_volume_must_be_there_and_belong_to_the_pod() -> None:
    user = pod("job", metadata={"uid": "mine"}, **EPHEMERAL)

    def made_for(uid: str) -> objects.PersistentVolumeClaim:
        owner = {"kind": "Pod", "name": "job", "uid": uid, "controller": True}
        return claim(
            "job-scratch", storageClassName="waiting", metadata={"ownerReferences": [owner]}
        )

    assert on_a(user) == Rejected(RejectionReason.CLAIM, "its claim job-scratch doesn't exist yet")
    assert on_a(user, made_for("other"), storage_class()) == Rejected(
        RejectionReason.CLAIM, "its claim job-scratch wasn't created for this pod"
    )
    assert placed(user, made_for("mine"), storage_class()) == ["a", "b"]


def test_a_claim_for_one_pod_serves_one_pod_in_the_whole_cluster() -> None:
    alone = claim(volume="disk", accessModes=["ReadWriteOncePod"])
    first = pod("first", on="b", **mounting("data"))
    assert placed(USER, alone, volume()) == ["a", "b"]
    assert on_a(USER, alone, volume(), first) == Rejected(
        RejectionReason.VOLUME_IN_USE, "its claim data is ReadWriteOncePod, and shop/first uses it"
    )


def test_an_ordinary_claim_may_be_shared() -> None:
    first = pod("first", on="b", **mounting("data"))
    assert placed(USER, claim(volume="disk"), volume(), first) == ["a", "b"]


@pytest.mark.parametrize(
    ("first_reads", "second_reads", "nodes"),
    [(True, True, ["a", "b"]), (True, False, ["b"]), (False, True, ["b"])],
)
def test_an_iscsi_target_is_shared_by_readers_only(
    *, first_reads: bool, second_reads: bool, nodes: list[str]
) -> None:
    def mounts(reads: bool) -> Json:  # noqa: FBT001 - the table's own values
        return {"volumes": [{"name": "disk", "iscsi": {"iqn": "iqn.x", "readOnly": reads}}]}

    first = pod("first", on="a", **mounts(first_reads))
    assert placed(pod(**mounts(second_reads)), first) == nodes


def csi(name: str, /) -> objects.PersistentVolume:
    return volume(name, csi={"driver": "csi.example.com", "volumeHandle": name})


def test_a_full_node_takes_no_more_volumes_of_a_driver() -> None:
    first = pod("first", on="a", **mounting("one"))
    world = (claim("one", volume="v1"), csi("v1"), claim("two", volume="v2"), csi("v2"), first)
    limit = csi_node("a", csi_example_com=1)
    new = pod("second", **mounting("two"))
    assert placed(new, *world) == ["a", "b"]
    assert placed(new, *world, limit) == ["b"]
    assert on_a(new, *world, limit) == Rejected(
        RejectionReason.ATTACH_LIMIT,
        "needs 1 more of csi.example.com, and the node uses 1 of 1 already",
    )


def test_a_volume_that_is_there_already_counts_once() -> None:
    first = pod("first", on="a", **mounting("data"))
    world = (claim(volume="v1"), csi("v1"), first, csi_node("a", csi_example_com=1))
    assert placed(USER, *world) == ["a", "b"]


def test_a_volume_that_will_be_made_counts_too() -> None:
    full = csi_node("a", csi_example_com=0)
    assert placed(USER, WAITING, storage_class(), full) == ["b"]


def test_a_volume_that_is_still_attached_counts_without_a_pod() -> None:
    attached = objects.decode_volume_attachment(
        b'{"metadata":{"name":"x"},"spec":{"attacher":"csi.example.com","nodeName":"a",'
        b'"source":{"persistentVolumeName":"v0"}}}'
    )
    limit = csi_node("a", csi_example_com=1)
    world = (claim(volume="v1"), csi("v1"), csi("v0"), limit)
    assert placed(USER, *world) == ["a", "b"]
    assert placed(USER, *world, attached) == ["b"]


def test_a_driver_without_a_limit_attaches_any_number() -> None:
    unlimited = csi_node("a", csi_example_com=None, other_example_com=0)
    assert placed(USER, claim(volume="v1"), csi("v1"), unlimited) == ["a", "b"]


@pytest.mark.parametrize(("opts_in", "nodes"), [("true", ["b"]), ("false", ["a", "b"])])
def test_a_driver_that_opts_in_must_be_on_the_node(opts_in: str, nodes: list[str]) -> None:
    driver = objects.decode_csi_driver(
        b'{"metadata":{"name":"csi.example.com"},"spec":{"preventPodSchedulingIfMissing":%s}}'
        % opts_in.encode()
    )
    there = csi_node("b", csi_example_com=9)
    assert placed(USER, claim(volume="v1"), csi("v1"), driver, there) == nodes
