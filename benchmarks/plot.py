"""What more work achieves: the picture of cost and bound in docs/concepts/solver.md.

The same problems are solved with more and more counted work. Work is counted, not timed, so the
picture is the same on every machine; a tick is about a microsecond on the machine where the stages
were calibrated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.workloads import catalogue, workload
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve_counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

PICTURE: Final = Path("docs/concepts/solver-cost.svg")
WORK: Final = (
    60_000,
    120_000,
    200_000,
    350_000,
    600_000,
    1_100_000,
    1_900_000,
    4_500_000,
    10_000_000,
)
LISTS: Final = {
    "aws": "576 offers, nearly linear prices",
    "hetzner": "57 offers, prices with spreads",
}

A_DAY: Final = 86_400.0
"""The clock must not affect the picture."""

WIDTH, HEIGHT = 380, 250
LEFT, TOP, RIGHT, BOTTOM = 52, 46, 14, 44
LOWEST, HIGHEST = 99.0, 104.0
"""Percent of the best bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One solve: the work it may do, and the result, in percent of the best bound."""

    work: int
    cost: float
    bound: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One price list."""

    listed: str
    points: tuple[Point, ...]
    first_fit: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("--count", type=int, default=10_000, help="pods")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to write it")


def run(arguments: argparse.Namespace) -> int:
    """Solve, print the figures, and draw them."""
    curves = [_curve(listed, arguments.count) for listed in LISTS]
    for curve in curves:
        print(f"{curve.listed}: first-fit {curve.first_fit:.1f} % of the best bound")
        for point in curve.points:
            work = f"{point.work / 1e6:6.2f}M ticks"
            print(f"  {work}  cost {point.cost:7.2f} %  bound {point.bound:7.2f} %")
    arguments.picture.write_text("\n".join(_picture(curves, arguments.count)) + "\n", "utf-8")
    print(f"written to {arguments.picture}")
    return 0


def _curve(listed: str, count: int) -> Curve:
    problem = workload(
        offers=catalogue(listed, 0),
        pods="heavy",
        constraints="on",
        classes=min(100, count),
        count=count,
        seed=0,
    )
    plans = {work: solve_counted(problem, work, seconds=A_DAY) for work in WORK}
    best = max(plan.bound for plan in plans.values())
    points = (
        Point(work=work, cost=100 * plan.cost / best, bound=100 * plan.bound / best)
        for work, plan in plans.items()
    )
    first_fit = 100 * plans[WORK[0]].first_fit_cost / best
    return Curve(listed=listed, points=tuple(points), first_fit=first_fit)


def _picture(curves: Sequence[Curve], count: int) -> Iterator[str]:
    """The whole picture, one chart next to the other."""
    size = f'width="{WIDTH * len(curves)}" height="{HEIGHT}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    yield '<rect width="100%" height="100%" fill="white"/>'
    for number, curve in enumerate(curves):
        yield f'<g transform="translate({WIDTH * number} 0)">'
        yield from _panel(curve, count)
        yield "</g>"
    yield "</svg>"


def _panel(curve: Curve, count: int) -> Iterator[str]:
    title = f"{count:,} pods, {LISTS[curve.listed]}"
    yield _text(LEFT, 16, title, weight="bold")
    yield _text(LEFT, 31, f"first-fit: {curve.first_fit:.0f} % (above the chart)", colour="#777")
    yield from _axes()
    yield _line([(p.work, p.cost) for p in curve.points], "#c2410c")
    yield _line([(p.work, p.bound) for p in curve.points], "#1d4ed8")
    last = curve.points[-1]
    yield _text(_x(last.work) - 66, _y(last.cost) - 8, "cost of the plan", colour="#c2410c")
    yield _text(_x(last.work) - 118, _y(last.bound) + 16, "bound", colour="#1d4ed8")


def _axes() -> Iterator[str]:
    for percent in range(math.ceil(LOWEST), math.floor(HIGHEST) + 1):
        y = _y(percent)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y + 4, f"{percent} %", anchor="end")
    for effort in Effort:
        x = _x(effort.value)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield _text(x, HEIGHT - BOTTOM + 15, effort.name.lower(), anchor="middle")
        seconds = f"≈ {effort.value / 1e6:.3g} s"
        yield _text(x, HEIGHT - BOTTOM + 29, seconds, anchor="middle", colour="#777")


def _x(work: float) -> float:
    first, last = math.log(WORK[0]), math.log(WORK[-1])
    return LEFT + (WIDTH - LEFT - RIGHT) * (math.log(work) - first) / (last - first)


def _y(percent: float) -> float:
    shown = min(max(percent, LOWEST), HIGHEST)
    return TOP + (HEIGHT - TOP - BOTTOM) * (HIGHEST - shown) / (HIGHEST - LOWEST)


def _line(points: Iterable[tuple[float, float]], colour: str) -> str:
    places = " ".join(f"{_x(work):.1f},{_y(percent):.1f}" for work, percent in points)
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#333", weight: str = ""
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}{bold}>{text}</text>"
