"""What is bought: of which offerings, for which pods, and where they are to run.

Rows about plans are answered by the whole of it: a World of the row's pods, pools and catalogue, a
wave that closes, the solver, and the requests that its plan becomes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from growth.api.nodepool import NodePool
from growth.scheduling.resources import CPU, MEMORY
from reconciler.buying.offers import sold_to
from reconciler.facts.fleet import fleet
from reconciler.planning.ledger import PlanningLedger
from tests.reconciler.build import pool, request, world
from tests.scheduling import build
from tests.vectors.answers import AtLeast, InAnyOrder
from tests.vectors.found import place_of
from tests.vectors.registry import adapts
from tests.vectors.staging import Stage, catalogue, offered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.api.noderequest import NodeRequest
    from growth.scheduling.objects import Node
    from tests.vectors.found import Found
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
        occupied=given.get("occupied", {}),
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
    types = [{"name": name, "max": most} for name, most in kinds.items()]
    buyer = pool(serverTypes=types, locations=given["locations"] or [])
    sold = sold_to(buyer, offered(catalogue(given["offerings"])))
    answer: Json = {
        "requests": len(found.requests),
        "allowed": InAnyOrder([*place_of(each.labels)] for each in sold),
    }
    for place in found.places:
        answer |= {"region": place.region, "zone": place.zone}
    return answer


@adapts("pod_loop")
def pod_loops(given: Json) -> Json:
    if isinstance(given.get("loops"), int):
        return _seen_twice(given)
    if "loops" in given:
        stages = [_staged(*_loop(each)) for each in given["loops"]]
        return {"created": [len(each.play().requests) for each in stages]}
    stage = _staged(
        _pods(given.get("pods", 1)),
        [given.get("offering", OFFERING)],
        existing_phase=given.get("existing_request", ""),
        unmet_seconds=given.get("unmet_ttl_seconds", 0),
    )
    named = [name for name in given.get("pools", ["default"]) if _is_read(name)]
    stage = replace(stage, pools=dict.fromkeys(named, stage.pools["default"]))
    return {"created": len(stage.play().requests)}


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
    places = found.places_with_pods
    regions = {place.region for place in places.values()}
    zones = {place.zone for place in places.values()}
    return _distinct_by_app(found) | {
        "result": found.result,
        "new_nodes": len(found.requests),
        "unmet": found.unmet,
        "unmet_count": len(found.unmet),
        "placed": AtLeast(found.placed),
        "placed_count": len(found.placed),
        "nodes": InAnyOrder(found.bought_for),
        "no_cpu_overcommit": not found.overcommits(CPU),
        "no_memory_overcommit": not found.overcommits(MEMORY),
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


def _staged(pods: list[Json], offerings: list[Json], **more: Any) -> Stage:
    return Stage(
        pods=[row | {"name": f"pod-{number}"} for number, row in enumerate(pods)],
        offerings=offerings,
        pools={"default": {each["type"]: 10 for each in offerings}},
        **more,
    )


def _pods(told: int | list[list[str]]) -> list[Json]:
    """A row tells how many there are, or what each asks for."""
    return [POD] * told if isinstance(told, int) else [_requesting(each) for each in told]


def _is_read(name: str | None) -> bool:
    """Whether a pool under this name is one; of others the cache says that it can't read them."""
    types = [{"name": "small", "max": 1}]
    try:
        NodePool.model_validate({"metadata": {"name": name}, "spec": {"serverTypes": types}})
    except ValidationError:
        return False
    return True


def _seen_twice(given: Json) -> Json:
    """The same demand in loop after loop, whether or not the API lists what the first has made."""
    stage = _staged(_pods(given.get("pods", 1)), [given.get("offering", OFFERING)])
    phase = given["api_lists_request"]
    created: list[int] = []
    known: dict[str, NodeRequest] = {}
    memory = PlanningLedger()
    for _ in range(given["loops"]):
        listed = [_in_phase(each, phase) for each in known.values()] if phase else []
        found = stage.play(memory, listed=listed)
        # What was made before is made again under its name until it is seen: it is the same one.
        made = {each.name: each for each in found.requests if each.name not in known}
        created.append(len(made))
        known, memory = known | made, found.memory
    return {"created": created, "unconfirmed_after": len(memory.unconfirmed)}


def _in_phase(made: NodeRequest, phase: str) -> NodeRequest:
    status = type(made.status).model_validate({"phase": phase})
    return made.model_copy(update={"status": status})


def _distinct_by_app(found: Found) -> Json:
    """Whether the pods of each app are all in zones of their own."""
    zones: defaultdict[str, list[str | None]] = defaultdict(list)
    for pod in found.pods:
        place = found.places_with_pods.get(pod.metadata.name)
        if place is not None:
            zones[pod.metadata.labels.get("app", "")].append(place.zone)
    return {f"{app}_zones_distinct": len(set(it)) == len(it) for app, it in zones.items()}


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
