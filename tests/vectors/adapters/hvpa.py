"""Intervals, totals, shares and limits of a workload's size, in the words of the rows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from growth.api.hvpa import Extrapolation
from growth.scheduling.resources import CPU, MEMORY
from sizing.rule.amounts import Sized
from sizing.rule.blocking import ScaleRules, TotalsChange, is_too_small
from sizing.rule.intervals import (
    EntryDefaults,
    IntervalEntry,
    count_range,
    effective_intervals,
    least_total,
    total_of,
)
from sizing.rule.shares import CountStep, limit_in_ratio, limit_with_gap, share_of
from sizing.rule.sizing import hpa_totals, vpa_totals
from tests.vectors.registry import adapts
from tests.vectors.sizing import (
    CORE,
    EXAMPLE,
    amounts,
    decided,
    entries_of,
    exact,
    in_milli,
    margin,
    margins_of,
    rules_of,
    shown,
    totals_shown,
)

if TYPE_CHECKING:
    from tests.vectors.rows import Json

ONE = Sized("main", CPU)
A_CORE_EACH = [
    IntervalEntry(max_replicas=count, max_per_pod={CPU: CORE * count}) for count in range(1, 101)
]


@adapts("effective_intervals", system="hvpa")
def intervals(given: Json) -> Json:
    """Amounts of one pod, rounded down as in the original."""
    found = effective_intervals(
        entries_of(given["scaling_intervals"], several=Extrapolation.LINEAR),
        overlap=margins_of(given.get("overlap")),
        floor=amounts(given.get("min_allowed") or {}),
    )
    return {
        "intervals": [
            {
                "replicas": each.replicas,
                "min_per_pod": in_milli({n: v // each.replicas for n, v in each.least.items()}),
                "max_per_pod": in_milli({n: v // each.replicas for n, v in each.most.items()}),
            }
            for each in found
        ]
    }


@adapts("seed_example", system="hvpa")
def example(given: Json) -> Json:
    entries = entries_of([each | {"max_replicas": each["replicas"]} for each in given["per_pod"]])
    return {"totals": totals_shown(effective_intervals(entries, overlap={}, floor={}))}


@adapts("seed_scale_down_min", system="hvpa")
def minima(given: Json) -> Json:
    """Only the way from one pod to all of them: such minima can't be configured."""
    return {
        "totals": [
            {"replicas": each["replicas"], **shown(total_of(amounts(each), each["replicas"]))}
            for each in given["per_pod"]
        ]
    }


@adapts("seed_overlap", system="hvpa")
def overlap(given: Json) -> Json:
    if "prev_max_total" in given:
        bound = least_total(exact(given["prev_max_total"]), margin(given["overlap"] or {}))
        return {"min_total": float(bound)}
    found = effective_intervals(
        EXAMPLE, overlap=margins_of(given["overlap"]), floor=amounts(given["min_allowed"])
    )
    per_pod = [
        {"replicas": each.replicas}
        | {name: round(amount / each.replicas, 4) for name, amount in shown(each.least).items()}
        for each in found
    ]
    return {"totals": totals_shown(found, of="least"), "per_pod": per_pod}


@adapts("seed_linear", system="hvpa")
@adapts("seed_horizontal_only", system="hvpa")
def extrapolated(given: Json) -> Json:
    kind = Extrapolation(given["extrapolation"])
    found = effective_intervals(
        entries_of(given.get("scaling_intervals") or [given], several=kind), overlap={}, floor={}
    )
    in_gigabytes = any("memory_g" in each for each in given.get("scaling_intervals") or [given])
    return {
        "totals": totals_shown(found, in_gigabytes=in_gigabytes),
        "per_pod": shown(found[-1].most_per_pod, in_gigabytes=in_gigabytes),
    }


@adapts("seed_vertical_only", system="hvpa")
def vertical(given: Json) -> Json:
    (only,) = effective_intervals(entries_of([given]), overlap={}, floor={})
    totals = shown(only.most)
    return {"replicas": only.replicas} | {f"total_{name}": each for name, each in totals.items()}


@adapts("seed_desired_replicas", system="hvpa")
def desired(given: Json) -> Json:
    rules = rules_of(EXAMPLE, overlap=margins_of(given["overlap"]))
    suits = count_range(rules.intervals, CPU, exact(given["total_cpu"]) * CORE)
    assert suits is not None
    return {"replicas": suits.nearest(given["current"])}


@adapts("seed_path_independent", system="hvpa")
def path(given: Json) -> Json:
    replicas = given["start"]
    for total in given["totals"]:
        replicas = desired({**given, "current": replicas, "total_cpu": total})["replicas"]
    return {"replicas": replicas}


