"""The dashboard: few panels to begin with, each readable, and the rest folded away."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from tests.manifests.test_alerts import DASHBOARD, PANELS

Panel = dict[str, Any]
GRAPHS = [panel for panel in PANELS if panel["type"] == "timeseries"]


def of_each(panels: list[Panel]) -> list[Any]:
    return [pytest.param(panel, id=panel["title"]) for panel in panels]


def test_it_begins_with_four_questions_and_folds_the_details_away() -> None:
    rows = [panel for panel in DASHBOARD["panels"] if panel["type"] == "row"]
    open_ones = [row["title"] for row in rows if not row.get("collapsed")]
    seen = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

    assert open_ones == [
        "Health",
        "Activity",
        "Cost",
        "Speed",
    ]
    assert len(seen) <= 16
    assert all(row["panels"] for row in rows if row.get("collapsed"))


def test_no_two_panels_have_a_place_a_title_or_an_id_in_common() -> None:
    charts = [panel for panel in PANELS if panel["type"] != "row"]
    assert len({panel["title"] for panel in charts}) == len(charts)
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for panels in (DASHBOARD["panels"], *(each.get("panels", ()) for each in PANELS)):
        assert not [
            (one["title"], other["title"])
            for one, other in combinations(panels, 2)
            if overlap(one["gridPos"], other["gridPos"])
        ]


def overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    return all(
        one[at] < other[at] + other[size] and other[at] < one[at] + one[size]
        for at, size in (("x", "w"), ("y", "h"))
    )


@pytest.mark.parametrize("panel", of_each(PANELS))
def test_a_legend_is_never_left_with_its_commas_alone(panel: Panel) -> None:
    """A query without an answer is filled up with a zero, which bears no labels."""
    for target in panel.get("targets", ()):
        left = re.sub(r"{{.*?}}", "", target["legendFormat"]).strip()
        assert not left or re.search(r"\w", left), target["legendFormat"]
        if target["legendFormat"].startswith("{{"):
            assert not target["expr"].endswith(" or vector(0)"), target["expr"]


@pytest.mark.parametrize("panel", of_each(GRAPHS))
def test_a_graph_stays_above_zero_and_shows_a_gap_as_a_gap(panel: Panel) -> None:
    assert panel["fieldConfig"]["defaults"]["custom"]["spanNulls"] is False
    assert panel["fieldConfig"]["defaults"]["min"] == 0
    for target in panel["targets"]:
        if " - " in target["expr"]:
            assert target["expr"].startswith("clamp_min(")
