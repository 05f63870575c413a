"""The staircase of a load that rises and falls."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from growth.api.hvpa import HvpaSpec
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Sized
from sizing.rule.intervals import IntervalsInvalid, refuse_gaps
from sizing.rule.sizing import PresentSize
from sizing.rule.staircase import LoadRange, staircase
from sizing.spec import sizing_rules
from tests.sizing.build import EXAMPLE, MAIN, cores, entry, gibibytes, rules

if TYPE_CHECKING:
    from sizing.rule.intervals import IntervalEntry
    from sizing.rule.staircase import Stair

TO_TWELVE = LoadRange(container="main", lowest={CPU: cores(0)}, highest={CPU: cores(12)})
NOTHING = PresentSize(replicas=1, requests={MAIN: Fraction(0)})


def cpu(stairs: tuple[Stair, ...]) -> list[tuple[float, float, int]]:
    """From which load to which, and the replicas."""
    return [
        (float(e.first.load[CPU] / 1000), float(e.last.load[CPU] / 1000), e.replicas)
        for e in stairs
    ]


def test_the_seed_s_example_goes_up_at_its_maxima_and_down_later() -> None:
    found = staircase(rules(*EXAMPLE), NOTHING, TO_TWELVE)
    assert cpu(found.up) == [(0, 0.5, 1), (0.51, 2, 2), (2.01, 6, 3), (6.01, 12, 4)]
    assert cpu(found.down) == [(12, 3.16, 4), (3.15, 0.94, 3), (0.93, 0.18, 2), (0.17, 0, 1)]


def test_a_pod_at_the_largest_load_of_a_stair_has_its_part_of_it() -> None:
    found = staircase(rules(*EXAMPLE), NOTHING, TO_TWELVE)
    largest = [(e.replicas, e.largest.size.requests[MAIN]) for e in (*found.up, *found.down)]
    assert largest[:4] == [(1, 500), (2, 1000), (3, 2000), (4, 3000)]
    assert largest[4:] == [(4, 3000), (3, 1050), (2, 465), (1, 170)]


@pytest.mark.parametrize(
    ("entries", "place", "text"),
    [
        ([entry(1, 4), entry(2, 2)], 1, "the total of 2 replicas isn't above that of 1 in cpu"),
        ([entry(2, 1), entry(2, 4)], 1, "maxReplicas must rise"),
        ([entry(1, 1, 1), entry(2, 1)], 1, "each interval needs the same resources"),
        ([entry(4, 4), entry(9, 1, how="horizontalOnly")], 1, "of 5 replicas isn't above"),
    ],
)
def test_intervals_with_gaps_are_refused(
    entries: list[IntervalEntry], place: int, text: str
) -> None:
    with pytest.raises(IntervalsInvalid) as refused:
        refuse_gaps(entries)
    assert refused.value.place == place
    assert text in refused.value.text


def spec(**fields: Any) -> HvpaSpec:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}
    return HvpaSpec.model_validate({"targetRef": target} | fields)


def test_a_spec_becomes_exact_rules() -> None:
    allowed = {"containerName": "*", "minAllowed": {"cpu": "125m"}, "maxAllowed": {"cpu": 8}}
    found = sizing_rules(
        spec(
            hpa={"template": {"maxReplicas": 3}},
            vpa={"template": {"resourcePolicy": {"containerPolicies": [allowed]}}},
            scalingIntervals=[{"maxReplicas": 1, "maxResources": {"cpu": "0.5"}}, {}],
            scalingIntervalsOverlap={"cpu": {"value": "100m", "percentage": 10}},
            maintenanceTimeWindow={"begin": "230000+0000", "end": "010000+0000"},
            scaleDown={"stabilizationDuration": "5m", "combine": "min"},
        ),
        ["main"],
    )
    assert [(e.replicas, int(e.least[CPU]), int(e.most[CPU])) for e in found.intervals] == [
        (1, 125, 500),
        (3, 400, 24000),
    ]
    assert found.min_allowed == {MAIN: 125}
    assert found.window is not None
    assert found.window.duration == 7200
    assert found.scale_down.stabilisation.total_seconds() == 300
    assert found.scale_up.min_change[MEMORY].of(gibibytes(1)) == 200_000_000


def test_an_interval_that_nobody_completes_is_refused() -> None:
    with pytest.raises(IntervalsInvalid, match="maxAllowed"):
        sizing_rules(spec(scalingIntervals=[{"maxReplicas": 1}]), ["main"])


def test_a_policy_of_a_container_s_own_counts_before_that_of_all() -> None:
    policies = [
        {"containerName": "*", "minAllowed": {"cpu": "50m"}},
        {"containerName": "main", "minAllowed": {"cpu": "200m"}, "mode": "Off"},
    ]
    found = sizing_rules(
        spec(
            vpa={"template": {"resourcePolicy": {"containerPolicies": policies}}},
            scalingIntervals=[{"maxReplicas": 1, "maxResources": {"cpu": 1}}],
        ),
        ["main", "proxy"],
    )
    assert found.min_allowed == {MAIN: 200, Sized("proxy", CPU): 50}
    assert found.not_sized == {"main"}