@adapts("seed_multi_resource", system="hvpa")
def several_resources(given: Json) -> Json:
    rules = rules_of(EXAMPLE)
    totals = amounts(given["totals"])
    each = {
        name: found.nearest(1)
        for name, total in totals.items()
        if (found := count_range(rules.intervals, name, total))
    }
    parts = {Sized("main", name): total for name, total in totals.items()}
    return {"per_resource": each, "replicas": decided(rules, vpa=parts).wanted.replicas}


@adapts("seed_max_of_sources", system="hvpa")
def several_sources(given: Json) -> Json:
    """Each source, or container, recommends the total that asks for its number of replicas."""
    said = {
        name: {ONE: CORE * given[name] * given[name]} for name in ("hpa", "vpa") if given.get(name)
    }
    if "per_container" in given:
        wants = enumerate(given["per_container"])
        said = {"vpa": {Sized(f"c{number}", CPU): CORE * each * each for number, each in wants}}
    return {
        "replicas": decided(
            rules_of(A_CORE_EACH), vpa=said.get("vpa"), hpa=said.get("hpa")
        ).wanted.replicas
    }


@adapts("seed_total", system="hvpa")
def totals(given: Json) -> Json:
    if given["source"] == "vpa":
        found = vpa_totals(given["current_replicas"], {ONE: Fraction(given["recommended"])})
    else:
        found = hpa_totals(given["desired_replicas"], {ONE: Fraction(given["current_request"])})
    return {"total": int(found[ONE])}


@adapts("seed_paradox", system="hvpa")
def paradox(given: Json) -> Json:
    found = decided(
        rules_of(EXAMPLE, overlap=margins_of(given["overlap"])),
        replicas=given["current"],
        requests={ONE: exact(given["request_per_pod"]) * CORE},
        vpa={ONE: exact(given["total_cpu"]) * CORE},
    )
    per_pod = found.wanted.requests[ONE] / 1000
    return {"replicas": found.wanted.replicas, "cpu_per_pod": per_pod}


@adapts("seed_min_change", system="hvpa")
def least_change(given: Json) -> Json:
    if "total_before" in given:
        before, after = ({ONE: Fraction(given[name])} for name in ("total_before", "total_after"))
        rules = ScaleRules(min_change={CPU: margin(given)})
    else:
        is_within = {name: given[f"{name}_change_within"] for name in (CPU, MEMORY)}
        rules = ScaleRules(min_change={name: margin({"value": 100}) for name in is_within})
        before = {Sized("main", name): Fraction(1000) for name in is_within}
        after = {
            Sized("main", name): Fraction(1050 if within else 1200)
            for name, within in is_within.items()
        }
    return {"blocked": is_too_small(TotalsChange(before=before, after=after), rules)}


@adapts("seed_base", system="hvpa")
def base(given: Json) -> Json:
    step = CountStep(before=given["current_replicas"], after=given["desired_replicas"])
    request = Fraction(given.get("current_request", 0))
    share = share_of(Fraction(given["total"]), step, request=request, base=margin(given))
    return {"per_pod": float(share)}


@adapts("seed_limits_gap", system="hvpa")
def gap(given: Json) -> Json:
    request = Fraction(given["request_per_pod"])
    limit = limit_with_gap(request, replicas=given["replicas"], gap=margin(given))
    return {"limit_per_pod": float(limit)}


@adapts("limits_without_params", system="hvpa")
def ratio(given: Json) -> Json:
    before, request = Fraction(given["request"]), Fraction(given["new_request"])
    return {
        "limit": float(limit_in_ratio(Fraction(given["limit"]), request=request, before=before))
    }


@adapts("seed_defaults", system="hvpa")
def defaults(given: Json) -> Json:
    allowed = {name: given.get(f"vpa_{name}_allowed") for name in ("min", "max")}
    if allowed["min"]:
        floor = amounts(allowed["min"])
        (first, *_) = effective_intervals(EXAMPLE, overlap={}, floor=floor)
        return {"first_min": shown({name: first.least[name] for name in floor})}
    of_the_others = EntryDefaults(
        max_replicas=given.get("hpa_max", 1),
        max_per_pod=amounts(allowed["max"]) if allowed["max"] else {CPU: CORE},
    )
    given_sizes = given.get("max_resources")
    entry = of_the_others.completed(
        given.get("max_replicas"), amounts(given_sizes) if given_sizes else None
    )
    return {"max_replicas": entry.max_replicas, "max_resources": shown(entry.max_per_pod)}
