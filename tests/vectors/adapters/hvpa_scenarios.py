"""Whole decisions: the scenarios of the original's tests, and the seed's update modes."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from growth.api.hvpa import Combine, Extrapolation, UpdateMode
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Sized
from sizing.rule.blocking import Occasion, ScaleRules
from sizing.rule.evidence import reason_to_doubt
from sizing.rule.sizing import (
    PresentSize,
    Recommendation,
    SizeSource,
    hpa_totals,
    size_of_workload,
    vpa_totals,
)
from sizing.rule.windows import MaintenanceWindow, TimeOfDay
from tests.vectors.registry import adapts
from tests.vectors.sizing import (
    NOON,
    amounts,
    entries_of,
    in_milli,
    margins_of,
    rules_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sizing.rule.sizing import SizeDecision, SizingRules
    from tests.vectors.rows import Json

CONFIGURATIONS: Final = {
    "A": [
        {"max_replicas": 1, "cpu_milli": 1000, "memory": 2 * 10**9},
        {"max_replicas": 5, "cpu_milli": 20000, "memory": 30 * 10**9},
        {"max_replicas": 6, "cpu_milli": 30000, "memory": 40 * 10**9},
    ],
    "B": [
        {"max_replicas": 1, "cpu_milli": 400, "memory": 1000 * 10**6},
        {"max_replicas": 2, "cpu_milli": 600, "memory": 1500 * 10**6},
        {"max_replicas": 3, "cpu_milli": 800, "memory": 2000 * 10**6},
        {"max_replicas": 4, "cpu_milli": 1000, "memory": 2750 * 10**6},
        {"max_replicas": 5, "cpu_milli": 1500, "memory": 4000 * 10**6},
        {"max_replicas": 6, "cpu_milli": 1750, "memory": 6000 * 10**6},
    ],
}
"""The original's test objects, as the rows of `effective_intervals` have them."""
OVERLAP: Final = {"cpu": {"percentage": 20}, "memory": {"value": 10_000_000}}
FLOOR: Final = {CPU: Fraction(100), MEMORY: Fraction(200_000_000)}
HOUR: Final = timedelta(hours=1)


@adapts("scale_scenario", system="hvpa")
def scenario(given: Json) -> Json:
    if "current" not in given:
        return _doubted(given)
    found = scenario_decided(given)
    reason = found.blocked.reason.value if found.blocked else None
    now = _of_one(amounts(given["current"]))
    size = found.size
    is_new = {part: Fraction(each) for part, each in size.requests.items()} != now
    return {
        "replicas": size.replicas,
        "resources": _shown(size.requests) if is_new else None,
        "blocked": reason,
        "limits": _shown(size.limits),
    }


def scenario_decided(given: Json) -> SizeDecision:
    """What the product decides in a scenario."""
    current = given["current"]
    requests = _of_one(amounts(current))
    targets = _of_one(amounts(given.get("vpa_target") or {}))
    said = {
        SizeSource.VPA: vpa_totals(current["replicas"], targets),
        SizeSource.HPA: hpa_totals(given.get("hpa_desired") or 0, requests),
    }
    return size_of_workload(
        _rules(given),
        PresentSize(replicas=current["replicas"], requests=requests, limits=requests),
        [
            Recommendation(source=one, totals=totals)
            for one, totals in said.items()
            if any(totals.values())
        ],
        Occasion(now=NOON),
    )


@adapts("seed_update_mode", system="hvpa")
def update_mode(given: Json) -> Json:
    """A rise of the load, with this mode for the way up."""
    window = {True: "open", False: "closed"}.get(given["in_window"])
    rise = {
        "config": "B",
        "current": {"replicas": 1, "cpu_milli": 150, "memory": 400_000_000},
        "vpa_target": {"cpu_milli": 500, "memory": 1_200_000_000},
        "update_mode": given["mode"],
        "window": window,
    }
    return {"applied": scenario_decided(rise).blocked is None}


def _doubted(given: Json) -> Json:
    """A VPA in trouble: nothing is believed, so nothing changes."""
    name, _, status = given["vpa_condition"].partition("=")
    doubt = reason_to_doubt({name: status})
    part = Sized("main", CPU)
    found = size_of_workload(
        _rules(given),
        PresentSize(replicas=3, requests={part: Fraction(150)}),
        [Recommendation(source=SizeSource.VPA, totals={part: Fraction(9000)}, doubt=doubt)],
        Occasion(now=NOON),
    )
    is_kept = found.size.replicas == 3
    return {"error": doubt is not None, "replicas": "unchanged" if is_kept else "changed"}


def _rules(given: Json) -> SizingRules:
    combine = Combine(given.get("min_change_combine", "max"))
    scale = ScaleRules(
        mode=UpdateMode(given.get("update_mode", "Auto")),
        min_change=margins_of(given.get("min_change")),
        combine=combine,
    )
    return rules_of(
        entries_of(CONFIGURATIONS[given["config"]], several=Extrapolation.LINEAR),
        overlap=margins_of(OVERLAP),
        floor=FLOOR,
        scale_up=scale,
        scale_down=scale,
        window=_window(given.get("window")),
        base=margins_of(given.get("base_resources_per_replica")),
        limits_gap=margins_of(given.get("limits_gap")),
        min_allowed=_of_one(FLOOR),
    )


def _window(state: str | None) -> MaintenanceWindow | None:
    """A window of two hours, around the time of the scenario or well after it."""
    if state is None:
        return None
    begin = NOON - HOUR if state == "open" else NOON + HOUR
    return MaintenanceWindow(TimeOfDay.at(begin), TimeOfDay.at(begin + 2 * HOUR))


def _of_one(found: dict[str, Fraction]) -> dict[Sized, Fraction]:
    return {Sized("main", name): each for name, each in found.items()}


def _shown(sizes: Mapping[Sized, int]) -> Json:
    return in_milli({part.resource: each for part, each in sizes.items()})
