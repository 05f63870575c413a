"""What `growth top` shows: one line for each node, and totals above them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.noderequest import COMING
from growth.cli.cluster import trouble
from growth.cli.cluster.names import ALONE, LEFT_OUT
from growth.cli.cluster.trouble import Trouble
from growth.cli.cost.expenses import currency_when_bought, expense, filled, price_when_bought
from growth.cli.explain.node import plan_of
from growth.cli.terminal.money import added, hourly, hourly_each, the_currency, whole
from growth.cli.terminal.output import coloured
from growth.cli.terminal.tables import aligned
from growth.cli.terminal.texts import ahead, counted
from growth.demand.detection import is_demand
from growth.keeping.marks import pool_of_node, type_of_node
from growth.scheduling.resources import CPU, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.cli.cluster.names import ShortNames
    from growth.cli.cluster.survey import Survey
    from growth.scheduling.node import Node

COLUMNS: Final = (
    *("NODE", "TYPE", "CPU", "MEMORY", "PODS", "PLAN"),
    *("PER HOUR", "WASTE", "HERE BECAUSE"),
)
TO_THE_RIGHT: Final = frozenset({"PODS", "PLAN", "PER HOUR", "WASTE"})
WIDTH: Final = 100
BAR: Final = 8
LONGEST_NAME: Final = 15
LONGEST_TYPE: Final = 9
FULL: Final = 0.8
HALF: Final = 0.5


class NodeBar(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A node."""

    name: str
    pool: str
    server_type: str
    cpu: float
    memory: float
    pods: int
    planned_pods: int | None
    """The number of pods that it was bought for; None if its plan can't be read."""
    hourly_cost: str
    idle_cost: str
    """Cost per hour of resources that no pod requests."""
    currency: str
    """The currency of both."""
    reason: str
    why: str
    owner: str
    until: datetime | None


