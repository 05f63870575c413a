"""Rules of volumes: where they are, whether they exist, who has them, how many a node takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential.cases import HOST, ZONE
from tests.differential.constraints.resources import leave
from tests.differential.drafts import ZONES, existing_pod, name_of, one_in

if TYPE_CHECKING:
    from tests.differential.cases import Manifest
    from tests.differential.drafts import Draft

DRIVER = "csi-~.test"
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_BOUND = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
SIZES = ("1023Mi", "1Gi", "1025Mi", "2Gi", "2049Mi", "3Gi")
_CLAIMED = st.sampled_from(("1Gi", "1Gi", "2Gi"))


_FLAWS = ("none", "place", "modes", "modes", "form", "label", "label", "owner")


def volume_node_affinity(draw: st.DrawFn, draft: Draft) -> None:
    """Bound volumes that can be reached from some nodes only."""
    for index in range(draw(st.integers(1, 2))):
        volume = _bound(draft, f"v{index}")
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": _places(draw, draft)}}
        _use(draft.pod, f"v{index}-~")


def volume_zones(draw: st.DrawFn, draft: Draft) -> None:
    """Volumes that say their zone by a label, under its old name or its new one."""
    labels = draw(st.sampled_from((_ZONE_LABELS, _REGION_LABELS)))
    for node in draft.nodes:
        if draw(st.integers(0, 4)):
            label = draw(st.sampled_from((*labels, labels[0])))
            node["metadata"]["labels"][label] = draw(st.sampled_from(ZONES[:2]))
    volume = _bound(draft, "z")
    zones = draw(st.lists(st.sampled_from(ZONES[:2]), min_size=1, max_size=2, unique=True))
    text = "__".join(zones) + draw(st.sampled_from(("", "", "__z")))
    volume["metadata"]["labels"] = {draw(st.sampled_from(labels)): text}
    _use(draft.pod, "z-~")


def wait_for_first_consumer(draw: st.DrawFn, draft: Draft) -> None:
    """Claims whose volume is made where the pod goes, if the class may make it there."""
    storage_class = _storage_class(draft, "late", "WaitForFirstConsumer")
    if draw(st.integers(0, 2)):
        storage_class["allowedTopologies"] = _allowed(draw)
    claim = _claim(draft, "w", storage_class="late-~")
    if draw(st.booleans()):
        node = name_of(draw(st.sampled_from(draft.nodes)))
        claim["metadata"]["annotations"] = {_SELECTED_NODE: node}
    _use(draft.pod, "w-~")


def unbound_claims(draw: st.DrawFn, draft: Draft) -> None:
    """Claims that nothing will bind, each for another reason; one kind is bound after all."""
    kinds = ("bound", "bound", "taken", "taken", "immediate", "no class", "no such class")
    match draw(st.sampled_from(kinds)):
        case "bound":
            _bound(draft, "u")
        case "taken":  # it names its volume, but that belongs to another claim
            _bound(draft, "u")["spec"]["claimRef"] = _reference(draft, "other")
            del draft.extras[-2]["metadata"]["annotations"]
        case "immediate":
            _storage_class(draft, "soon", "Immediate")
            _claim(draft, "u", storage_class="soon-~")
        case "no class":
            _claim(draft, "u", storage_class="")
        case _:
            _claim(draft, "u", storage_class="nowhere-~")
    _use(draft.pod, "u-~")


def static_volumes(draw: st.DrawFn, draft: Draft) -> None:
    """A claim that waits for its pod, and volumes that suit it, or miss it by one property."""
    _claim_static(draw, draft, "s0")
    flaw = draw(st.sampled_from(_FLAWS))
    for index in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        _available(draw, draft, f"a{index}", flaw)


def static_volumes_for_two_claims(draw: st.DrawFn, draft: Draft) -> None:
    """Each claim needs a volume of its own, and a large one must not be wasted on a small claim."""
    for name in ("t0", "t1"):
        _claim_static(draw, draft, name)
    for index in range(draw(st.sampled_from((1, 2, 2, 2, 3)))):
        _available(draw, draft, f"b{index}", draw(st.sampled_from(("none", "none", "place"))))


def _claim_static(draw: st.DrawFn, draft: Draft, name: str) -> None:
    if "static-~" not in map(name_of, draft.extras):
        storage_class = _storage_class(draft, "static", "WaitForFirstConsumer")
        if draw(st.integers(0, 5)):
            storage_class["provisioner"] = "kubernetes.io/no-provisioner"
    claim = _claim(draft, name, storage_class="static-~")
    claim["spec"]["resources"] = {"requests": {"storage": draw(_CLAIMED)}}
    if draw(st.booleans()):
        claim["spec"]["selector"] = {"matchLabels": {"tier": "1"}}
    _use(draft.pod, f"{name}-~")


def iscsi_disks(draw: st.DrawFn, draft: Draft) -> None:
    """Targets that pods mount by themselves: one writer, or readers only."""
    pods = [existing_pod(draw) for _ in range(draw(st.integers(1, 2)))]
    for pod in (draft.pod, *pods):
        target = f"iqn.2001-04.test.~:disk{draw(st.sampled_from('112'))}"
        disk: Manifest = {"iqn": target, "lun": 0, "targetPortal": "10.0.0.1"}
        if draw(st.booleans()):
            disk["readOnly"] = True
        pod["spec"]["volumes"].append({"name": "disk", "iscsi": disk})
    for pod in pods:
        draft.add_existing(pod, draw(st.sampled_from(draft.open_nodes)))


def missing_claims(draw: st.DrawFn, draft: Draft) -> None:
    if draw(st.booleans()):
        _bound(draft, "m")
    if one_in(draw, 3):  # a pod that stands there without its claim disturbs nobody
        pod = existing_pod(draw)
        _use(pod, "gone-~")
        draft.add_existing(pod, draw(st.sampled_from(draft.nodes)))
    _use(draft.pod, "m-~")


def ephemeral_claims(draw: st.DrawFn, draft: Draft) -> None:
    """A claim bears the name that the pod's ephemeral volume will have, but belongs to nobody."""
    volume, name = _bound(draft, "scratch"), "offered-~-scratch"
    volume["spec"]["claimRef"]["name"] = name
    claim = draft.extras[-2]
    claim["metadata"]["name"] = name
    if draw(st.booleans()):  # mounted by its name it is like any other
        _use(draft.pod, name)
        return
    template = {"spec": {key: claim["spec"][key] for key in ("accessModes", "resources")}}
    ephemeral = {"volumeClaimTemplate": template}
    draft.pod["spec"]["volumes"].append({"name": "scratch", "ephemeral": ephemeral})


