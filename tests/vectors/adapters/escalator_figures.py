"""Escalator's figures: percentages, differences, bounds, the lock and the times of grace."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from growth.api.written import write_time
from growth.errors import Misconfigured
from growth.scheduling.taints import Taint
from reconciler.scaling.utilisation.bounds import (
    decreased_target,
    increased_target,
    nodes_to_taint,
    target_without,
)
from reconciler.scaling.utilisation.bounds import nodes_to_add as addable
from reconciler.scaling.utilisation.grace import Fate, GracePeriods
from reconciler.scaling.utilisation.lock import LockTimes, ScaleLock
from reconciler.scaling.utilisation.marks import tainted_at
from reconciler.scaling.utilisation.nodes import GroupNode
from reconciler.scaling.utilisation.percent import (
    Percent,
    Thresholds,
    nodes_from_zero,
    nodes_missing,
    utilisation,
)
from tests.scheduling import build
from tests.vectors.escalating import START, PlayedGroup, like, options_of, pods_of, room, span
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.scaling.utilisation.percent import Share
    from tests.vectors.rows import Json

WHOLE = 10**9


def _told(answer: Callable[[], Json]) -> Json:
    try:
        return answer()
    except Misconfigured as error:
        return {"error": str(error)}


def _shown(share: Share) -> float | str:
    return "infinite" if share == math.inf else float(share)


@adapts("percent_usage", system="escalator")
def percent_usage(given: Json) -> Json:
    def answer() -> Json:
        requests = room(given["cpu_request"], given["mem_request"])
        capacity = room(given["cpu_capacity"], given["mem_capacity"])
        found = utilisation(requests, capacity, nodes=given["untainted_nodes"])
        return {"cpu_percent": _shown(found.cpu), "mem_percent": _shown(found.memory)}

    return _told(answer)


@adapts("scale_up_delta", system="escalator")
def scale_up_delta(given: Json) -> Json:
    threshold = given["scale_up_threshold_percent"]
    if given.get("from_zero"):
        return {"delta": _from_zero(given, threshold)}

    def answer() -> Json:
        before = _before(given)
        nodes = given["nodes"]
        delta = nodes_missing(nodes, before, threshold=threshold)
        after = _after(before, nodes, delta)
        return {
            "delta": delta,
            "new_total": nodes + delta,
            "cpu_percent_before": float(before.cpu),
            "mem_percent_before": float(before.memory),
            "cpu_percent_after": float(after.cpu),
            "mem_percent_after": float(after.memory),
        }

    return _told(answer)


def _from_zero(given: Json, threshold: int) -> int:
    cached = given["cached_cpu_milli"]
    known = None if cached is None else room(cached, given.get("cached_mem") or 0)
    requests = room(given["pods_cpu_milli"], given.get("pods_mem") or 0)
    return nodes_from_zero(requests, known, threshold=threshold)


def _before(given: Json) -> Percent:
    if "cpu_percent" in given:
        return Percent(Fraction(str(given["cpu_percent"])), Fraction(str(given["mem_percent"])))
    pods, nodes = given["pods"], given["nodes"]
    requests = room(pods * given["pod_cpu_milli"], pods * given["pod_mem"])
    capacity = room(nodes * given["node_cpu_milli"], nodes * given["node_mem"])
    return utilisation(requests, capacity, nodes=nodes)


def _after(before: Percent, nodes: int, delta: int) -> Percent:
    """The same requests on more nodes, in units that keep them whole."""
    requests = room(*(int(Fraction(share) * nodes * WHOLE) for share in before))
    capacity = room(*[100 * (nodes + delta) * WHOLE] * 2)
    return utilisation(requests, capacity, nodes=nodes + delta)


@adapts("nodes_to_add", system="escalator")
def nodes_to_add(given: Json) -> Json:
    wanted, target = given["nodes_to_add"], given["target_size"]
    return {"nodes_to_add": addable(wanted, target=target, most=given["max_nodes"])}


@adapts("threshold_decision", system="escalator")
def threshold_decision(given: Json) -> Json:
    thresholds = Thresholds(given["taint_lower"], given["taint_upper"], given["scale_up"])
    return {"action": thresholds.action(Fraction(str(given["utilisation_percent"]))).value}


@adapts("scale_down_taint", system="escalator")
def scale_down_taint(given: Json) -> Json:
    try:
        tainted = nodes_to_taint(
            given["delta"],
            untainted=given["untainted"],
            min_nodes=given["min_nodes"],
            target=given["provider_target"],
            least=given["provider_min"],
        )
    except Misconfigured as error:
        return {"tainted": 0, "error": str(error)}
    return {"tainted": tainted}


@adapts("grace_period", system="escalator")
def grace_period(given: Json) -> Json:
    if "taint_value" in given:
        taint = Taint("growth.dev/scale-down", "NoSchedule", given["taint_value"])
        at = tainted_at(build.node(taints=[_written(taint)]))
    else:
        at = START - span(given["age"])
    node = GroupNode(
        name="one",
        is_tainted=True,
        tainted_at=at,
        is_empty=given["empty"],
        is_protected=bool(given.get("no_delete")),
    )
    periods = GracePeriods(
        soft=span(given["soft_delete_grace_period"]), hard=span(given["hard_delete_grace_period"])
    )
    return {"decision": "keep" if periods.fate(node, START) is Fate.STAYS else "delete"}


def _written(taint: Taint) -> Json:
    return {"key": taint.key, "effect": taint.effect, "value": taint.value}


@adapts("scale_lock", system="escalator")
def scale_lock(given: Json) -> Json:
    if not given["locked"]:
        played = PlayedGroup(
            options=options_of(given), nodes=[], demand=pods_of(None), machines=0, most=1
        )
        return {"locked": played.run().lock is not None}
    lock = ScaleLock(since=START - span(given["elapsed"]), is_confirmed=given["confirmed_earlier"])
    return {"locked": lock.is_held(START, _times(given))}


def _times(given: Json) -> LockTimes:
    return LockTimes(
        period=span(given["scale_up_cool_down_period"]),
        timeout=span(given["scale_up_cool_down_timeout"]),
    )


@adapts("scale_lock_confirm", system="escalator")
def scale_lock_confirm(given: Json) -> Json:
    size = {"cpu_milli": 1, "mem": 1}
    young, old = (write_time(START - span(age)) for age in ("1m", "1h"))
    played = PlayedGroup(
        options=options_of({}),
        nodes=[
            *like(size, count=given["ready"], prefix="ready"),
            *like(size, count=given["not_ready_young"], prefix="y", is_ready=False, created=young),
            *like(size, count=given["not_ready_old"], prefix="o", is_ready=False, created=old),
        ],
        demand=pods_of(None),
        machines=given["provider_target"],
        most=given["provider_target"],
    )
    arrived = played.group().arrived()
    arrived = msgspec.structs.replace(arrived, machines=given["provider_size"])
    return {"unlocks": arrived.confirm(given["provider_target"])}


@adapts("scale_lock_validate", system="escalator")
def scale_lock_validate(given: Json) -> Json:
    return {"valid": _times(given).are_possible}


@adapts("provider_increase", system="escalator")
def provider_increase(given: Json) -> Json:
    return _told(
        lambda: {"target": increased_target(given["target"], given["delta"], most=given["max"])}
    )


@adapts("provider_decrease", system="escalator")
def provider_decrease(given: Json) -> Json:
    return _told(
        lambda: {"target": decreased_target(given["target"], given["delta"], least=given["min"])}
    )


@adapts("provider_delete", system="escalator")
def provider_delete(given: Json) -> Json:
    members, names = ([f"instance-{n}" for n in given[part]] for part in ("instances", "delete"))

    def answer() -> Json:
        target_without(names, members=members, target=given["target"], least=given["min"])
        return {"ok": True}

    return _told(answer)


@adapts("provider_size", system="escalator")
def provider_size(given: Json) -> Json:
    nodes = like({"cpu_milli": 1, "mem": 1}, count=given["instances"])
    played = PlayedGroup(
        options=options_of({}), nodes=nodes, demand=pods_of(None), machines=len(nodes), most=9
    )
    return {"size": played.group().arrived().machines}
