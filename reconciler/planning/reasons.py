"""Why a pod has no place, and why a machine has its type, in words that a user can act on.

The solver gives the first reason that applies, as numbers without names. This module adds what the
pod requests, what the offers have instead, and a way to fix it, if there is one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import POOL_LABEL
from growth.demand.pools import UsablePools, match_pools, wish_of
from growth.scheduling.resources import CPU, MEMORY, shown_amount
from growth.scheduling.verdicts import RejectionReason as Constraint
from reconciler.buying.limits import LimitKind
from reconciler.buying.offers import offer_key, sold_to
from reconciler.buying.templates import node_labels
from reconciler.facts.node_classes import node_class_of
from reconciler.planning.pod_rules import NEAR
from reconciler.planning.problem import NARROWED_BY
from reconciler.solver import UnplacedCause

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from growth.scheduling.pod import Pod
    from reconciler.buying.limits import SetLimit
    from reconciler.buying.offers import Purchasable
    from reconciler.core.world import World
    from reconciler.providers.port import Offering
    from reconciler.solver import PlannedNode, UnplacedReason

NAMED: Final = 5
"""How many names a text lists before it says "and N more"."""
LONGEST: Final = 256
"""The most characters of an offer's name (it contains own labels) or of an affinity in a text."""


def reason_text(
    reason: UnplacedReason,
    pod: Pod,
    items: Sequence[Purchasable],
    world: World,
    *,
    limit: SetLimit | None = None,
) -> str:
    """The reason for one pod; `items` can be bought, and `limit` is the limit that was reached."""
    match reason.cause:
        case UnplacedCause.TOO_LARGE:
            return _too_large(reason, pod, items, world)
        case UnplacedCause.LIMIT if reason.rule:
            return _limited(reason, limit)
        case UnplacedCause.CONSTRAINT:
            return _emptied(reason, pod, items, world)
        case UnplacedCause.COUNT:
            return _used_up(reason, items)
        case UnplacedCause.GROUP if reason.rule.startswith(NEAR):
            return f"its pod affinity requires {_shared(pod)}, where no node has room for it"
        case _:
            return reason.text


def _too_large(reason: UnplacedReason, pod: Pod, items: Sequence[Purchasable], world: World) -> str:
    name = reason.resource
    needs = f"needs {shown_amount(name, reason.needed)} of {name}"
    largest = next((each for each in items if each.name == reason.offer), None)
    if largest is None:
        return f"{needs}; the most that a node has left is {shown_amount(name, reason.available)}"
    pool = f'pool "{largest.pool.name}"'
    mend = _mend(pod, largest, world, name=name)
    if not reason.available:
        return f"{needs}, which no offer of {pool} has. {mend}"
    offering = largest.offering
    where = f"{offering.server_type.canonical} in {offering.location}"
    left = shown_amount(name, reason.available)
    return f"{needs}; the largest offer of {pool} leaves {left} ({where}). {mend}"


def _mend(pod: Pod, largest: Purchasable, world: World, *, name: str) -> str:
    """Suggests the cheapest large enough offering that the pool doesn't allow yet.

    Besides resources, only labels are compared. This is advice; the next plan checks everything.
    """
    pool = largest.pool
    sold = world.offerings.get(node_class_of(pool, world), ())
    large = [each for each in sold if _holds(each, pod, first=name)]
    own = {offer_key(each) for each in sold_to(pool, large)}
    others = (
        each
        for each in large
        if offer_key(each) not in own
        and pod.wanted_nodes.matches("planned", node_labels(pool, each, name="planned"))
    )
    own_currency = largest.offering.currency
    found = min(
        others,
        key=lambda each: (
            # Prices of another currency can't be compared, so these offers come last.
            each.currency != own_currency,
            each.currency,
            each.price,
            each.server_type,
        ),
        default=None,
    )
    if found is None:
        return "Nothing that its node class sells has that much for it: lower the request"
    is_listed = any(entry.name == found.server_type for entry in pool.spec.server_types)
    where = f" in {found.location}" if is_listed else ""
    price = f"{found.price:.4f} {found.currency}".rstrip()
    return (
        f"Allow {found.server_type.canonical}{where} in the pool ({price} per hour), "
        "or lower the request"
    )


def _holds(offering: Offering, pod: Pod, *, first: str) -> bool:
    room = offering.allocatable
    return room[first] >= pod.requests[first] and room.covers(pod.requests)