def read_write_once_pod(draw: st.DrawFn, draft: Draft) -> None:
    mode = draw(st.sampled_from(("ReadWriteOncePod", "ReadWriteOncePod", "ReadWriteOnce")))
    _bound(draft, "o", mode=mode)
    _bound(draft, "other", mode="ReadWriteOncePod")
    pod = existing_pod(draw)
    pod["metadata"]["namespace"] = draft.pod["metadata"]["namespace"]
    if one_in(draw, 3):
        leave(draw, pod)
    _use(pod, draw(st.sampled_from(("o-~", "o-~", "other-~"))))
    draft.add_existing(pod, draw(st.sampled_from(draft.nodes)))
    _use(draft.pod, "o-~")


def attach_limits(draw: st.DrawFn, draft: Draft) -> None:
    """Nodes that take as many volumes as will be on them, or one less."""
    names = [f"l{index}" for index in range(draw(st.integers(1, 3)))]
    for name in names:
        _bound(draft, name)
    for name in names:
        if name == names[0] or draw(st.booleans()):
            _use(draft.pod, f"{name}-~")
    _limit_nodes(draw, draft, names)


def attach_limits_with_volumes_to_come(draw: st.DrawFn, draft: Draft) -> None:
    """A volume that is still to be made counts by the driver of its class."""
    _bound(draft, "k0")
    _storage_class(draft, "later", "WaitForFirstConsumer")
    _claim(draft, "y", storage_class="later-~")
    for name in draw(st.sampled_from((("y",), ("y", "k0")))):
        _use(draft.pod, f"{name}-~")
    _limit_nodes(draw, draft, ["k0"])


def _limit_nodes(draw: st.DrawFn, draft: Draft, names: list[str]) -> None:
    limited = {name_of(extra) for extra in draft.extras if extra["kind"] == "CSINode"}
    for node in draft.open_nodes:
        if name_of(node) in limited:
            continue
        volumes = _attached(draw, draft, node, names[0]) + _attachments(draw, draft, node, names)
        _limit(draw, draft, node, max(0, volumes + draw(st.sampled_from((-1, -1, -1, 0, 0)))))


def _attached(draw: st.DrawFn, draft: Draft, node: Manifest, shared: str) -> int:
    """Puts pods with volumes on the node; the count of different volumes with the pod's own."""
    used = {_claim_of(volume) for volume in draft.pod["spec"]["volumes"]}
    for _ in range(draw(st.integers(0, 2))):
        pod = existing_pod(draw)
        pod["metadata"]["namespace"] = draft.pod["metadata"]["namespace"]
        claim = draw(st.sampled_from((f"x{len(draft.existing)}", shared)))
        if claim != shared:
            _bound(draft, claim)
        _use(pod, f"{claim}-~")
        used.add(f"{claim}-~")
        draft.add_existing(pod, node)
    return len(used)


