"""The objects of stories, as a person would apply them.

Stories are told side by side in one real cluster. A label that all machines, nodes and pods of a
story have keeps them from those of the others, and the names of pools and classes begin with it.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from growth.api.wellknown import GROUP_VERSION, POOL_LABEL

Document = dict[str, Any]

STORY_LABEL: Final = "story"
WORKLOAD_LABEL: Final = "app"
HOST: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
DEFAULT_POOL: Final = "default"
"""The one pool that keeps its name, so only one story can have it."""


class Offer(msgspec.Struct, frozen=True):
    """A type in one place."""

    location: str
    price: str
    labels: dict[str, str] = {}


def server_type(
    name: str, cpu: str, memory: str, *offers: Offer, architecture: str = "amd64", **others: str
) -> Document:
    return {
        "name": name,
        "architecture": architecture,
        "resources": {"cpu": cpu, "memory": memory, "pods": "110", **others},
        "offers": [msgspec.structs.asdict(offer) for offer in offers],
    }


# Twice a type costs less than the next larger one. So pods that fill a machine get one each,
# however many of them a plan sees at a time: on a busy machine that is nobody's to say.
SMALL: Final = server_type("small", "2", "4Gi", Offer("here", "0.010"), Offer("there", "0.011"))
MEDIUM: Final = server_type("medium", "4", "8Gi", Offer("here", "0.025"), Offer("there", "0.027"))
LARGE: Final = server_type("large", "8", "16Gi", Offer("here", "0.060"))
ARM: Final = server_type("arm", "4", "8Gi", Offer("there", "0.023"), architecture="arm64")
PLENTY: Final = 20


def named(story: str, name: str) -> str:
    """What a pool or a class of a story is called in the cluster."""
    return name if name == DEFAULT_POOL else f"{story}-{name}"


class Catalogue(msgspec.Struct, frozen=True):
    """The cloud of a story."""

    types: tuple[Document, ...] = (SMALL, MEDIUM, LARGE)
    boot: str = "300ms"
    faults: tuple[Document, ...] = ()

    def document(self, story: str) -> Document:
        return {
            "apiVersion": GROUP_VERSION,
            "kind": "KwokNodeClass",
            "metadata": {"name": named(story, "cloud")},
            "spec": {
                "types": list(self.types),
                "bootDelay": {"min": self.boot, "max": self.boot},
                "faults": list(self.faults),
            },
        }


class Pool(msgspec.Struct, frozen=True):
    """A pool, and how many of which type it may have."""

    name: str
    types: dict[str, int]
    more: Document = {}
    """Further fields of its spec."""

    def document(self, story: str) -> Document:
        spec = {
            "nodeClassRef": {"kind": "KwokNodeClass", "name": named(story, "cloud")},
            "serverTypes": [{"name": name, "max": most} for name, most in self.types.items()],
            "labels": {STORY_LABEL: story},
            # Machines that are idle or half empty between two chapters stay.
            "scaleDown": {"idleAfter": "1h"},
            "disruption": {"consolidation": "Never"},
        }
        return {
            "apiVersion": GROUP_VERSION,
            "kind": "NodePool",
            "metadata": {"name": named(story, self.name)},
            "spec": spec | self.more,
        }


class Template(msgspec.Struct, frozen=True):
    """What pods of one workload have in common."""

    cpu: str = ""
    memory: str = ""
    pools: tuple[str, ...] = ("main",)
    """None of them named: the pod is for the default pool. Several: whichever."""
    select: dict[str, str] = {}
    more: Document = {}
    """Further fields of the pod's spec."""
    asks: dict[str, str] = {}
    """Further resources."""
    annotations: dict[str, str] = {}

    def but(self, **changes: Any) -> Template:
        """The same, except for this."""
        return msgspec.structs.replace(self, **changes)

    def document(self, story: str, workload: str) -> Document:
        requests = {"cpu": self.cpu, "memory": self.memory, **self.asks}
        requests = {name: amount for name, amount in requests.items() if amount}
        resources = {"requests": requests, "limits": self.asks}
        spec = {
            "containers": [{"name": "main", "image": "none", "resources": resources}],
            "nodeSelector": {STORY_LABEL: story, **self.select, **self._pool_selector(story)},
            **self._pool_affinity(story),
            **self.more,
        }
        labels = {STORY_LABEL: story, WORKLOAD_LABEL: workload}
        return {"metadata": {"labels": labels, "annotations": self.annotations}, "spec": spec}

    def _pool_selector(self, story: str) -> dict[str, str]:
        return {POOL_LABEL: named(story, self.pools[0])} if len(self.pools) == 1 else {}

    def _pool_affinity(self, story: str) -> Document:
        if len(self.pools) < 2:
            return {}
        values = [named(story, pool) for pool in self.pools]
        expressions = [{"key": POOL_LABEL, "operator": "In", "values": values}]
        wanted = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": wanted}
        return {"affinity": {"nodeAffinity": required}}


class Deployment(msgspec.Struct, frozen=True):
    """So many pods of a template."""

    name: str
    replicas: int
    template: Template

    def document(self, story: str) -> Document:
        template = self.template.document(story, self.name)
        selector = {"matchLabels": template["metadata"]["labels"]}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": self.name, "namespace": story},
            "spec": {"replicas": self.replicas, "selector": selector, "template": template},
        }


class DaemonSet(msgspec.Struct, frozen=True):
    """A pod on every node of the story."""

    name: str
    template: Template

    def document(self, story: str) -> Document:
        template = self.template.document(story, self.name)
        return {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": self.name, "namespace": story},
            "spec": {
                "selector": {"matchLabels": template["metadata"]["labels"]},
                "template": template,
            },
        }


class Pod(msgspec.Struct, frozen=True):
    """A pod that nobody owns."""

    name: str
    template: Template

    def document(self, story: str) -> Document:
        made = self.template.document(story, self.name)
        metadata = {"name": self.name, "namespace": story, **made["metadata"]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": made["spec"]}


class Node(msgspec.Struct, frozen=True):
    """A node that growth didn't buy; pods of the pool may use it."""

    name: str
    cpu: str
    memory: str
    pool: str = "main"
    zone: str = "here"

    def document(self, story: str) -> Document:
        labels = {
            STORY_LABEL: story,
            POOL_LABEL: named(story, self.pool),
            HOST: named(story, self.name),
            ZONE: self.zone,
        }
        amounts = {"cpu": self.cpu, "memory": self.memory, "pods": "110"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": named(story, self.name),
                "labels": labels,
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
            "status": {"capacity": amounts, "allocatable": amounts},
        }


Object = Catalogue | Pool | Deployment | DaemonSet | Pod | Node
