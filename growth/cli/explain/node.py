"""Why a node was bought, why it is kept, and what removing it would save."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.conditions import condition_of_type
from growth.api.noderecord import CONTESTED
from growth.api.noderequest import RequestPhase
from growth.api.wellknown import PLAN_ANNOTATION, SERVER_ID_ANNOTATION
from growth.api.written import write_time
from growth.cli.cost.expenses import expense, filled, price_when_bought
from growth.cli.explain.pod import how_far
from growth.cli.explain.story import Explanation, Fact, keeping_facts, keeping_figures
from growth.cli.terminal.money import hourly
from growth.cli.terminal.texts import ago, ahead, counted, first_few
from growth.instant import whole_second
from growth.keeping.expiry import expires_at
from growth.keeping.marks import bought_at, pool_of_node, type_of_node
from growth.scheduling.emptiness import keepers
from growth.scheduling.owners import workload_of
from growth.scheduling.resources import CPU, MEMORY
from growth.undecodable import UNDECODABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.noderecord import NodeRecord
    from growth.api.noderemovalrequest import NodeRemovalRequest
    from growth.api.noderequest import NodeRequest
    from growth.cli.cluster.survey import Survey
    from growth.cli.explain.story import Figure
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod

REGION_LABEL = "topology.kubernetes.io/region"


def explained_node(node: Node, seen: Survey) -> Explanation:
    """The explanation of one node."""
    keeping = seen.kept.get(node.name)
    if keeping is None:
        return Explanation(
            kind="Node",
            name=node.name,
            headline=f"{node.name} wasn't bought by growth, so growth doesn't manage it.",
            facts=(*_unproven(node, seen), *_load(node, seen)),
        )
    return Explanation(
        kind="Node",
        name=node.name,
        headline=_headline(node),
        facts=(
            *_bought(node, seen),
            *_contested(seen.records.get(node.name)),
            *_load(node, seen),
            *keeping_facts(keeping, seen.now.wall),
            *_age(node, seen),
            *_removal(node.name, seen),
            *_worth(node, seen),
        ),
        figures={**_figures(node, seen), **keeping_figures(keeping)},
    )


def awaited(request: NodeRequest, seen: Survey) -> Explanation:
    """The explanation of a machine that has no node yet, or has none any more."""
    spec = request.spec
    what = f"{spec.server_type} in {spec.location}, {hourly(spec.price, spec.currency)} per hour"
    pods = f"for {counted(len(spec.pods), 'pod')}{_wished_by(request, seen)}"
    return Explanation(
        kind="NodeRequest",
        name=request.name,
        headline=f"{request.name} {_without_a_node(request)}: a {what}.",
        facts=(Fact("bought", pods), Fact("how far", how_far(request, seen))),
        figures={"pool": spec.pool, "phase": request.status.phase.value, "price": str(spec.price)},
    )


def _without_a_node(request: NodeRequest) -> str:
    """The state of a missing node; a Ready request outlives its node for its time to live."""
    was_ready = request.status.phase is RequestPhase.READY
    return "is gone" if was_ready else "isn't a node yet"


def leaving(removal: NodeRemovalRequest, seen: Survey) -> Explanation:
    """The explanation of a machine whose node is gone or never existed."""
    spec, phase = removal.spec, removal.status.phase
    return Explanation(
        kind="NodeRemovalRequest",
        name=removal.name,
        headline=f"{removal.name} has no node: its machine is being removed ({spec.reason}).",
        facts=(Fact("how far", phase), *_removal(removal.name, seen)),
        figures={"pool": spec.pool, "phase": phase.value, "reason": spec.reason.value},
    )


def recorded(record: NodeRecord, seen: Survey) -> Explanation:
    """The explanation of a machine of which only its record is left."""
    spec, joined = record.spec, record.status.node
    has_been = "isn't a node yet" if joined is None else "has no node any more"
    what = f"{spec.server_type} in {spec.location}, {hourly(spec.price, spec.currency)} per hour"
    return Explanation(
        kind="NodeRecord",
        name=record.name,
        headline=f"{record.name} {has_been}: a {what}.",
        facts=(
            Fact("bought", f"{ago(spec.bought_at, seen.now.wall)} for pool {spec.pool}"),
            Fact("machine", spec.node_id),
            *_contested(record),
            Fact("how far", "the record goes once the provider no longer lists the machine"),
        ),
        figures={"pool": spec.pool, "serverType": str(spec.server_type), "price": str(spec.price)},
    )


def _unproven(node: Node, seen: Survey) -> Iterator[Fact]:
    if node.name in seen.unrecorded:
        text = "it has growth's labels but no NodeRecord, so growth ignores what they say"
        yield Fact("claims", text)


def _contested(record: NodeRecord | None) -> Iterator[Fact]:
    conditions = () if record is None else record.status.conditions
    if (found := condition_of_type(conditions, CONTESTED)) is not None:
        yield Fact("contested", found.message)


def _headline(node: Node) -> str:
    where = f" in {place}" if (place := node.labels.get(REGION_LABEL)) else ""
    state = "" if node.is_ready else ", not Ready"
    what = f"{type_of_node(node)}{where}, pool {pool_of_node(node)}"
    return f"{node.name} is a {what}, {hourly(price_when_bought(node))} per hour{state}."


def _bought(node: Node, seen: Survey) -> Iterator[Fact]:
    plan = plan_of(node)
    at = ago(bought_at(node), seen.now.wall)
    request = seen.scene.requests.get(node.name)
    pods = f" for {counted(plan['pods'], 'pod')}" if plan.get("pods") else ""
    by = _wished_by(request, seen)
    yield Fact("bought", f"{at}{pods}{by} by NodeRequest {node.name}")
    yield Fact("why this", _compared(plan, price=float(price_when_bought(node))))
    if (identity := node.metadata.annotations.get(SERVER_ID_ANNOTATION)) is not None:
        yield Fact("machine", identity)


def plan_of(node: Node) -> dict[str, Any]:
    """What the plan said when the node was bought; empty if it can't be read."""
    try:
        found = msgspec.json.decode(node.metadata.annotations.get(PLAN_ANNOTATION, "{}"))
    except UNDECODABLE:
        return {}
    return found if isinstance(found, dict) else {}


