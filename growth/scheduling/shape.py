"""The shape of a pod: pods of the same shape are equal to the scheduler.

A plan treats them as one class, and what is learned about one of them holds for the others. The
shape is a digest, because it is written into status and compared after a restart. It doesn't depend
on the order of fields or on the owner of the pod.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NewType

import msgspec

from growth.scheduling import pod_volumes, requests

if TYPE_CHECKING:
    from growth.scheduling.pod import Pod

Shape = NewType("Shape", str)

# Controllers number their pods with these labels. Selectors don't select single replicas by them,
# and without them the replicas have one shape.
_OF_ONE_REPLICA: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "statefulset.kubernetes.io/pod-name",
    }
)
# 80 bits: with a million shapes in a cluster, a collision has a chance of less than 1 in 10**12.
_DIGEST_BYTES: Final = 10


def shape_of(pod: Pod) -> Shape:
    """A digest of everything that the scheduler looks at in a pod without a node."""
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
        # Sorted: to the scheduler the order makes no difference, and a template and its pod may
        # differ in it.
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
    """Claims by name, and ephemeral volumes by their own name, as each pod has its own claims."""
    return sorted(
        (kind, source.claim_name or source.iqn or name, bool(source.read_only))
        for name, kind, source in pod_volumes.sources(pod.spec.volumes)
        if not pod_volumes.is_placed_anywhere(kind)
    )
