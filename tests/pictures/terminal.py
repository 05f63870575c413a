"""A terminal as SVG: a window with its lines, in colour; a recording shows each line in its time.

Where nothing moves (an old viewer, a printer) all lines are there from the beginning.

rich draws terminals, too (`export_svg`), but none that moves, and with a font that each reader
would fetch from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.pictures.screen import Line

WIDTH_OF_A_CHARACTER: Final = 7.83
HEIGHT_OF_A_LINE: Final = 17
MARGIN: Final = 16
TITLE: Final = 30
COLOURS: Final = {"": "#d6dae0", "32": "#7ec97e", "33": "#e5c07b", "31": "#f07178", "2": "#7f8794"}
STYLE: Final = (
    "text{font:13px 'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace;white-space:pre}"
    "@keyframes seen{from{opacity:0}to{opacity:1}}"
    ".late{animation:seen .01s linear backwards}"
)


def picture(title: str, lines: Sequence[Line], *, columns: int, speed: float = 0) -> Iterator[str]:
    """The whole window; with a speed, lines come as they came, so many times as fast."""
    width = round(columns * WIDTH_OF_A_CHARACTER + 2 * MARGIN)
    height = TITLE + len(lines) * HEIGHT_OF_A_LINE + 2 * MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" aria-label="{escape(title)}">'
    )
    yield f"<style>{STYLE}</style>"
    yield '<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>'
    for number, colour in enumerate(("#f07178", "#e5c07b", "#7ec97e")):
        yield f'<circle cx="{20 + 18 * number}" cy="17" r="5.5" fill="{colour}"/>'
    place = f'x="{width / 2:.0f}" y="22" text-anchor="middle"'
    yield f'<text {place} fill="#9aa2ae">{escape(title)}</text>'
    for number, line in enumerate(lines):
        if line.text().strip():
            yield _line(line, top=TITLE + MARGIN + (number + 0.75) * HEIGHT_OF_A_LINE, speed=speed)
    yield "</svg>"


def _line(line: Line, *, top: float, speed: float) -> str:
    late = f' class="late" style="animation-delay:{line.at / speed:.2f}s"' if speed else ""
    spans = "".join(
        f'<tspan fill="{COLOURS[run.colour]}">{escape(run.text)}</tspan>' for run in line.runs()
    )
    # The length is said, as another font would let columns drift apart.
    length = f'textLength="{len(line.text()) * WIDTH_OF_A_CHARACTER:.0f}" lengthAdjust="spacing"'
    return f'<text{late} x="{MARGIN}" y="{top:.1f}" xml:space="preserve" {length}>{spans}</text>'