def _limited(reason: UnplacedReason, limit: SetLimit | None) -> str:
    """The figures are in the solver's units."""
    if limit is None or not limit.pool:
        return f"a limit rules out every offer that fits: {reason.rule}"
    where = f'{limit.what} of pool "{limit.pool}"'
    if not reason.available:
        return f"{where} is reached: raise it, or wait until a node of the pool is removed"
    left, least = (_counted(limit, amount) for amount in (reason.available, reason.needed))
    return f"{where} leaves {left}, but the smallest node that fits counts {least}: raise it"


def _used_up(reason: UnplacedReason, items: Sequence[Purchasable]) -> str:
    """The offers that fit, all of which the provider has run out of."""
    names = sorted(
        {
            f"{item.offering.server_type.canonical} in {item.offering.location}"
            for item in items
            if item.name in reason.offers
        }
    )
    if not names:
        return reason.text
    fits, them = ("fits", "it") if len(names) == 1 else ("fit", "them")
    return f"only {_few(names)} {fits}, and the provider has no more of {them}"


def _counted(limit: SetLimit, amount: int) -> str:
    match limit.kind:
        case LimitKind.CPU:
            return shown_amount(CPU, amount)
        case LimitKind.MEMORY:
            return shown_amount(MEMORY, amount)
        case LimitKind.HOURLY_COST:
            return f"{amount / 1e6:.4f} {limit.currency}".rstrip()
        case _:
            return str(amount)


def _emptied(reason: UnplacedReason, pod: Pod, items: Sequence[Purchasable], world: World) -> str:
    """The constraint that rules out all offers; by name, if a single label or taint does."""
    own = _of_its_pools(pod, items, world)
    told = ""
    if reason.rule == NARROWED_BY[Constraint.NODE_AFFINITY]:
        told = _selector(pod, own)
    elif reason.rule == NARROWED_BY[Constraint.TAINT]:
        told = _taints(pod, own)
    elif reason.rule == NARROWED_BY[Constraint.POD_AFFINITY]:
        told = _near(pod, own)
    return told or reason.text


def _of_its_pools(pod: Pod, items: Iterable[Purchasable], world: World) -> list[Purchasable]:
    verdict = match_pools(wish_of(pod), world.pools)
    names = verdict.names if isinstance(verdict, UsablePools) else frozenset()
    return [item for item in items if item.pool.name in names]


def _selector(pod: Pod, own: Sequence[Purchasable]) -> str:
    """The label that no offer has; otherwise all requirements, which no offer meets together."""
    selected = {key: value for key, value in pod.wanted_nodes.labels if key != POOL_LABEL}
    for key, value in selected.items():
        there = {item.node.labels.get(key) for item in own}
        if value not in there:
            known = sorted(each for each in there if each is not None)
            have = f"they have {_few(known)}" if known else "none has that label"
            return (
                f"its node selector requires {key}={value}, but no offer of {_pools(own)} has it "
                f"({have})"
            )
    affinity = pod.wanted_nodes.affinity
    wanted = [f"{key}={value}" for key, value in selected.items()]
    wanted += [] if affinity is None else [affinity.text]
    needs = _few(wanted)[:LONGEST]
    return f"it requires a node with {needs}, but no offer of {_pools(own)} matches"


def _taints(pod: Pod, own: Sequence[Purchasable]) -> str:
    """The taints that the pod doesn't tolerate, if each offer has one of them."""
    found = {
        taint.text
        for item in own
        for taint in item.node.spec.taints
        if not any(each.tolerates(taint) for each in pod.spec.tolerations)
    }
    if not found:
        return ""
    return f"it doesn't tolerate {_few(sorted(found))}, which nodes of {_pools(own)} have"


def _near(pod: Pod, own: Sequence[Purchasable]) -> str:
    """The pods that it must be near, and the topology key that it must share with them."""
    return f"its pod affinity requires {_shared(pod)}, which no offer of {_pools(own)} can have"


def _shared(pod: Pod) -> str:
    terms = (
        f"the same {term.topology_key} as pods with {term.selector.text}"
        for term in pod.affinity_terms
    )
    return _few(list(terms))[:LONGEST]


def _pools(items: Iterable[Purchasable]) -> str:
    return _few(sorted({f'pool "{item.pool.name}"' for item in items}))


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def why(node: PlannedNode, item: Purchasable) -> str:
    """Why this type: its price, its pods, and the price of the next best type.

    It becomes the annotation `growth.dev/plan` of request and node, so it is limited to 1 KiB.
    """
    best = node.next_best
    told = {
        "offer": item.name[:LONGEST],
        "price": str(item.offering.price),
        "pods": sum(node.pods.values()),
        "next": None if best is None else {"type": best.type, "price": f"{best.price / 1e6:.6f}"},
    }
    return json.dumps(told, separators=(",", ":"))
