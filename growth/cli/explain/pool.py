"""What a pool has, what prevents it from buying, and why its nodes are kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from growth.api.conditions import Truth
from growth.api.disruption import Consolidation
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import SEVERAL_CURRENCIES, TYPES_MISSING
from growth.api.written import write_time
from growth.cli.cluster.survey import paused
from growth.cli.explain.scaling import scaling_facts
from growth.cli.explain.story import Explanation, Fact
from growth.cli.terminal.money import added, hourly, hourly_each
from growth.cli.terminal.texts import ahead, counted, first_few
from growth.keeping.marks import pool_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from growth.api.disruption import NodeDisruptionBudget
    from growth.api.nodepool import NodePool
    from growth.api.written import Portion
    from growth.cli.cluster.survey import Survey
    from growth.cli.explain.story import Figure


def explained_pool(pool: NodePool, seen: Survey) -> Explanation:
    """The explanation of one pool."""
    status = pool.status
    ready = f"{status.ready} of {status.wanted} wanted nodes are ready"
    others = ((each.currency, each.hourly_cost) for each in status.other_costs)
    costs = added(((status.currency, status.hourly_cost), *others))
    return Explanation(
        kind="NodePool",
        name=pool.name,
        headline=f"{pool.name}: {ready}, {hourly_each(costs, status.currency)} per hour.",
        facts=tuple(_facts(pool, seen)),
        figures=_figures(pool, seen),
    )


def blocked_or_paused(pool: NodePool, now: datetime) -> Iterator[Fact]:
    """What prevents a pool from buying anything."""
    if pool.metadata.deletion_timestamp is not None:
        yield Fact("deleted", "it is being deleted, so it buys nothing")
    if pool.status.blocked is not None:
        yield Fact("blocked", f"it buys nothing: {pool.status.blocked.message}")
    if (pause := paused(pool)) is not None and pause.is_of_mode:
        yield Fact(
            "observes",
            "it buys and removes nothing; growth observe report shows what it would do",
        )
    elif pause is not None:
        end = (
            "until its invalid end time is fixed"
            if pause.until is None
            else (f"until {write_time(pause.until)}, which is {ahead(pause.until, now)}")
        )
        yield Fact("paused", f"it neither buys nor removes nodes {end}")


def _facts(pool: NodePool, seen: Survey) -> Iterator[Fact]:
    now = seen.now.wall
    yield from blocked_or_paused(pool, now)
    for entry in pool.status.server_types:
        if not entry.nodes and not entry.requested:
            continue
        coming = f", {entry.requested} on their way" if entry.requested else ""
        most = next((each.max for each in pool.spec.server_types if each.name == entry.name), None)
        limit = "" if most is None else f"; at most {most}"
        yield Fact("nodes", f"{entry.name}: {entry.ready} of {entry.nodes} ready{coming}{limit}")
    yield from scaling_facts(pool, now)
    yield from _about_prices(pool)
    yield from _limits(pool)
    yield from _budgets(pool)
    yield from _in_flight(pool, seen)
    for reason, text in _kept(pool, seen):
        yield Fact("kept", f"{reason}: {text}")
    for offer in pool.status.unmet_offers:
        if offer.holds(now):
            what = " in ".join(filter(None, (offer.server_type, offer.location))) or "everything"
            again = f"retry {ahead(offer.until, now)}"
            yield Fact("sold out", f"{what}: {again} ({counted(offer.failures, 'refusal')})")
    for without in pool.status.unplaced[:5]:
        name = f"{without.pod.namespace}/{without.pod.name}"
        yield Fact("no place", f"{name}: {without.reason}")
    if (more := len(pool.status.unplaced) - 5) > 0:
        yield Fact("no place", f"and {counted(more, 'other pod')}: see growth status")


def _about_prices(pool: NodePool) -> Iterator[Fact]:
    for condition in pool.status.conditions:
        if condition.status is not Truth.TRUE:
            continue
        if condition.type == TYPES_MISSING:
            yield Fact("not sold", condition.message)
        if condition.type == SEVERAL_CURRENCIES:
            yield Fact("prices", condition.message)


def _limits(pool: NodePool) -> Iterator[Fact]:
    limits, status = pool.spec.limits, pool.status
    if limits.nodes is not None:
        yield Fact("limit", f"{status.wanted} of {counted(limits.nodes, 'node')}")
    if limits.hourly_cost is not None:
        paid, most = hourly(status.hourly_cost), hourly(limits.hourly_cost)
        yield Fact("limit", f"{paid} of {most} per hour")
    for what, amount in (("CPU", limits.cpu), ("memory", limits.memory)):
        if amount is not None:
            yield Fact("limit", f"{amount} of {what} in total")
    if limits.nodes_per_hour is not None:
        yield Fact("limit", f"{counted(limits.nodes_per_hour, 'purchase')} in any hour")


def _budgets(pool: NodePool) -> Iterator[Fact]:
    """How many of its nodes may be replaced while pods run on them."""
    if pool.spec.disruption.consolidation is Consolidation.NEVER:
        yield Fact("budget", "its nodes are never replaced by cheaper ones (consolidation: Never)")
    for budget in pool.spec.disruption.budgets:
        yield Fact("budget", f"{_at_a_time(budget.nodes)}{_when(budget)}")


def _at_a_time(most: Portion) -> str:
    if not most.number:
        return "0: no node in use may be replaced"
    nodes = (
        counted(most.number, "node") if most.unit == "nodes" else f"{most.number} % of its nodes"
    )
    return f"{nodes} in use may be replaced at a time"


def _when(budget: NodeDisruptionBudget) -> str:
    """The reasons and times of the week that a budget applies to; empty if it always applies."""
    reasons = f" for {', '.join(budget.reasons)}" if budget.reasons else ""
    if (window := budget.window) is None:
        return reasons
    days = f" on {', '.join(window.days)}" if window.days else ""
    return f"{reasons}, from {window.start} UTC for {window.duration}{days}"


def _in_flight(pool: NodePool, seen: Survey) -> Iterator[Fact]:
    requests = [each for each in seen.scene.requests.values() if each.spec.pool == pool.name]
    for phase in RequestPhase:
        names = sorted(each.name for each in requests if each.status.phase is phase)
        if names and phase is not RequestPhase.READY:
            yield Fact("requests", f"{len(names)} {phase}: {first_few(names)}")


def _kept(pool: NodePool, seen: Survey) -> Iterator[tuple[str, str]]:
    """The pool's nodes by the reason why they are kept."""
    nodes = seen.scene.cluster.nodes
    names: defaultdict[str, list[str]] = defaultdict(list)
    for name, keeping in seen.kept.items():
        if pool_of_node(nodes[name]) == pool.name:
            names[keeping.reason.value].append(name)
    for reason, found in sorted(names.items(), key=lambda one: (-len(one[1]), one[0])):
        yield reason, f"{counted(len(found), 'node')} ({first_few(found, most=2)})"


def _figures(pool: NodePool, seen: Survey) -> dict[str, Figure]:
    nodes = seen.scene.cluster.nodes
    kept = Counter(
        keeping.reason.value
        for name, keeping in seen.kept.items()
        if pool_of_node(nodes[name]) == pool.name
    )
    pause = paused(pool)
    return {
        "nodes": pool.status.nodes,
        "ready": pool.status.ready,
        "wanted": pool.status.wanted,
        "hourlyCost": str(pool.status.hourly_cost),
        "blocked": None if pool.status.blocked is None else pool.status.blocked.reason,
        "paused": pause is not None,
        "unplaced": len(pool.status.unplaced),
        **{f"kept{reason}": count for reason, count in sorted(kept.items())},
    }
