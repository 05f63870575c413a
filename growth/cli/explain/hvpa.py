"""What an Hvpa has decided about its workload, from its status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.cli.cluster.looking_up import DEFAULT_NAMESPACE
from growth.cli.cluster.names import unknown
from growth.cli.explain.story import Explanation, Fact
from growth.cli.terminal.texts import ago, ahead

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from growth.api.hvpa import Hvpa
    from growth.api.hvpa_status import SizeOfWorkload, SourceInStatus

NOT_SEEN = "growth-sizing has not looked at it yet: is it installed, and does it run?"


def hvpa_named(name: str, namespace: str | None, hvpas: Iterable[Hvpa]) -> Hvpa:
    """The Hvpa; without a namespace, the one in `default` or else the only one of that name."""
    within, _, bare = name.rpartition("/")
    known = {f"{each.metadata.namespace}/{each.name}": each for each in hvpas}
    wanted = namespace or within
    places = [wanted] if wanted else [DEFAULT_NAMESPACE, *_namespaces(known, bare)]
    for place in places:
        if f"{place}/{bare}" in known:
            return known[f"{place}/{bare}"]
    raise unknown(f"{wanted}/{bare}" if wanted else bare, known, kind="hvpa")


def _namespaces(known: Iterable[str], bare: str) -> list[str]:
    found = [each.partition("/")[0] for each in known if each.endswith(f"/{bare}")]
    return found if len(found) == 1 else []


def explained_hvpa(hvpa: Hvpa, now: datetime) -> Explanation:
    """What it says about its workload."""
    status, target = hvpa.status, hvpa.spec.target_ref
    name = f"{hvpa.metadata.namespace}/{hvpa.name}"
    replicas = {
        "replicas": status.current.replicas if status.current else None,
        "desired": status.desired.replicas if status.desired else None,
        "blocked": status.blocked.reason if status.blocked else None,
    }
    return Explanation(
        kind="Hvpa",
        name=name,
        headline=f"hvpa {name}: {target.kind} {target.name}, {_standing(hvpa)}",
        facts=tuple(_facts(hvpa, now)),
        figures=replicas,
    )


def _standing(hvpa: Hvpa) -> str:
    status = hvpa.status
    if not status.conditions:
        return "not looked at yet"
    if status.blocked is not None:
        return f"blocked by {status.blocked.reason}"
    return "on its way to another size" if status.intent is not None else "has its size"


def _facts(hvpa: Hvpa, now: datetime) -> Iterator[Fact]:
    status = hvpa.status
    if not status.conditions:
        yield Fact("status", NOT_SEEN)
        return
    if status.current is not None:
        yield Fact("now", _size(status.current))
    if status.desired is not None:
        yield Fact("should have", _size(status.desired))
    if status.decided_by is not None:
        by = status.decided_by
        told = f"the {by.source}: {by.total} of {by.resource} for {by.container} in all replicas"
        yield Fact("decided by", told)
    for source in status.sources:
        yield Fact(source.name.value, _said(source))
    if status.blocked is not None:
        until = status.blocked.until
        end = f" (ends {ahead(until, now)})" if until else ""
        yield Fact("blocked", f"{status.blocked.reason}: {status.blocked.message}{end}")
    if status.last_scaling is not None:
        last = status.last_scaling
        yield Fact("last change", f"{ago(last.at, now)}, to {_size(last.after)}")


def _said(source: SourceInStatus) -> str:
    if not source.trusted:
        return f"not believed: {source.reason}"
    totals = [
        f"{amount} of {name} for {each.name}"
        for each in source.totals
        for name, amount in (("cpu", each.cpu), ("memory", each.memory))
        if amount is not None
    ]
    return ", ".join(totals) or "recommends nothing"


def _size(size: SizeOfWorkload) -> str:
    parts = [
        f"{each.name} {amount} of {name}"
        for each in size.containers
        for name, amount in (("cpu", each.cpu), ("memory", each.memory))
        if amount is not None
    ]
    return f"{size.replicas} x {', '.join(parts) or 'pods without requests'}"
