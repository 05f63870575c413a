"""The last step: each node becomes the cheapest offer that holds what is on it.

This is done on the arrays of a draft. If pods were packed with larger sizes than they have, it is
done again on the finished nodes, with the real sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.arrays.draft import Draft, Stock
    from reconciler.solver.arrays.table import Table
    from reconciler.solver.model.draft_node import DraftNode
    from reconciler.solver.model.lots import OfferArrays
    from reconciler.solver.model.problem import Offer, Problem


def right_sized(table: Table, draft: Draft, stock: Stock) -> Draft:
    """The draft with the cheapest available offer in each row; `stock` is what the draft leaves."""
    draft = draft.rows(np.flatnonzero(draft.counts.any(axis=1)))
    if not len(draft.times):
        return draft
    offers = draft.offers.copy()
    sizes = draft.counts @ table.size
    blocked = (draft.counts > 0).astype(np.float32) @ (~table.allowed).astype(np.float32) > 0
    for row in range(len(offers)):
        offers[row] = _cheapest(
            table, stock, used=sizes[row], blocked=blocked[row], draft=draft, row=row
        )
    return replace(draft, offers=offers)


def _cheapest(
    table: Table,
    stock: Stock,
    *,
    used: NDArray[np.float64],
    blocked: NDArray[np.bool_],
    draft: Draft,
    row: int,
) -> int:
    """The cheapest offer for a row; the row's nodes are exchanged for it in the stock."""
    own, times = int(draft.offers[row]), int(draft.times[row])
    fits = ~blocked & (table.price < table.price[own]) & (table.capacity >= used).all(axis=1)
    if not fits.any():
        return own
    # The row's own nodes count in limits, so they are given back before others are taken.
    stock.take(own, -times)
    for o in np.flatnonzero(fits)[np.argsort(table.price[fits], kind="stable")].tolist():
        if stock.at_most(o, times) == times:
            stock.take(o, times)
            return int(o)
    stock.take(own, times)
    return own


def with_real_sizes(
    problem: Problem, ground: OfferArrays, nodes: Sequence[DraftNode]
) -> list[DraftNode]:
    """The nodes with cheaper offers where possible; unchanged if the problem has other rules."""
    # Nodes are exchanged one by one here, which can break a rule that counts several of them.
    if problem.groups or problem.limits or problem.minima:
        return list(nodes)
    classes = {pod.name: pod for pod in problem.classes}
    requests = {pod.name: np.array(pod.requests, dtype=np.float64) for pod in problem.classes}
    free = np.array([_is_free(offer) for offer in ground.offers], dtype=np.bool_)
    result = []
    for node in nodes:
        used = sum((requests[name] * n for name, n in node.pods.items()), np.zeros(1))
        fits = free & (ground.capacity >= used).all(axis=1) & (ground.price < node.offer.price)
        for name in node.pods:
            fits &= ground.allowed_to(classes[name].offers)
        better = not node.offer.exists and fits.any()
        place = int(np.where(fits, ground.price, np.iinfo(np.int64).max).argmin())
        result.append(replace(node, offer=ground.offers[place]) if better else node)
    return result


def _is_free(offer: Offer) -> bool:
    """Whether any number can be bought, and no pod is repelled by what is already there."""
    return offer.most is None and not offer.exists and not offer.marks and not offer.repels
