"""What becomes of pods that a plan leaves out, and of requests that nobody has seen yet."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from reconciler import planning
from reconciler.facts.requested import UNCONFIRMED, Bought
from reconciler.ledger import Ledger
from reconciler.planning.ledger import PlanningLedger
from reconciler.planning.tries import CEILING, PAUSE, PodTries, pause_after_tries
from tests.planning.driver import Planner
from tests.reconciler.build import RELEASED, START, at, node_class, pool, request, waiting, world
from tests.vectors.registry import adapts

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from tests.vectors.rows import Json


@adapts("unconfirmed_ttl")
def unconfirmed(given: Json) -> Json:
    pod = waiting(requests={"cpu": "1"})
    lost = request("default-lost", pods=(pod,))
    # The row's time to live is the product's own, so only the age is told.
    age = given["age_seconds"] * UNCONFIRMED / given["ttl_seconds"]
    memory = PlanningLedger(
        unconfirmed={lost.name: lost}, bought={lost.name: Bought(pool="default", at=1000.0 - age)}
    )
    seen = world(pod, pool(), node_class(), ledger=Ledger(brakes=RELEASED, planning=memory))
    section = planning.decide(seen, at(1000.0)).section
    assert isinstance(section, PlanningLedger)
    return {"kept": len(section.unconfirmed)}


@adapts("seed_backoff")
def backed_off(given: Json) -> Json:
    if given.get("placed"):
        return {"consecutive": _count_after_a_place(given["consecutive"])}
    if "consecutive" in given:
        pause = pause_after_tries(given["consecutive"], patience=given["n"])
        name = {PAUSE: "normal", CEILING: "BackOff"}.get(pause, "backing-off")
        next_try = {"normal": "next loop", "BackOff": None}.get(name, "delayed")
        return {"in_demand": pause < CEILING, "state": name, "next_try": next_try}
    if "offering" in given:
        return _recovering(has_served="succeeded" in given["offering"])
    planner = Planner(waiting("left", requests={"cpu": "99"}), pool(), node_class())
    planner.until(10_000)
    (one,) = planner.memory.tries.values()
    said = [reason for name, reason, _ in planner.events if name == "left"]
    return {
        "state": one.standing(planner.now).value,
        "in_demand": one.standing(planner.now) is not PodTries.BACK_OFF,
        "event": {"on": "pod", "reason": said[-1]},
    }


def _count_after_a_place(failures: int) -> int:
    """Plans in a row that have left a pod out, after so many of them and one with a place."""
    pod, sold = waiting("left", requests={"cpu": "4"}), node_class()
    types = [each for each in sold.document()["spec"]["types"] if each["name"] == "small"]
    planner = Planner(pod, pool(), node_class(types=types))
    planner.soon()
    while planner.memory.tries[pod.metadata.uid].count < failures:
        planner.soon()
    planner.put(sold)
    planner.until(planner.now + CEILING)
    assert planner.created
    left = planner.memory.tries.get(pod.metadata.uid)
    return 0 if left is None else left.count


def _recovering(*, has_served: bool) -> Json:
    """Pods in back-off over an offer that was refused; its time runs out, a probe is bought."""
    pods = [waiting(f"web-{number}", requests={"cpu": "2"}) for number in range(3)]
    planner = Planner(*pods, _selling(until=10_000), node_class())
    planner.until(10_000.1)
    (probe,) = planner.until(10_200)
    if has_served:
        status: Any = {"phase": "Ready", "readyAt": START + timedelta(seconds=10_200)}
        planner.put(probe.model_copy(update={"status": probe.status.model_validate(status)}))
        planner.put(_selling(until=None))
    return {"in_demand": len(planner.until(10_300)) > 0}


def _selling(*, until: float | None) -> NodePool:
    """A pool that buys one offer, which isn't to be had until a moment."""
    only = pool(serverTypes=[{"name": "small", "max": 9}], locations=[{"region": "here"}])
    if until is None:
        return only
    told = {"serverType": "small", "location": "here", "until": START + timedelta(seconds=until)}
    return only.model_copy(update={"status": only.status.model_validate({"unmetOffers": [told]})})


@adapts("seed_solution")
def solution(given: Json) -> Json:
    fits = [waiting(f"web-{number}", requests={"cpu": "2"}) for number in range(3)]
    small = pool(serverTypes=[{"name": "small", "max": 9}])
    if given["result"] == "NoDemands":
        planner = Planner(small, node_class())
        return {"requests": len(planner.until(110)), "events": len(planner.events)}
    if given["result"] == "AllPlaced":
        planner = Planner(*fits, small, node_class())
        made = planner.until(110)
        nodes = len({pod.uid for each in made for pod in each.spec.pods})
        return {"requests_per_node": len(made) / nodes, "events": len(planner.events)}
    left = [waiting(f"huge-{number}", requests={"cpu": "99"}) for number in range(2)]
    planner = Planner(*fits, *left, small, node_class())
    made = planner.until(110)
    told = sorted((name, bool(note)) for name, _, note in planner.events)
    is_told = told == [("huge-0", True), ("huge-1", True)]
    return {
        "requests": "where possible" if len(made) == len(fits) else f"{len(made)} of {len(fits)}",
        "events": "one per pod that could not be placed, with the reason" if is_told else told,
    }
