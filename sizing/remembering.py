"""What is remembered of a workload, as it is written in the status of its Hvpa.

All amounts are whole there: thousandths of a CPU and bytes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from growth.api.hvpa_status import ReplicasChange, SizeOfContainer, SizeOfWorkload
from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.rule.amounts import Sized, rounded_up
from sizing.rule.evidence import CountChange
from sizing.rule.sizing import WorkloadSize
from sizing.rule.workload import SizingMemory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.hvpa_status import HvpaStatus
    from sizing.rule.amounts import Sizes
    from sizing.rule.sizing import Rounded

RESOURCES: Final = (CPU, MEMORY)
MEBIBYTE: Final = 1 << 20


def written_amount(resource: str, amount: int) -> str:
    """An amount in full, as short as that allows: 1500m, 2, 512Mi, 1000."""
    if resource == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    return str(amount) if amount % MEBIBYTE else f"{amount // MEBIBYTE}Mi"


def written_size(size: WorkloadSize) -> SizeOfWorkload:
    """A size, as it is written in a status."""
    return SizeOfWorkload(
        replicas=size.replicas, containers=written_containers(size.requests, size.limits)
    )


def written_containers(requests: Rounded, limits: Rounded) -> tuple[SizeOfContainer, ...]:
    """Requests and limits of each container."""
    fields: dict[str, dict[str, str]] = {}
    for amounts, ending in ((requests, ""), (limits, "_limit")):
        for part, amount in sorted(amounts.items()):
            if part.resource in RESOURCES:
                written = written_amount(part.resource, amount)
                fields.setdefault(part.container, {})[part.resource + ending] = written
    return tuple(
        SizeOfContainer.model_validate({"name": name, **amounts})
        for name, amounts in sorted(fields.items())
    )


def written_held(held: Sizes) -> tuple[SizeOfContainer, ...]:
    """The requests at the beginning of a wait."""
    return written_containers({part: rounded_up(each) for part, each in held.items()}, {})


def written_changes(changes: Mapping[Sized, CountChange]) -> tuple[ReplicasChange, ...]:
    """What the VPA said at the last change of replicas."""
    return tuple(
        ReplicasChange(
            container=part.container,
            resource=part.resource,
            before=change.before,
            after=change.after,
            target=written_amount(part.resource, rounded_up(change.target)),
            total=written_amount(part.resource, rounded_up(change.total)),
        )
        for part, change in sorted(changes.items())
    )


def memory_in(status: HvpaStatus) -> SizingMemory:
    """What is remembered."""
    last = status.last_scaling
    return SizingMemory(
        intent=_size(status.intent),
        last_scaled=None if last is None else last.at,
        settled=None if last is None else last.reached_at,
        size=None if last is None else _size(last.after),
        replicas=status.replicas,
        held={part: Fraction(each) for part, each in _amounts(status.held, "")},
        changes=dict(_changes(status.replicas_changes)),
    )


def _size(written: SizeOfWorkload | None) -> WorkloadSize | None:
    if written is None:
        return None
    return WorkloadSize(
        replicas=written.replicas,
        requests=dict(_amounts(written.containers, "")),
        limits=dict(_amounts(written.containers, "_limit")),
    )


def _amounts(containers: Iterable[SizeOfContainer], ending: str) -> Iterator[tuple[Sized, int]]:
    for container in containers:
        for resource in RESOURCES:
            written: Any = getattr(container, resource + ending)
            if written is not None:
                yield Sized(container.name, resource), parse_one(resource, written)


def _changes(written: Iterable[ReplicasChange]) -> Iterator[tuple[Sized, CountChange]]:
    for each in written:
        if each.before and each.after:
            yield (
                Sized(each.container, each.resource),
                CountChange(
                    before=each.before,
                    after=each.after,
                    target=Fraction(parse_one(each.resource, each.target)),
                    total=Fraction(parse_one(each.resource, each.total)),
                ),
            )
