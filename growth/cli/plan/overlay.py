"""Files on top of a cluster: the state that applying them would lead to.

An object in a file replaces the object of the same kind and name, as with `kubectl apply`. The pods
of a workload in a file replace those in the cluster; running pods with the same requests count as
its replicas and stay where they are. What growth has learnt about a pool is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from growth.scheduling.expansion import WITH_REPLICAS
from growth.scheduling.owners import Owner, owner_of, workload_of
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.meta import CustomResource
    from growth.cli.plan.cluster import Ours
    from growth.scheduling.cluster import Object

OWNERS: Final = WITH_REPLICAS | {"Job", "DaemonSet"}


Amounts = frozenset[tuple[str, int]]
Replica = tuple[Owner, Amounts]
"""Pods of one owner with the same requests are replicas of each other."""


def owners_in(documents: Iterable[Mapping[str, Any]]) -> frozenset[Owner]:
    """The workloads in the files."""
    return frozenset(
        Owner(
            str(each["kind"]),
            (each.get("metadata") or {}).get("namespace", "default"),
            (each.get("metadata") or {}).get("name", ""),
        )
        for each in documents
        if each.get("kind") in OWNERS
    )


def overlaid(
    live: Iterable[Object], written: Iterable[Object], owners: frozenset[Owner]
) -> Iterator[Object]:
    """The objects of a cluster after files with these `owners` are applied."""
    files = list(written)
    replaced = {_key(each) for each in files}
    missing = Counter(_replica(each) for each in files if isinstance(each, Pod))
    kept = set()
    for each in sorted(live, key=_key):
        if isinstance(each, Pod) and owner_of(each) in owners:
            if each.is_terminating or _is_kept(each, missing):
                kept.add(_key(each))
                yield each
        elif _key(each) not in replaced:
            yield each
    # Of a StatefulSet's pods, those that aren't there are the ones to come.
    for each in sorted(files, key=lambda each: _key(each) in kept):
        if not isinstance(each, Pod):
            yield each
        elif missing[_replica(each)] > 0:
            missing[_replica(each)] -= 1
            yield each


def _is_kept(pod: Pod, missing: Counter[Replica]) -> bool:
    """Whether a running pod is a replica of its owner in the files."""
    if not pod.spec.node_name or pod.is_finished or missing[_replica(pod)] <= 0:
        return False
    missing[_replica(pod)] -= 1
    return True


def _replica(pod: Pod) -> Replica:
    return workload_of(pod), _amounts(pod)


def _amounts(pod: Pod) -> Amounts:
    return frozenset((name, amount) for name, amount in pod.requests.amounts.items() if amount)


def _key(each: Object) -> tuple[str, str, str]:
    return type(each).__name__, each.metadata.namespace, each.metadata.name


def with_files_applied(
    live: Iterable[Ours], written: Iterable[CustomResource]
) -> Iterator[CustomResource]:
    """Objects of growth's kinds; those in files replace those in the cluster."""
    files = {(type(each), each.name): each for each in written}
    for each in live:
        other = files.pop((type(each), each.name), None)
        yield each if other is None else each.model_copy(update={"spec": other.field("spec")})
    yield from files.values()