def _wished_by(request: NodeRequest | None, seen: Survey) -> str:
    """The workloads of the pods that it was bought for, as far as they still exist."""
    if request is None:
        return ""
    wanted = {pod.uid for pod in request.spec.pods}
    held = seen.scene.cluster.occupancies.values()
    pods = (*seen.pending, *(pod for each in held for pod in each.pods))
    return _of_workloads(pod for pod in pods if pod.metadata.uid in wanted)


def _of_workloads(pods: Iterable[Pod]) -> str:
    """The owners of the pods, those with the most pods first."""
    owners = Counter(str(workload_of(pod)) for pod in pods)
    return f" of {first_few(name for name, _ in owners.most_common())}" if owners else ""


def _compared(plan: dict[str, Any], *, price: float) -> str:
    if "next" not in plan:
        return "the node has no record of its plan"
    if not plan.get("pods"):
        return "the minimum of its pool requires it"
    best = plan["next"]
    if best is None:
        return "no other type of the pool fits these pods"
    other = float(best["price"])
    if other < price or not price:
        return f"{best['type']} cost {hourly(other)}, but limits or topology spread ruled it out"
    return (
        f"the next best was {best['type']} at {hourly(other)} (+{(other / price - 1) * 100:.0f} %)"
    )


def _load(node: Node, seen: Survey) -> Iterator[Fact]:
    held = seen.scene.cluster.occupancy(node.name)
    pods = keepers(held.pods)
    cpu, memory = (round(filled(node, held, name) * 100) for name in (CPU, MEMORY))
    yield Fact(
        "holds", f"{counted(len(pods), 'pod')}{_of_workloads(pods)}; cpu {cpu} %, memory {memory} %"
    )


def _age(node: Node, seen: Survey) -> Iterator[Fact]:
    """When it is replaced because of its age, if its pool says so."""
    pool = seen.scene.pools.get(pool_of_node(node))
    due = None if pool is None else expires_at(node, pool)
    if pool is not None and due is not None:
        at = f"{ahead(due, seen.now.wall)} ({write_time(whole_second(due))})"
        age = pool.spec.disruption.expire_after
        yield Fact("expires", f"{at}: expireAfter of its pool is {age}")


def _removal(name: str, seen: Survey) -> Iterator[Fact]:
    removal = seen.scene.removals.get(name)
    if removal is not None and removal.status.events:
        last = removal.status.events[-1]
        reason = f": {last.reason}" if last.reason else ""
        yield Fact("removal", f"{last.name} {ago(last.at, seen.now.wall)}{reason}")


def _worth(node: Node, seen: Survey) -> Iterator[Fact]:
    found = expense(node, seen.scene.cluster.occupancy(node.name))
    if found.price:
        price = hourly(found.price)
        unused = f"{hourly(found.idle)} of its {price} per hour is unused"
        waste = unused if round(found.idle, 4) else "no waste"
        yield Fact("worth", f"{waste}; without the node its pool costs {price} less")


def _figures(node: Node, seen: Survey) -> dict[str, Figure]:
    held = seen.scene.cluster.occupancy(node.name)
    best = plan_of(node).get("next")
    return {
        "pool": pool_of_node(node),
        "serverType": str(type_of_node(node)),
        "price": str(price_when_bought(node)),
        "idlePrice": f"{expense(node, held).idle:.6f}",
        "nextBest": None if best is None else best["type"],
        "nextBestPrice": None if best is None else best["price"],
        "pods": len(held.keepers),
        "cpu": round(filled(node, held, CPU), 4),
        "memory": round(filled(node, held, MEMORY), 4),
    }
