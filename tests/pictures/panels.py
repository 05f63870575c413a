"""The dashboard as SVG, from its own JSON and what a real Prometheus answers to its queries.

It isn't Grafana that draws here, as that can't be had wherever this runs; places, titles, queries
and legends are those of the dashboard.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

UNIT: Final = 48
"""Pixels of one of the 24 columns; a row is five eighths as high."""
ROW: Final = 30
GAP: Final = 6
COLOURS: Final = (
    *("#73bf69", "#f2cc0c", "#5794f2", "#ff780a", "#b877d9", "#e02f44"),
    *("#37a0c8", "#8ab8ff", "#fade2a", "#ffa6b0"),
)
STYLE: Final = "text{font:11px 'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#ccccdc}"
MOST_LEGENDS: Final = 6
NOTHING: Final = "nothing to show here"
UNITS: Final = {
    "percentunit": (100, " %"),
    "s": (1, " s"),
    "d": (1, " d"),
    "bytes": (2**-20, " MiB"),
    "reqps": (1, "/s"),
}


class Series(NamedTuple):
    """One line of a panel."""

    name: str
    points: Sequence[tuple[float, float]]
    """Seconds since the beginning of the picture, and values."""


def picture(
    dashboard: Mapping[str, Any], answers: Mapping[int, Sequence[Series]], *, seconds: float
) -> Iterator[str]:
    """All panels where they stand."""
    bottom = max(each["gridPos"]["y"] + each["gridPos"]["h"] for each in dashboard["panels"])
    width, height = 24 * UNIT, bottom * ROW + 44
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-label="{escape(dashboard["title"])}">'
    )
    yield f"<style>{STYLE}</style>"
    yield '<rect width="100%" height="100%" fill="#111217"/>'
    title = f"{dashboard['title']} · the last {seconds / 60:.0f} minutes"
    yield _text(12, 27, title, size=16, weight="bold")
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        yield f'<g transform="translate({place["x"] * UNIT} {place["y"] * ROW + 44})">'
        yield from _panel(panel, answers.get(panel["id"], ()), seconds)
        yield "</g>"
    yield "</svg>"


def _panel(panel: Mapping[str, Any], series: Sequence[Series], seconds: float) -> Iterator[str]:
    if panel["type"] == "row":
        yield _text(12, 20, panel["title"], size=13, weight="bold")
        return
    width, height = panel["gridPos"]["w"] * UNIT - GAP, panel["gridPos"]["h"] * ROW - GAP
    yield f'<rect x="3" width="{width}" height="{height}" rx="3" fill="#181b1f" stroke="#2c2f36"/>'
    yield _text(13, 20, panel["title"], weight="bold")
    unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "short")
    if panel["type"] == "stat":
        named = panel.get("options", {}).get("textMode") != "value"
        figures = series if named else [each._replace(name="") for each in series]
        yield from _stat(figures, unit, says=_says(panel), width=width, height=height)
    elif any(each.points for each in series):
        yield from Graph(width=width, height=height, seconds=seconds, unit=unit).drawn(series)
    else:
        yield _text(width / 2, height / 2, NOTHING, anchor="middle", colour="#7b8087")


def _says(panel: Mapping[str, Any]) -> dict[str, str]:
    """Words that stand for values."""
    mappings = panel.get("fieldConfig", {}).get("defaults", {}).get("mappings", ())
    return {value: word["text"] for each in mappings for value, word in each["options"].items()}


def _stat(
    series: Sequence[Series],
    unit: str,
    *,
    says: Mapping[str, str],
    width: float,
    height: float,
) -> Iterator[str]:
    for number, each in enumerate(series):
        middle = width * (2 * number + 1) / (2 * len(series))
        value = written(each.points[-1][1], unit) if each.points else "-"
        value = says.get(value, value)
        yield _text(middle, height / 2 + 16, value, anchor="middle", size=26, colour=COLOURS[0])
        name = each.name.removeprefix("growth-")
        yield _text(middle, height - 14, name, anchor="middle", colour="#9fa7b3")


class Graph(NamedTuple):
    """The part of a panel in which lines are drawn."""

    width: float
    height: float
    seconds: float
    unit: str

    def drawn(self, series: Sequence[Series]) -> Iterator[str]:
        """Scales, lines, and what they are."""
        shown = sorted(series, key=lambda each: -max((v for _, v in each.points), default=0))
        top = _top(
            max((value for each in series for _, value in each.points), default=1), self.unit
        )
        legends = shown[:MOST_LEGENDS]
        bottom = self.height - 34 - 15 * math.ceil(len(legends) / 2)
        for part in (0, 0.5, 1):
            y = bottom - (bottom - 36) * part
            yield f'<path d="M58 {y:.1f}H{self.width - 8:.1f}" stroke="#2c2f36"/>'
            label = written(top * part, self.unit)
            yield _text(53, y + 4, label, anchor="end", colour="#9fa7b3")
        for part in (0.0, 0.5, 1.0):
            x = 58 + (self.width - 74) * part
            label = f"{round(self.seconds * part / 60, 1):g} min"
            anchor = "end" if part == 1 else "middle"
            yield _text(x, bottom + 16, label, anchor=anchor, colour="#9fa7b3")
        for number, each in enumerate(shown):
            for points in unbroken(each.points):
                yield self._line(points, COLOURS[number % len(COLOURS)], top=top, bottom=bottom)
        for number, each in enumerate(legends):
            x, y = 20 + (number % 2) * self.width / 2, bottom + 34 + 15 * (number // 2)
            yield f'<path d="M{x:.0f} {y - 4:.0f}h10" stroke="{COLOURS[number]}" stroke-width="3"/>'
            yield _text(x + 15, y, each.name[:34] or "none", colour="#9fa7b3")

    def _line(
        self, points: Sequence[tuple[float, float]], colour: str, *, top: float, bottom: float
    ) -> str:
        places = " ".join(
            f"{58 + (self.width - 74) * at / self.seconds:.1f},"
            f"{bottom - (bottom - 36) * value / top:.1f}"
            for at, value in points
        )
        return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def unbroken(points: Sequence[tuple[float, float]]) -> Iterator[Sequence[tuple[float, float]]]:
    """Points between which nothing is missing: where a series was away, no line is drawn."""
    steps = [later - sooner for (sooner, _), (later, _) in itertools.pairwise(points)]
    far = 1.5 * min(steps, default=0)
    begun = 0
    for number, step in enumerate(steps, start=1):
        if step > far:
            yield points[begun:number]
            begun = number
    yield points[begun:]


def _top(value: float, unit: str) -> float:
    """The end of a scale: round in the unit in which it is written."""
    factor = UNITS.get(unit, (1, ""))[0]
    return ceiling(value * factor) / factor


def legend(form: str, labels: Mapping[str, str]) -> str:
    """What Grafana makes of a legend such as `{{pool}}, bound`."""
    return re.sub(r"{{\s*(\w+)\s*}}", lambda found: labels.get(found[1], ""), form).strip()


def ceiling(value: float) -> float:
    """The next round number, 1, 2 or 5 of some power of ten; never 0."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if value <= step * power * 1.0001)


def written(value: float, unit: str) -> str:
    """A value as Grafana would write it in this unit."""
    if unit == "s" and 0 < value < 1:
        return f"{1000 * value:.3g} ms"
    factor, word = UNITS.get(unit, (1, ""))
    return f"{factor * value:.3g}{word}"


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    size: int = 11,
    colour: str = "#ccccdc",
    weight: str = "normal",
) -> str:
    style = f'style="font-size:{size}px;font-weight:{weight};fill:{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{escape(text)}</text>'
