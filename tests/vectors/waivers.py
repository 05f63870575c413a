"""Rows that the product answers differently on purpose: few, and each one argued.

They stem from tests of the original systems, or describe a design that the seed rejects, and
contradict a rule of the seed, which counts. Where the product answers such a row all the same, it
has passed.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final, NamedTuple

from tests.vectors.adapters.hvpa_scenarios import scenario_decided

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.vectors.rows import Json, Row


class Waiver(NamedTuple):
    """Why rows of a kind may be answered differently."""

    kind: str
    is_for: Callable[[Json], bool]
    """Whether a row is one of them, by its input."""
    reason: str
    system: str = "growth"


def _is_any(_: Json) -> bool:
    return True


def _fails_between_the_marks(given: Json) -> bool:
    return bool(given.get("fail_step") == 2)


def _meets_its_limit(given: Json) -> bool:
    return "max_attempts" in given and given.get("removal_attempts") == given["max_attempts"]


def _cools_off(given: Json) -> bool:
    return bool(given.get("cooling_off_seconds"))


def _is_late(given: Json) -> bool:
    age, most = given.get("age_seconds") or 0, given.get("timeout_seconds", 0)
    return age > most and given.get("provider_status") == "Creating"


def _keeps_apart_if_it_can(given: Json) -> bool:
    preferred = {"kind": "AntiAffinity", "strength": "Preferred"}
    terms = (term for each in given.get("demands", ()) for term in each.get("affinity", ()))
    return any(preferred.items() <= term.items() for term in terms)


def _is_refused_by_the_cloud(given: Json) -> bool:
    return "provider_error" in given


def _overlaps_or_divides_per_pod(given: Json) -> bool:
    counts = [0, *(each["max_replicas"] for each in given.get("scaling_intervals", ()))]
    skips = any(after - before > 1 for before, after in itertools.pairwise(counts))
    return skips or any("value" in each for each in (given.get("overlap") or {}).values())


def _waits_for_smaller_pods(given: Json) -> bool:
    return "current" in given and bool(scenario_decided(given).held)


def _has_a_base_in_percent(given: Json) -> bool:
    base = (given.get("base_resources_per_replica") or {}).values()
    return any(each.get("percentage") for each in base)


def _has_a_gap_above_its_limit(given: Json) -> bool:
    return bool(given.get("limits_gap"))


def _never_empties(given: Json) -> bool:
    return isinstance(given.get("pods"), int) and given["pods"] > 0


def _has_an_empty_term(given: Json) -> bool:
    return [] in given.get("terms", ())


WAIVERS: Final = (
    Waiver(
        "lookup_zone",
        _is_any,
        "nothing is looked up: a request names the location that it buys in, and the zone of a "
        "node is what the provider says of its machine",
    ),
    Waiver(
        "removal_cancel",
        _fails_between_the_marks,
        "G54: both marks of a node go in one write, so there is no state in which one is left",
    ),
    Waiver(
        "removal_step",
        _meets_its_limit,
        "G49: a removal has failed when its attempts exceed the limit; here they only meet it",
    ),
    Waiver(
        "removal_step",
        _cools_off,
        "G39 to G42: an idle node waits before there is a removal, which then is asked for at once",
    ),
    Waiver(
        "request_step",
        _is_late,
        "G33: a node that isn't Ready in time makes its request Deprovisioning",
    ),
    Waiver(
        "solve",
        _keeps_apart_if_it_can,
        "a preference buys no machine: plans are ordered by who is left out, then by cost, and "
        "among the machines that are there the scheduler itself spreads",
    ),
    Waiver(
        "provider_delete",
        _is_refused_by_the_cloud,
        "G47: no run deletes a machine itself. A delete that the provider refuses is counted as an "
        "attempt of its NodeRemovalRequest, which is tried again, and says so",
        system="escalator",
    ),
    Waiver(
        "effective_intervals",
        _overlaps_or_divides_per_pod,
        "H4, H6: an absolute overlap is taken off the total, and linear divides the total range; "
        "the original does both for one pod",
        system="hvpa",
    ),
    Waiver(
        "scale_scenario",
        _waits_for_smaller_pods,
        "H14: where fewer replicas would need larger pods, the replicas stay and the pods shrink; "
        "the original changes nothing",
        system="hvpa",
    ),
    Waiver(
        "scale_scenario",
        _has_a_base_in_percent,
        "H17: what is taken off is the percentage of what a pod has now, and what is added that "
        "of its new share: 2101M and not 2110M",
        system="hvpa",
    ),
    Waiver(
        "scale_scenario",
        _has_a_gap_above_its_limit,
        "H20: the gap between request and limit is that of all replicas together",
        system="hvpa",
    ),
    Waiver(
        "motivation_weights",
        _is_any,
        "H16: the seed shows with these rows why it rejects weights; sizes that depend on the "
        "order of recommendations have no function in the product",
        system="hvpa",
    ),
    Waiver(
        "drain",
        _never_empties,
        "V16: a node whose pods don't leave in time stays in use, so growth's cordon comes off; "
        "left behind, it would keep pods off a machine that is paid for",
        system="vpsie",
    ),
    Waiver(
        "selector_terms",
        _has_an_empty_term,
        "Kubernetes: a term without conditions matches no node; the scheduler says so, too",
        system="vpsie",
    ),
)


def waiver_of(row: Row) -> str | None:
    """Why this row may be answered differently, if it may."""
    if row.flaw:
        return None
    own = (each for each in WAIVERS if (each.system, each.kind) == (row.system, row.kind))
    found = (each.reason for each in own if each.is_for(row.given))
    return next(found, None)