def _attachments(draw: st.DrawFn, draft: Draft, node: Manifest, names: list[str]) -> int:
    """What is attached counts too, though no pod that is known mounts it; how many that are."""
    if draw(st.booleans()):
        return 0
    name = draw(st.sampled_from((names[0], "free", "free")))
    if name == "free":
        _volume(draft, f"free{len(draft.extras)}")
        name = name_of(draft.extras[-1]).removesuffix("-~")
    draft.extras.append(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttachment",
            "metadata": {"name": f"{name}-{name_of(node)}"},
            "spec": {
                "attacher": DRIVER,
                "nodeName": name_of(node),
                "source": {"persistentVolumeName": f"{name}-~"},
            },
        }
    )
    return 1


def _limit(draw: st.DrawFn, draft: Draft, node: Manifest, count: int) -> None:
    driver: Manifest = {"name": DRIVER, "nodeID": name_of(node)}
    if draw(st.integers(0, 7)):  # a driver that says no limit has none
        driver["allocatable"] = {"count": count}
    draft.extras.append(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": name_of(node)},
            "spec": {"drivers": [driver]},
        }
    )


def _places(draw: st.DrawFn, draft: Draft) -> list[Manifest]:
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        labels = draw(st.sampled_from(draft.nodes))["metadata"]["labels"]
        key = draw(st.sampled_from((ZONE, HOST)))
        values = [draw(st.sampled_from(ZONES)) if key == ZONE else labels[HOST]]
        operator = draw(st.sampled_from(("In", "In", "NotIn")))
        terms.append({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    return terms


def _allowed(draw: st.DrawFn) -> list[Manifest]:
    """One or two different terms, of one or two zones."""
    zones = st.lists(st.sampled_from(ZONES), min_size=1, max_size=2, unique=True).map(sorted)
    terms = draw(st.lists(zones, min_size=1, max_size=2, unique_by=tuple))
    return [{"matchLabelExpressions": [{"key": ZONE, "values": term}]} for term in terms]


def _storage_class(draft: Draft, name: str, mode: str) -> Manifest:
    storage_class: Manifest = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": f"{name}-~"},
        "provisioner": DRIVER,
        "volumeBindingMode": mode,
    }
    draft.extras.append(storage_class)
    return storage_class


def _claim(draft: Draft, name: str, *, storage_class: str) -> Manifest:
    claim: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-~", "namespace": draft.pod["metadata"]["namespace"]},
        "spec": {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    draft.extras.append(claim)
    return claim


def _bound(draft: Draft, name: str, *, mode: str = "ReadWriteOnce") -> Manifest:
    """A claim with its volume, bound to each other; the volume."""
    claim = _claim(draft, name, storage_class="")
    claim["spec"].update(accessModes=[mode], volumeName=f"{name}-~")
    claim["metadata"]["annotations"] = {_BOUND: "yes"}
    volume = _volume(draft, name)
    volume["spec"].update(accessModes=[mode], claimRef=_reference(draft, name))
    return volume


def _available(draw: st.DrawFn, draft: Draft, name: str, flaw: str) -> None:
    """A volume that suits any of the claims if it is large enough, but for the flaw."""
    volume = _volume(draft, name)
    spec = volume["spec"]
    spec.update(storageClassName="static-~", capacity={"storage": _size_of_its_own(draw, draft)})
    volume["metadata"]["labels"] = {"tier": "2" if flaw == "label" else "1"}
    volume["status"] = {"phase": "Available"}
    match flaw:
        case "place":
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": _places(draw, draft)}}
        case "modes":
            modes = (["ReadOnlyMany"], ["ReadOnlyMany"], ["ReadOnlyMany", "ReadWriteOnce"])
            spec["accessModes"] = draw(st.sampled_from(modes))
        case "form":
            spec["volumeMode"] = "Block"
        case "owner":
            spec["claimRef"] = _reference(draft, draw(st.sampled_from(("s0", "other"))))
        case _:
            pass


def _size_of_its_own(draw: st.DrawFn, draft: Draft) -> str:
    """No two volumes of one size: the scheduler takes either of them, as chance has it."""
    taken = [extra["spec"].get("capacity") for extra in draft.extras if "spec" in extra]
    return draw(st.sampled_from([size for size in SIZES if {"storage": size} not in taken]))


def _volume(draft: Draft, name: str) -> Manifest:
    volume: Manifest = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{name}-~"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1000Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": DRIVER, "volumeHandle": f"{name}-~"},
        },
    }
    draft.extras.append(volume)
    return volume


def _reference(draft: Draft, name: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "name": f"{name}-~",
        "namespace": draft.pod["metadata"]["namespace"],
    }


def _use(pod: Manifest, claim: str) -> None:
    volumes = pod["spec"]["volumes"]
    volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": {"claimName": claim}})


def _claim_of(volume: Manifest) -> str:
    claim: str = volume.get("persistentVolumeClaim", {}).get("claimName", "")
    return claim
