"""What is bought: of which offerings, for which pods, and where they are to run.

Rows about plans are answered by the whole of it: a World of the row's pods, pools and catalogue, a
wave that closes, the solver, and the requests that its plan becomes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from reconciler.planning.fleet import fleet
from reconciler.planning.offers import sold_to
from tests.reconciler.build import pool, request, world
from tests.scheduling import build
from tests.vectors.answers import AtLeast
from tests.vectors.registry import adapts
from tests.vectors.staging import Stage, catalogue, offered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.objects import Node
    from tests.vectors.rows import Json


@adapts("filter_offerings")
def filtered_offerings(given: Json) -> Json:
    # A pool without any type can't be written; one with a type that nobody sells is as good.
    names = given["pool_types"] or ["sold-nowhere"]
    pools = pool(serverTypes=[{"name": name, "max": 1} for name in names])
    kinds = {
        name: {"type": name, "cpu": 1, "mem_mib": 1024, "cost": 1} for name in given["offerings"]
    }
    kept = {one.server_type.canonical for one in sold_to(pools, offered(catalogue(kinds.values())))}
    return {"kept": [name for name in given["offerings"] if name.lower() in kept]}


@adapts("occupied_counts")
def occupied_counts(given: Json) -> Json:
    requests = [
        request(
            f"{name}-{kind}-{number}", pool=name, serverType=kind, targetOffering=f"kwok-{kind}"
        )
        for name, kind, number in _each(given["requests"])
    ]
    nodes = [_node_of(name, kind, number) for name, kind, number in _each(given["nodes"])]
    seen = world(*requests, *nodes)
    merged: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for (name, kind), count in fleet(seen, seen.requests.values()).counts().items():
        merged[name][kind.canonical] = count
    return {"merged": dict(merged)}


@adapts("reconcile_demand")
def reconciled_demand(given: Json) -> Json:
    stage = Stage(
        pods=given["pods"],
        offerings=given["offerings"],
        pools=given["pools"],
        in_flight=given.get("in_flight", {}),
    )
    found = stage.play()
    pools = {each.spec.pool for each in found.requests}
    return {
        "requests": len(found.requests),
        "pool": next(iter(pools), None) if len(pools) < 2 else sorted(pools),
        "errors": len(found.without_pool),
    }


@adapts("location_filter")
def filtered_locations(given: Json) -> Json:
    kinds = {each["type"]: 10 for each in given["offerings"]}
    stage = Stage(
        pods=given["pods"],
        offerings=given["offerings"],
        pools={"default": kinds},
        locations=given["locations"] or [],
    )
    found = stage.play()
    answer: Json = {"requests": len(found.requests)}
    for place in found.places:
        answer |= {"region": place.region, "zone": place.zone}
    return answer


@adapts("pod_loop")
def pod_loops(given: Json) -> Json:
    if "loops" in given:
        return {"created": [_created(*_loop(each)) for each in given["loops"]]}
    if "existing_request" in given:
        assert given["existing_request"] == "Unmet"
        return {"created": _created([POD], [OFFERING], unmet_seconds=given["unmet_ttl_seconds"])}
    rows = [_requesting(each) for each in given["pods"] or ()]
    return {"created": _created(rows, [given.get("offering", OFFERING)])}


@adapts("solve")
def solved(given: Json) -> Json:
    kinds = {each["type"]: each.get("max", 100) for each in given["offerings"]}
    stage = Stage(
        pods=given["demands"],
        offerings=given["offerings"],
        pools={"default": kinds} if kinds else {"default": {"sold-nowhere": 1}},
        existing=given["existing"],
    )
    found = stage.play()
    regions = {place.region for place in found.places_with_pods}
    zones = {place.zone for place in found.places_with_pods}
    return {
        "result": found.result,
        "new_nodes": len(found.requests),
        "unmet": found.unmet,
        "unmet_count": len(found.unmet),
        "placed_count": len(found.placed),
        "placement": found.placed,
        "pods_per_node": sorted(Counter(found.machines.values()).values()),
        # The last machine of a plan may be a smaller one than the original ever mixes in.
        "types": AtLeast(each.spec.server_type.canonical for each in found.requests),
        "cost": float(sum(each.spec.price for each in found.requests)),
        "cpu_utilisation": found.cpu_utilisation,
        "distinct_regions": len(regions),
        "distinct_zones": len(zones),
        "upstream_zone": next(iter(zones), None),
    }


POD: Json = {"cpu": 1, "mem_mib": 1024}
OFFERING: Json = {"type": "cpx22", "cpu": 2, "mem_mib": 4096, "cost": 0.01}


def _created(pods: list[Json], offerings: list[Json], *, unmet_seconds: int | None = None) -> int:
    kinds = {each["type"]: 10 for each in offerings}
    stage = Stage(
        pods=[row | {"name": f"pod-{number}"} for number, row in enumerate(pods)],
        offerings=offerings,
        pools={"default": kinds},
        unmet_seconds=unmet_seconds,
    )
    return len(stage.play().requests)


def _loop(given: Json) -> tuple[list[Json], list[Json]]:
    """Offerings are written as name cpu/memory/price."""
    offerings = []
    for text in given["offerings"]:
        name, _, figures = text.partition(" ")
        cpu, memory, cost = figures.split("/")
        offerings.append({"type": name, "cpu": cpu, "mem_mib": memory, "cost": float(cost)})
    return [_requesting(given["pod"])], offerings


def _requesting(quantities: list[str]) -> Json:
    cpu, memory = quantities
    return {"cpu": cpu, "memory": memory}


def _each(counted: dict[str, dict[str, int]]) -> Iterator[tuple[str, str, int]]:
    for name, kinds in counted.items():
        for kind, count in kinds.items():
            yield from ((name, kind, number) for number in range(count))


def _node_of(pool: str, kind: str, number: int) -> Node:
    labels = {"growth.dev/pool": pool, "growth.dev/instance-type": kind}
    return build.node(f"node-{pool}-{kind}-{number}", labels=labels)