class FleetBars(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """All of growth's nodes."""

    nodes: tuple[NodeBar, ...]
    cpu: float
    memory: float
    hourly_cost: str | None
    """None if there are several currencies."""
    idle_cost: str | None
    pending: int
    coming: int
    """The number of machines on their way."""
    currency: str = ""
    """The currency of all costs, if it is known and the only one."""
    costs: Mapping[str, Decimal] = {}
    """The cost per hour, by currency."""
    idle_costs: Mapping[str, Decimal] = {}
    """The cost per hour of resources that no pod requests, by currency."""
    growth: Trouble | None = None
    """What is wrong with growth itself."""


def fleet_bars(seen: Survey) -> FleetBars:
    """All of growth's nodes, those with the most waste first."""
    ours = [node for name, node in seen.scene.cluster.nodes.items() if name in seen.kept]
    bars = sorted(
        (_bar(node, seen) for node in ours),
        key=lambda bar: (bar.currency, -Decimal(bar.idle_cost), bar.name),
    )
    present = {node.name for node in ours}
    costs = added((bar.currency, Decimal(bar.hourly_cost)) for bar in bars)
    idle = added((bar.currency, Decimal(bar.idle_cost)) for bar in bars)
    return FleetBars(
        nodes=tuple(bars),
        cpu=_together(ours, seen, CPU),
        memory=_together(ours, seen, MEMORY),
        hourly_cost=_written(whole(costs)),
        # In one currency, if the costs are.
        idle_cost=_written(whole(idle)) if whole(costs) is not None else None,
        pending=sum(is_demand(pod) for pod in seen.pending),
        coming=sum(
            name not in present and request.status.phase in COMING
            for name, request in seen.scene.requests.items()
        ),
        currency=the_currency(costs, seen.currency),
        costs=costs,
        idle_costs=idle,
        growth=seen.trouble,
    )


def _written(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _bar(node: Node, seen: Survey) -> NodeBar:
    held, keeping = seen.scene.cluster.occupancy(node.name), seen.kept[node.name]
    return NodeBar(
        name=node.name,
        pool=pool_of_node(node),
        server_type=str(type_of_node(node)),
        cpu=round(filled(node, held, CPU), 4),
        memory=round(filled(node, held, MEMORY), 4),
        pods=len(held.keepers),
        planned_pods=_planned(node),
        hourly_cost=str(price_when_bought(node)),
        idle_cost=f"{expense(node, held).idle:.6f}",
        currency=currency_when_bought(node, seen),
        reason=keeping.reason.value,
        why=keeping.why,
        owner=keeping.owner,
        until=keeping.until,
    )


def _planned(node: Node) -> int | None:
    # Everyone with write access to nodes can overwrite it.
    pods = plan_of(node).get("pods")
    return pods if isinstance(pods, int) else None


def _together(nodes: list[Node], seen: Survey, resource: str) -> float:
    """The requested share of a resource over all nodes."""
    room = sum(node.allocatable[resource] for node in nodes)
    taken = sum(seen.scene.cluster.occupancy(node.name).requested[resource] for node in nodes)
    return round(taken / room, 4) if room else 0.0


def fleet_lines(
    found: FleetBars, now: datetime, names: ShortNames = ALONE, *, most: int | None = None
) -> Iterator[str]:
    """The fleet as text; nodes that don't fit into the window are counted."""
    yield from trouble.trouble_line(found.growth)
    yield _total(found)
    if found.pending or found.coming:
        yield _moving(found)
    if not found.nodes:
        yield "No nodes of growth."
        return
    yield ""
    bars = found.nodes if most is None else found.nodes[:most]
    rows = (_row(bar, found, now, names) for bar in bars)
    lines = list(aligned([COLUMNS, *rows], to_the_right=TO_THE_RIGHT))
    yield lines[0]
    for line, bar in zip(lines[1:], bars, strict=True):
        yield _painted(line[:WIDTH].rstrip(), bar)
    if len(found.nodes) > len(bars):
        yield f"and {counted(len(found.nodes) - len(bars), 'other node')}"


def _total(found: FleetBars) -> str:
    parts = [
        counted(len(found.nodes), "node"),
        f"cpu {bar(found.cpu)} {found.cpu * 100:.0f} %",
        f"memory {bar(found.memory)} {found.memory * 100:.0f} %",
        f"{hourly_each(found.costs, found.currency)} per hour",
        f"{hourly_each(_named(found.idle_costs, found))} of it idle",
    ]
    return " · ".join(parts)


def _named(costs: Mapping[str, Decimal], found: FleetBars) -> Mapping[str, Decimal]:
    """An amount, with its currency only if there are several; otherwise the total names it."""
    return costs if len(found.costs) > 1 else {"": sum(costs.values(), Decimal(0))}


def _moving(found: FleetBars) -> str:
    pods, wait = counted(found.pending, "pod"), "waits" if found.pending == 1 else "wait"
    return f"{pods} {wait} · {counted(found.coming, 'node')} on the way"


def _row(found: NodeBar, fleet: FleetBars, now: datetime, names: ShortNames) -> tuple[str, ...]:
    currency = found.currency if len(fleet.costs) > 1 else ""
    return (
        ending(names.of(found.name), LONGEST_NAME),
        shortened(found.server_type, LONGEST_TYPE),
        f"{bar(found.cpu)} {found.cpu * 100:3.0f}%",
        f"{bar(found.memory)} {found.memory * 100:3.0f}%",
        str(found.pods),
        "-" if found.planned_pods is None else str(found.planned_pods),
        hourly(found.hourly_cost, currency),
        hourly(found.idle_cost),
        _reason(found, now),
    )


def _reason(found: NodeBar, now: datetime) -> str:
    if found.until is None:
        return found.reason
    return f"{found.reason}, {ahead(found.until, now)}"


def bar(part: float) -> str:
    """A bar in steps of an eighth, for a share between 0 and 1."""
    filled_cells = min(BAR, max(0, round(part * BAR)))
    return "█" * filled_cells + "░" * (BAR - filled_cells)


def ending(name: str, most: int) -> str:
    """The end of a name that is still too long, because the end distinguishes it from others."""
    return name if len(name) <= most else f"{LEFT_OUT}{name[1 - most :]}"


def shortened(name: str, most: int) -> str:
    """A long name without its middle."""
    return name if len(name) <= most else f"{name[: most - 7]}…{name[-6:]}"


def _painted(line: str, found: NodeBar) -> str:
    fullest = max(found.cpu, found.memory)
    match fullest:
        case _ if fullest >= FULL:
            return coloured(line, "green")
        case _ if fullest >= HALF:
            return line
        case _:
            return coloured(line, "yellow")
