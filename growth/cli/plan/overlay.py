"""Files on top of a cluster: what if these were applied?

An object in a file takes the place of the one of its kind and name, as it would with `kubectl
apply`. A workload brings its pods anew; those that run with the same requests are among them, and
stay where they are. What growth has learnt about a pool stays with it.
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
"""Pods of one owner that ask for the same are each other's replicas."""


def owners_in(documents: Iterable[Mapping[str, Any]]) -> frozenset[Owner]:
    """The workloads that files bring."""
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
    """The objects of a cluster in which those of the files were applied; `owners` are theirs."""
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
    """Whether a running pod is one of those that its owner in the files would make."""
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
    """Objects of growth, those of the files in the place of what was there."""
    files = {(type(each), each.name): each for each in written}
    for each in live:
        other = files.pop((type(each), each.name), None)
        yield each if other is None else each.model_copy(update={"spec": other.field("spec")})
    yield from files.values()
