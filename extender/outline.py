"""Decodes pods, and keeps only what the extender reads of them later.

Nearly all pods of a cluster have a node. Of these, the extender only needs the node, the workload
and the requests, which most pods share with others. A pod without a node is kept as it is: whether
it is demand depends on much of its spec.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from growth.scheduling.metadata import Metadata
from growth.scheduling.objects import decode_pod
from growth.scheduling.owners import TEMPLATE_HASH
from growth.scheduling.pod import Pod
from growth.scheduling.pod_spec import PodSpec, PodStatus
from growth.scheduling.resources import Resources

if TYPE_CHECKING:
    from collections.abc import Hashable

MOST: Final = 2**15
"""Shared values of each kind: more than there are nodes or workloads. Beyond that, pods only share
less."""
_NO_WORDS: Final[dict[str, str]] = {}

_Value = TypeVar("_Value", bound="Hashable")


def decode_outline(raw: bytes) -> Pod:
    """A pod; if it has a node, only its identity, place, phase, workload and requests."""
    pod = decode_pod(raw)
    return _outline(pod) if pod.spec.node_name else pod


def _outline(pod: Pod) -> Pod:
    outline = Pod(
        metadata=_identity(pod.metadata),
        spec=_bound_to(pod.spec.node_name),
        status=_in_phase(pod.status.phase),
    )
    # The value that `Pod.requests` would be computed from is left out.
    outline.__dict__["requests"] = _resources(tuple(pod.requests.amounts.items()))
    return outline


def _identity(metadata: Metadata) -> Metadata:
    return Metadata(
        name=metadata.name,
        namespace=_shared(metadata.namespace),
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        labels=_labels(metadata.labels.get(TEMPLATE_HASH)),
        annotations=_NO_WORDS,
        owner_references=_shared(metadata.owner_references),
        deletion_timestamp=metadata.deletion_timestamp,
    )


@lru_cache(maxsize=MOST)
def _first_of_equal(value: Any) -> Any:
    return value


def _shared(value: _Value) -> _Value:
    """The first value that was equal to this one."""
    found: _Value = _first_of_equal(value)
    return found


@lru_cache(maxsize=MOST)
def _bound_to(node_name: str) -> PodSpec:
    return PodSpec(node_name=node_name)


@lru_cache(maxsize=MOST)
def _in_phase(phase: str) -> PodStatus:
    return PodStatus(phase=phase)


@lru_cache(maxsize=MOST)
def _labels(template: str | None) -> dict[str, str]:
    """Only the label from which the name of a Deployment follows."""
    return _NO_WORDS if template is None else {TEMPLATE_HASH: template}


@lru_cache(maxsize=MOST)
def _resources(amounts: tuple[tuple[str, int], ...]) -> Resources:
    return Resources(dict(amounts))
