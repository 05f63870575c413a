"""What the pictures are drawn with, and that those in docs are whole and tell of no machine."""

from __future__ import annotations

import re
import socket
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from tests.docs.pages import links, name_of, pages
from tests.live import ROOT
from tests.pictures import panels, terminal
from tests.pictures.recording import COLUMNS, Piece, recorded
from tests.pictures.screen import BY_ITSELF, Run, Screen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
WANTED = {
    *("demo", "status", "top", "watch", "cost", "explain-pod", "explain-node", "doctor"),
    "dashboard",
}


def seen(*texts: str) -> Screen:
    screen = Screen()
    screen.write(Piece(float(at), text) for at, text in enumerate(texts))
    return screen


def drawn(picture: Iterable[str]) -> ET.Element:
    return ET.fromstring("\n".join(picture))


def texts(picture: ET.Element) -> list[str]:
    return ["".join(each.itertext()) for each in picture.iter(f"{SVG}text")]


def test_colours_are_kept_with_the_characters_that_have_them() -> None:
    [line] = seen("a \x1b[32mok\x1b[0m b\r\n").written()

    assert line.runs() == [Run("a ", ""), Run("ok", "32"), Run(" b", "")]


def test_of_a_view_that_is_drawn_again_the_last_look_stays() -> None:
    frames = ("\x1b[?1049h\x1b[Hone\x1b[K\r\ntwo\x1b[K\r\n\x1b[J", "\x1b[HOne\x1b[K\r\n\x1b[J")

    screen = seen("before\r\n", *frames, "\x1b[?1049lafterwards")

    assert [line.text() for line in screen.written()] == ["One"]


def test_what_no_command_writes_is_not_passed_over() -> None:
    with pytest.raises(NotImplementedError):
        seen("\x1b[5A")


def test_a_line_comes_when_it_came_only_faster() -> None:
    lines = seen("first\r\n", "", "second\r\n").written()

    [first, second] = [
        each
        for each in drawn(terminal.picture("x", lines, columns=80, speed=4))
        if "style" in each.attrib
    ]

    assert first.get("style") == "animation-delay:0.00s"
    assert second.get("style") == "animation-delay:0.50s"


def test_what_was_printed_is_in_the_picture_whatever_it_is() -> None:
    lines = seen("<b> & 'quotes'  two\r\n").written()

    assert "<b> & 'quotes'  two" in texts(drawn(terminal.picture("x", lines, columns=80)))


def test_a_command_sees_a_terminal_of_its_width() -> None:
    script = "import os, sys; print(os.get_terminal_size().columns, sys.stdout.isatty())"

    pieces = recorded([sys.executable, "-c", script], environment={}, seconds=0)

    assert "".join(piece.text for piece in pieces).split() == [str(COLUMNS), "True"]


def panel(kind: str, *series: panels.Series, **more: Any) -> list[str]:
    place = {"x": 0, "y": 0, "w": 8, "h": 8}
    one = {"id": 1, "type": kind, "title": "Nodes", "gridPos": place, **more}
    picture = drawn(panels.picture({"title": "growth", "panels": [one]}, {1: series}, seconds=60))
    return texts(picture)


def test_a_panel_has_its_title_its_legend_and_a_round_scale() -> None:
    told = panel("timeseries", panels.Series("default, ready", [(0, 1), (30, 7)]))

    assert {"Nodes", "default, ready", "10", "5", "0"} <= set(told)


def test_a_panel_without_an_answer_says_so() -> None:
    assert panels.NOTHING in panel("timeseries")
    assert panels.NOTHING in panel("timeseries", panels.Series("none", []))


def test_where_a_series_was_away_no_line_is_drawn() -> None:
    points = [(0.0, 1.0), (2.0, 1.0), (20.0, 3.0), (22.0, 3.0)]

    assert list(panels.unbroken(points)) == [points[:2], points[2:]]
    assert list(panels.unbroken(points[:1])) == [points[:1]]


def test_a_figure_is_the_last_that_was_seen() -> None:
    assert "3" in panel("stat", panels.Series("leading", [(0, 1), (10, 3)]))


def test_a_figure_is_told_in_the_words_of_its_panel_without_its_legend() -> None:
    mapped = {"type": "value", "options": {"1": {"text": "one leads"}}}
    told = panel(
        "stat",
        panels.Series("leading", [(0, 1)]),
        fieldConfig={"defaults": {"mappings": [mapped]}},
        options={"textMode": "value"},
    )
    assert "one leads" in told
    assert "leading" not in told


def test_a_legend_is_filled_in_from_the_labels() -> None:
    assert panels.legend("{{pool}}, {{ of }}{{gone}}", {"pool": "gpu", "of": "used"}) == "gpu, used"


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (0.25, "percentunit", "25 %"),
        (0.0123, "s", "12.3 ms"),
        (2, "s", "2 s"),
        (2**21, "bytes", "2 MiB"),
    ],
)
def test_a_value_bears_its_unit(value: float, unit: str, told: str) -> None:
    assert panels.written(value, unit) == told


@pytest.mark.parametrize(("value", "top"), [(0, 1), (0.3, 0.5), (1, 1), (7, 10), (21, 50)])
def test_a_scale_ends_at_a_round_number(value: float, top: float) -> None:
    assert panels.ceiling(value) == pytest.approx(top)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("leader vm_037f_ea4e leads", "leader HOST_037f_ea4e leads"),
        ("shop/cache-7b4bf84bc4-vmtbh is there", "shop/cache-7b4bf84bc4-vmtbh is there"),
        ("the lvm, vm-1 and vm.", "the lvm, vm-1 and HOST."),
    ],
)
def test_a_machine_s_name_is_one_only_where_it_stands_by_itself(text: str, told: str) -> None:
    assert re.sub(BY_ITSELF.format("vm"), "HOST", text) == told


def test_each_picture_is_there_and_shown_in_some_page() -> None:
    shown = {
        (page.parent / link).resolve() for page in pages() for link in links(page) if ".svg" in link
    }

    assert {each.stem for each in PICTURES} == WANTED
    assert {name_of(each) for each in PICTURES if each not in shown} == set()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda each: each.stem)
def test_a_picture_is_whole_and_tells_nothing_of_the_machine(picture: Path) -> None:
    text = picture.read_text("utf-8")

    assert ET.fromstring(text).tag == f"{SVG}svg"
    assert re.search(r"/root|/home/|/tmp/|/dev/shm|Traceback", text) is None
    assert re.search(BY_ITSELF.format(re.escape(socket.gethostname())), text) is None


@pytest.mark.parametrize("name", sorted(WANTED - {"demo", "dashboard"}))
def test_what_a_command_shows_fits_a_terminal(name: str) -> None:
    picture = ET.parse(ROOT / "docs" / "pictures" / f"{name}.svg").getroot()

    assert max(len(line) for line in texts(picture)) <= COLUMNS
