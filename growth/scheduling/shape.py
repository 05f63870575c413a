"""The shape of a pod: pods of one shape are alike to the scheduler.

A plan treats them as one class, and what was learnt about one of them holds for the others. The
shape is a digest and not an object, as it is written into status and compared after a restart; it
doesn't depend on the order in which anything was written, nor on who owns the pod.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NewType

import msgspec

from growth.scheduling import pod_volumes, requests

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

Shape = NewType("Shape", str)

# Controllers number their pods with these; no selector means a single replica.
_OF_ONE_REPLICA: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "statefulset.kubernetes.io/pod-name",
    }
)
# 80 bits: among a million shapes two are alike by chance once in two million clusters.
_DIGEST_BYTES: Final = 10


def shape_of(pod: Pod) -> Shape:
    """All that the scheduler looks at in a pod that has no node yet."""
    spec, labels = pod.spec, pod.metadata.labels
    seen = (
        pod.metadata.namespace,
        {key: value for key, value in labels.items() if key not in _OF_ONE_REPLICA},
        {
            name: amount
            for name, amount in requests.requests_when_pending(spec).amounts.items()
            if amount
        },
        pod.wanted_nodes,
        sorted(msgspec.structs.astuple(each) for each in spec.tolerations),
        pod.affinity_terms,
        pod.anti_affinity_terms,
        pod.spread_constraints,
        sorted(pod.host_ports),
        _storage(pod),
        (spec.priority, spec.scheduler_name),
        (spec.resource_claims, spec.scheduling_group, spec.workload_ref),
    )
    text = msgspec.json.encode(seen, order="deterministic")
    return Shape(hashlib.blake2b(text, digest_size=_DIGEST_BYTES).hexdigest())


def _storage(pod: Pod) -> list[tuple[str, str, bool]]:
    """Claims by name; ephemeral volumes by their own name, as their claims are each pod's own."""
    return sorted(
        (kind, source.claim_name or source.iqn or name, bool(source.read_only))
        for name, kind, source in pod_volumes.sources(pod.spec.volumes)
        if not pod_volumes.is_placed_anywhere(kind)
    )
