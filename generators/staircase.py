"""docs/concepts/sizing.svg: the staircase of the example in docs/examples/sizing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.files import read_documents
from growth.api.hvpa import Hvpa
from growth.scheduling.resources import CPU
from sizing.rule.amounts import Sized
from sizing.rule.sizing import PresentSize
from sizing.rule.staircase import LoadRange, staircase
from sizing.spec import sizing_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sizing.rule.staircase import Stair, Staircase

EXAMPLE: Final = Path(__file__).parents[1] / "docs/examples/sizing/hvpa.yaml"
MAIN: Final = Sized("api", CPU)
CORES: Final = 12
WIDTH, HEIGHT = 380, 240
LEFT, TOP, RIGHT, BOTTOM = 40, 40, 16, 40
UP, DOWN = "#c2410c", "#1d4ed8"


class Panel(NamedTuple):
    """One chart over the load."""

    title: str
    highest: int
    """The upper end of its scale."""


REPLICAS: Final = Panel("replicas", 5)
SIZE: Final = Panel("CPU of a pod", 4)


def staircase_picture() -> str:
    """The whole picture: replicas on the left, the size of a pod on the right."""
    return "\n".join(_picture(_stairs())) + "\n"


def _stairs() -> Staircase:
    found = read_documents([(EXAMPLE.name, EXAMPLE.read_text("utf-8"))])
    (hvpa,) = [each for _, each in found.resources if isinstance(each, Hvpa)]
    load = LoadRange(
        container=MAIN.container,
        lowest={CPU: Fraction(0)},
        highest={CPU: Fraction(CORES * 1000)},
    )
    present = PresentSize(replicas=1, requests={MAIN: Fraction(0)})
    return staircase(sizing_rules(hvpa.spec, [MAIN.container]), present, load)


def _picture(stairs: Staircase) -> Iterator[str]:
    size = f'width="{WIDTH * 2}" height="{HEIGHT}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    yield '<rect width="100%" height="100%" fill="white"/>'
    for place, panel in enumerate((REPLICAS, SIZE)):
        yield f'<g transform="translate({WIDTH * place} 0)">'
        yield from _axes(panel)
        for colour, way, height in ((UP, stairs.up, 16), (DOWN, stairs.down, 29)):
            yield _line(panel, way, colour)
            name = "the load rises" if colour == UP else "the load falls"
            yield _text(WIDTH - RIGHT, height, name, anchor="end", colour=colour)
        yield "</g>"
    yield "</svg>"


def _axes(panel: Panel) -> Iterator[str]:
    yield _text(LEFT, 16, panel.title, weight="bold")
    for value in range(panel.highest + 1):
        y = _y(panel, value)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 6, y + 4, str(value), anchor="end")
    for cores in range(0, CORES + 1, 2):
        yield _text(_x(cores), HEIGHT - BOTTOM + 15, str(cores), anchor="middle")
    yield _text(_x(CORES / 2), HEIGHT - BOTTOM + 31, "CPU of all pods together", anchor="middle")


def _line(panel: Panel, way: Iterable[Stair], colour: str) -> str:
    points = " ".join(
        f"{_x(float(end.load[CPU]) / 1000):.1f},{_y(panel, value):.1f}"
        for stair in way
        for end in (stair.first, stair.last)
        for value in [end.size.replicas if panel is REPLICAS else end.size.requests[MAIN] / 1000]
    )
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _x(cores: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * cores / CORES


def _y(panel: Panel, value: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (panel.highest - value) / panel.highest


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#333", weight: str = ""
) -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}{bold}>{text}</text>"
