"""Can each node class create machines, and can each pool buy?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.kinds import NODE_CLASSES
from growth.api.nodeclass import ANOTHER_WRITER
from growth.api.nodepool import OBSERVING, NodePool
from growth.api.wellknown import SEVERAL_CURRENCIES, TYPES_MISSING
from growth.cli.doctor.examination.finding import fail, ok, warn
from growth.cli.doctor.examination.processes import is_installed

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Finding, Findings

CRI_TELLS_DRIVER_FROM: Final = (1, 37)
"""The Kubernetes release from which the kubelet is announced not to start if containerd can't tell
it the cgroup driver; containerd can since 2.0."""
OLD_CONTAINERD: Final = frozenset({"debian-11", "debian-12", "debian-13"})
"""Images whose packages contain an older containerd for good: Debian updates none in a release."""
NEXT: Final = "docs/guides/install.md has an example: kubectl apply -f docs/examples"


async def examine_node_classes(place: ExaminedCluster) -> Findings:
    """Examine what the provider said about each node class."""
    for kind in NODE_CLASSES.values():
        for document in await place.listed(kind.collection()):
            yield _of_class(document)


def _of_class(document: dict[str, Any]) -> Finding:
    subject, status = f"class {document['metadata']['name']}", document.get("status", {})
    if "observedGeneration" not in status:
        hint = "check whether the reconciler runs and leads"
        return warn(subject, "its provider hasn't been asked yet", hint)
    if blocked := status.get("blocked"):
        hint = "growth tries again by itself; no restart is needed"
        return fail(subject, str(blocked["message"]), hint)
    doubts = [each for each in status.get("conditions", ()) if each["reason"] == "Implausible"]
    if doubts:
        hint = (
            "the last plausible prices stay in use; if the new ones are right, restart the "
            "reconciler"
        )
        return warn(subject, str(doubts[0]["message"]), hint)
    if told := _another_writer(status):
        hint = "runbook GrowthAnotherWriter says how to find out which cluster it is"
        return warn(subject, told, hint)
    if outdated := _outdated(document.get("spec", {})):
        text = f"the containerd of {', '.join(outdated)} is too old for Kubernetes 1.37 or newer"
        hint = "use a snapshot that contains containerd 2 and Kubernetes, and remove version"
        return warn(subject, text, hint)
    return ok(subject, "machines can be created")


def _another_writer(status: dict[str, Any]) -> str:
    """What the class says of another growth that buys there; empty if there is none."""
    found = {each["type"]: each for each in status.get("conditions", ())}
    told = found.get(ANOTHER_WRITER, {})
    return str(told["message"]) if told.get("status") == "True" else ""


def _outdated(spec: dict[str, Any]) -> list[str]:
    """The images on which the installed kubelet is announced not to start."""
    bootstrap = spec.get("bootstrap", {})
    version = str(bootstrap.get("version") or "").removeprefix("v").split(".")
    is_installed_here = bootstrap.get("kind") == "Kubeadm" and version != [""]
    if not is_installed_here or (int(version[0]), int(version[1])) < CRI_TELLS_DRIVER_FROM:
        return []
    return sorted(OLD_CONTAINERD.intersection(spec["images"].values()))


async def examine_pools(place: ExaminedCluster) -> Findings:
    """Examine what the reconciler has written into each pool."""
    documents = await place.listed(NodePool.collection())
    if not documents and await is_installed(place):
        yield warn("pools", "no NodePool exists, so nothing is bought", NEXT)
    for document in documents:
        yield _of_pool(document)


def _of_pool(document: dict[str, Any]) -> Finding:
    name, status = document["metadata"]["name"], document.get("status", {})
    subject, conditions = (
        f"pool {name}",
        {each["type"]: each for each in status.get("conditions", ())},
    )
    seen, generation = status.get("observedGeneration", 0), document["metadata"]["generation"]
    if blocked := status.get("blocked"):
        hint = f"it buys nothing until this is fixed: kubectl edit nodepool {name}"
        return fail(subject, str(blocked["message"]), hint)
    if seen < generation:
        return warn(subject, "no reconciler has read it yet", "check whether one runs and leads")
    if told := _brake_on(name, conditions):
        return warn(subject, *told)
    types = len(document["spec"]["serverTypes"])
    return ok(subject, f"{types} server types, {status.get('ready', 0)} nodes are ready")


def _brake_on(name: str, conditions: dict[str, dict[str, Any]]) -> tuple[str, str] | None:
    """The first condition that restricts the pool, and what to do about it."""
    remedies = {
        OBSERVING: f"growth observe report shows what pool {name} would do",
        "Paused": f"growth resume {name}, or growth resume if all pools are paused",
        "RemovalHeld": "growth removes nothing until the provider's list of "
        "machines is plausible again",
        "LimitReached": f"kubectl edit nodepool {name}, or leave the remaining pods pending",
        TYPES_MISSING: f"kubectl edit nodepool {name}",
        SEVERAL_CURRENCIES: "use one pool per currency; their weights say which is bought first",
    }
    for condition, remedy in remedies.items():
        if conditions.get(condition, {}).get("status") == "True":
            return str(conditions[condition]["message"]), remedy
    return None
