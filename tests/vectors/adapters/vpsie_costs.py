"""VPSie: which type is bought, and what it costs."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from reconciler.scaling.desired.costs import compared_types, group_cost, savings
from reconciler.scaling.desired.types import (
    NoTypeAvailable,
    PricedType,
    TypeChosen,
    cheapest_type,
    chosen_type,
)
from tests.vectors.adapters.vpsie_pods import room_in
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

VPSIE = "vpsie"
MONTHLY = {"small-1": 10, "medium-1": 20, "large-1": 40}
"""The prices of the offerings that rows only name."""


def _chosen(given: Json, available: list[str]) -> Json:
    preferred = given.get("preferred") or None
    found = chosen_type(given["offerings"] or (), preferred=preferred, available=available)
    match found:
        case NoTypeAvailable(event=event):
            return {"error": True, "event": event.value}
        case TypeChosen(type=name):
            return {"offering": name, "error": False}


@adapts("select_instance_type", system=VPSIE)
def select_instance_type(given: Json) -> Json:
    return _chosen(given, given["offerings"] or [])


@adapts("select_instance_type_available", system=VPSIE)
def select_available_type(given: Json) -> Json:
    return _chosen(given, given["available_in_datacenter"])


def _priced(row: Json) -> PricedType:
    return PricedType(
        name=row["id"],
        resources=room_in(row),
        hourly=Decimal(str(row["hourly"])),
        monthly=Decimal(str(row["monthly"])),
    )


@adapts("cheapest_offering", system=VPSIE)
def cheapest_offering(given: Json) -> Json:
    types = map(_priced, given["offerings"])
    need = room_in(given["need"] | {"max_pods": 0})
    found = cheapest_type(types, need, allowed=given.get("allowed"))
    return {"error": True} if found is None else {"id": found.name, "error": False}


@adapts("compare_offerings", system=VPSIE)
def compare_offerings(given: Json) -> Json:
    size = {"cpu": 0, "mem_mb": 0, "hourly": 0}
    types = [_priced(size | {"id": each, "monthly": MONTHLY[each]}) for each in given["offerings"]]
    found = compared_types(types)
    if found is None:
        return {"error": True}
    return {
        "cheapest": found.cheapest,
        "most_expensive": found.dearest,
        "average": float(found.average),
    }


@adapts("group_cost", system=VPSIE)
def cost_of_group(given: Json) -> Json:
    cost = group_cost(
        Decimal(str(given["hourly"])),
        nodes=given.get("nodes") or 0,
        desired=given.get("desired") or 0,
        least=given["min_nodes"],
    )
    return {"hourly": float(cost.hourly), "monthly": float(cost.monthly)}


@adapts("savings", system=VPSIE)
def saved(given: Json) -> Json:
    found = savings(Decimal(str(given["current_monthly"])), Decimal(str(given["proposed_monthly"])))
    return {
        "monthly": float(found.monthly),
        "annual": float(found.annual),
        "percent": float(found.percent),
        "action": found.advice.value,
    }
