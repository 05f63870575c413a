"""Whole runs of the policy `Utilisation`, in the words of Escalator's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.resources import Resources
from reconciler.scaling.utilisation.group import PodDemand
from tests.vectors.escalating import (
    PlayedGroup,
    later,
    like,
    node_like,
    node_of,
    options_of,
    pods_of,
    room,
    tainted_now,
)
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from tests.vectors.rows import Json

SIZE = {"cpu_milli": 1000, "mem": 1000}


def _played(given: Json, *, provider: Json) -> PlayedGroup:
    nodes = given["nodes"]
    options = given["options"]
    return PlayedGroup(
        options=options_of(options, least=provider.get("min")),
        nodes=like(nodes, count=nodes["count"]),
        demand=pods_of(given["pods"]),
        machines=provider.get("target", nodes["count"]),
        most=provider.get("max", options["max_nodes"]),
        size=room(nodes["cpu_milli"], nodes["mem"]),
        unseen=given.get("list_failure", ""),
    )


@adapts("scale_node_group", system="escalator")
def scale_node_group(given: Json) -> Json:
    played = _played(given, provider=given["provider"])
    return _first_and_second(played)


def _first_and_second(played: PlayedGroup) -> Json:
    run = played.run()
    answer: Json = {"delta": run.delta, "provider_target_after": played.machines}
    if run.problem:
        return answer | {"error": run.problem}
    return answer | {"second_run_delta_with_new_nodes": played.delta_when_open()}


@adapts("scale_on_starve", system="escalator")
def scale_on_starve(given: Json) -> Json:
    nodes, pods = given["nodes"], given["pods"]
    size = room(nodes["cpu_milli"], nodes["mem"])
    each, demand = 0, PodDemand()
    used = Resources()
    if pods:
        each, pending = pods["scheduled_per_node"], pods["pending"]
        used = room(each * pods["cpu"], each * pods["mem"])
        largest = room(pending["cpu"], pending["mem"])
        everywhere = Resources({n: used[n] * nodes["count"] for n in ("cpu", "memory")})
        demand = PodDemand(
            pods=each * nodes["count"] + 1,
            requests=everywhere + largest,
            largest_pending=largest,
        )
    played = PlayedGroup(
        options=options_of(given["options"]),
        nodes=like(nodes, count=nodes["count"], free=size - used, is_empty=not each),
        demand=demand,
        machines=nodes["count"],
        most=given["options"]["max_nodes"],
        size=size,
    )
    return _first_and_second(played)


@adapts("multiple_runs", system="escalator")
def multiple_runs(given: Json) -> Json:
    return _several_runs(given)


@adapts("scale_lock_runs", system="escalator")
def scale_lock_runs(given: Json) -> Json:
    return _several_runs(given)


def _several_runs(given: Json) -> Json:
    played = _played(given, provider={})
    cached = given.get("cached_capacity")
    played.known = room(cached["cpu_milli"], cached["mem"]) if cached else None
    played.brings_nodes = not given.get("provider_brings_no_nodes", False)
    first = played.run()
    played.runs(given["extra_runs"], given["run_interval"])
    came = len(played.nodes) if given.get("provider_brings_no_nodes") else played.machines
    return {
        "first_delta": first.delta,
        "provider_target_after_runs": played.machines,
        "provider_size_after_runs": came,
    }


@adapts("exceeds_max", system="escalator")
def exceeds_max(given: Json) -> Json:
    return {"delta": _two_classes(given).run().delta}


@adapts("untaint_first", system="escalator")
def untaint_first(given: Json) -> Json:
    played = _two_classes(given)
    played.run()
    tainted = sum(node.is_tainted for node in played.nodes)
    return {"untainted_after": len(played.nodes) - tainted, "tainted_after": tainted}


def _two_classes(given: Json) -> PlayedGroup:
    size = given.get("node", SIZE)
    nodes = [
        *like(size, count=given["untainted"]),
        *like(size, count=given["tainted"], prefix="old", **tainted_now()),
    ]
    options = given.get("options", {})
    return PlayedGroup(
        options=options_of(options),
        nodes=nodes,
        demand=pods_of(given.get("pods")),
        machines=len(nodes),
        most=options.get("max_nodes", 1000),
    )


@adapts("max_node_age", system="escalator")
def max_node_age(given: Json) -> Json:
    size = room(SIZE["cpu_milli"], SIZE["mem"])
    nodes = [
        node_of(each, number, capacity=size, free=size)
        for number, each in enumerate(given["nodes"])
    ]
    played = PlayedGroup(
        options=options_of(given["options"]),
        nodes=nodes,
        demand=pods_of({"count": len(given["pods"])}),
        machines=len(nodes),
        most=given["options"]["max_nodes"],
        size=size,
    )
    run = played.run()
    return {"delta": run.delta, "provider_target_after": played.machines}


@adapts("remove_tainted", system="escalator")
def remove_tainted(given: Json) -> Json:
    """Nodes of the original's test report nothing, so they are unhealthy where that is asked."""
    is_healthy = given["healthy_nodes_may_be_removed"]
    is_kept = "annotate_first_with" in given or given.get("first_is_annotated_from_previous_row")
    played = _two_classes(given)
    first, *others = (node for node in played.nodes if node.is_tainted)
    untainted = [node for node in played.nodes if not node.is_tainted]
    first = node_like(first, is_protected=bool(is_kept))
    played.nodes = [node_like(each, is_ready=False) for each in (first, *others, *untainted)]
    grace = "" if is_healthy else "1s"
    options = {"soft_delete_grace_period": given["soft_delete_grace_period"]}
    played.options = options_of(options | {"unhealthy_node_grace_period": grace})
    played.now = later()
    return {"removed": -len(played.run().goes)}


@adapts("remove_force_tainted", system="escalator")
def remove_force_tainted(given: Json) -> Json:
    forced = like(
        SIZE,
        count=given["force_tainted"],
        prefix="forced",
        is_forced=True,
        is_empty=given["all_empty"],
    )
    untainted = given["nodes"] - given["tainted"] - given["force_tainted"]
    played = _two_classes({"untainted": untainted, "tainted": given["tainted"]})
    played.nodes += forced
    played.machines = len(played.nodes)
    return {"removed": -len(played.run().goes)}
