"""Prints what an Hvpa would do now: a few lines for people, one document for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.written import write_time
from growth.cli.terminal.tables import aligned
from growth.scheduling.resources import shown_amount
from sizing.rule.amounts import rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from growth.cli.plan.dry_run import DryRun
    from sizing.rule.amounts import Sized
    from sizing.rule.blocking import Block
    from sizing.rule.sizing import Deciding, WorkloadSize

HEADER: Final = ("SOURCE", "CONTAINER", "RESOURCE", "TOTAL")


def dry_run_lines(report: DryRun) -> Iterator[str]:
    """What would be done, for people."""
    decision = report.decision
    yield f"{report.hvpa}: {report.workload}"
    yield ""
    yield from aligned([HEADER, *_said(report)])
    yield ""
    yield f"now:   {_size(report.present.replicas, _present(report))}"
    yield f"would: {_size(decision.wanted.replicas, decision.wanted.requests)}"
    if decision.decided_by is not None:
        yield f"replicas decided by {_deciding(decision.decided_by)}"
    if decision.blocked is not None:
        yield f"blocked: {_blocked(decision.blocked)}"
    yield from report.remarks


def dry_run_document(report: DryRun) -> dict[str, Any]:
    """What would be done, for programs; CPU in thousandths, memory in bytes."""
    decision = report.decision
    by, blocked = decision.decided_by, decision.blocked
    return {
        "hvpa": report.hvpa,
        "workload": report.workload,
        "sources": [
            {
                "source": each.source.value,
                "totals": _by_container({k: rounded_up(v) for k, v in each.totals.items()}),
                "doubt": each.doubt,
            }
            for each in report.said
        ],
        "now": {
            "replicas": report.present.replicas,
            "requests": _by_container(_present(report)),
        },
        "wanted": _document(decision.wanted),
        "would": _document(decision.size),
        "decidedBy": None
        if by is None
        else {
            "source": by.source.value,
            "container": by.part.container,
            "resource": by.part.resource,
        },
        "blocked": None
        if blocked is None
        else {
            "reason": blocked.reason.value,
            "until": blocked.until and write_time(blocked.until),
        },
        "remarks": list(report.remarks),
    }


def _present(report: DryRun) -> dict[Sized, int]:
    return {part: rounded_up(amount) for part, amount in report.present.requests.items()}


def _said(report: DryRun) -> Iterator[tuple[str, ...]]:
    for each in report.said:
        if each.doubt is not None:
            yield (each.source.value, "-", "-", "-", f"not believed: {each.doubt}")
            continue
        for part, total in sorted(each.totals.items()):
            amount = shown_amount(part.resource, rounded_up(total))
            yield (each.source.value, part.container, part.resource, amount)


def _size(replicas: int, requests: Mapping[Sized, int]) -> str:
    of_a_pod = ", ".join(
        f"{part.container} {shown_amount(part.resource, amount)} of {part.resource}"
        for part, amount in sorted(requests.items())
    )
    return f"{replicas} x {of_a_pod or 'pods without requests'}"


def _deciding(by: Deciding) -> str:
    amount = shown_amount(by.part.resource, rounded_up(by.total))
    return f"{by.source.value}: {amount} of {by.part.resource} for {by.part.container}"


def _blocked(block: Block) -> str:
    return block.reason.value + (f" until {write_time(block.until)}" if block.until else "")


def _document(size: WorkloadSize) -> dict[str, Any]:
    return {
        "replicas": size.replicas,
        "requests": _by_container(size.requests),
        "limits": _by_container(size.limits),
    }


def _by_container(sizes: Mapping[Sized, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for part, amount in sorted(sizes.items()):
        found.setdefault(part.container, {})[part.resource] = amount
    return found
