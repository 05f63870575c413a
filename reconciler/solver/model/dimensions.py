"""Rules about single nodes, written as resources so that packing needs no rule of its own.

"At most 3 pods of a group on a node" is a resource: each node has 3 of it and each pod takes 1.
Pods that all repel each other share a resource of 1. So relaxation, bound, packing and proof keep
these rules without extra code. Only one-sided repulsion remains, as a table of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.problem import HOSTNAME, Apart, Near, Together
from reconciler.solver.model.spreads import PLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.problem import Problem
    from reconciler.solver.model.spreads import Assumptions

ENDLESS = 2**40
"""A count that no plan reaches; it means "no limit"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """The additional resources, and how many units of each class one node may hold."""

    size: NDArray[np.float64]
    capacity: NDArray[np.float64]
    per_node: NDArray[np.float64]


def node_dimensions(
    problem: Problem,
    lots: Sequence[Lot],
    *,
    allowed: NDArray[np.bool_],
    ground: OfferArrays,
    assumed: Assumptions,
) -> Dimensions:
    """The resources that rules about single nodes add to those of the problem.

    `assumed` is about the emptiest node of each spread over nodes.
    """
    per_node = np.array(
        [float(ENDLESS) if lot.per_node is None else lot.per_node for lot in lots], dtype=np.float64
    )
    sizes: list[NDArray[np.float64]] = []
    capacities: list[NDArray[np.float64]] = []
    for size, capacity in [*_shared(problem, lots, ground, assumed), *_cliques(lots, ground)]:
        members = size > 0
        # Where no offer admits two of the members, the rule is a count per class. That is much
        # cheaper than a resource: each resource is one more column in every array operation.
        alone = allowed[members].sum(axis=0).max(initial=0) <= 1
        if alone and (capacity == capacity[:1]).all():
            per_node[members] = np.minimum(per_node, capacity[:1] // np.maximum(size, 1))[members]
        else:
            sizes.append(size)
            capacities.append(capacity)
    k, o, r = len(lots), len(ground.offers), len(sizes)
    return Dimensions(
        size=np.array(sizes, dtype=np.float64).reshape(r, k).T,
        capacity=np.array(capacities, dtype=np.float64).reshape(r, o).T,
        per_node=per_node,
    )


Column = "tuple[NDArray[np.float64], NDArray[np.float64]]"


def _shared(
    problem: Problem, lots: Sequence[Lot], ground: OfferArrays, assumed: Assumptions
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    columns = []
    for group in sorted(problem.groups, key=lambda group: group.name):
        if isinstance(group, Together | Near) or group.key != HOSTNAME:
            continue
        size = np.array([dict(lot.shares).get(group.name, 0) for lot in lots], dtype=np.float64)
        emptiest = 0 if isinstance(group, Apart) else assumed.get(group.name, PLAIN).lowest
        most = emptiest + (group.most if isinstance(group, Apart) else group.max_skew)
        left = [most - group.running.get(offer.name, 0) for offer in ground.offers]
        if size.any():
            columns.append((size, np.maximum(np.array(left, dtype=np.float64), 0.0)))
    return columns


def _cliques(
    lots: Sequence[Lot], ground: OfferArrays
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """For each token the lots that both carry and repel it: any two of them need two nodes."""
    tokens = sorted({token for lot in lots for token in lot.marks & lot.repels})
    columns = []
    for token in tokens:
        size = np.array([token in lot.marks & lot.repels for lot in lots], dtype=np.float64)
        columns.append((size, np.ones(len(ground.offers))))
    return columns


def clashes_of(lots: Sequence[Lot]) -> NDArray[np.bool_] | None:
    """The pairs of classes that may not share a node and have no resource for it, if any."""
    # Only the carriers of a token are compared: all pairs of ten thousand unlike pods are too many.
    carriers: dict[str, list[int]] = {}
    for k, lot in enumerate(lots):
        for token in lot.marks:
            carriers.setdefault(token, []).append(k)
    pairs = [
        (k, other)
        for k, lot in enumerate(lots)
        for token in lot.repels
        for other in carriers.get(token, [])
        if other != k and token not in lots[other].repels & lot.marks
    ]
    if not pairs:
        return None
    clashes = np.zeros((len(lots), len(lots)), dtype=np.bool_)
    for k, other in pairs:
        clashes[k, other] = clashes[other, k] = True
    return clashes
