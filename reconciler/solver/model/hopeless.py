"""Finds the pods that no purchase can place, before the search, and says why in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.model.plan import UnplacedCause, UnplacedReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.model.lots import Lot, OfferArrays
    from reconciler.solver.model.problem import Offer, PodClass, Problem

CHUNK = 4_000_000
"""Comparisons in one array operation: limits the memory used for ten thousand different pods."""


def placeable(lots: Sequence[Lot], ground: OfferArrays) -> NDArray[np.bool_]:
    """For each lot, whether one of its allowed offers has room for a unit."""
    result = np.zeros(len(lots), dtype=np.bool_)
    step = max(1, CHUNK // max(1, ground.capacity.size))
    for start in range(0, len(lots), step):
        part = lots[start : start + step]
        requests = np.array([lot.requests for lot in part], dtype=np.float64)
        roomy = np.asarray((ground.capacity[None, :, :] >= requests[:, None, :]).all(axis=2))
        allowed = np.array([lot.allowed for lot in part], dtype=np.bool_)
        result[start : start + step] = (roomy & allowed).any(axis=1)
    return result


def why_hopeless(problem: Problem, ground: OfferArrays, pod: PodClass) -> UnplacedReason | None:
    """The first reason that rules out all offers for a pod, or None if one can take it."""
    if not problem.offers:
        return UnplacedReason(cause=UnplacedCause.NO_OFFERS, text="no offer can be bought")
    if not ground.largest(pod.offers):
        return _emptied(problem, pod)
    return _too_large(problem, ground, pod)


def _emptied(problem: Problem, pod: PodClass) -> UnplacedReason:
    before = len(problem.offers)
    # The first constraint that leaves nothing is the one to tell: the later ones had nothing to
    # judge.
    for name, left in pod.narrowed:
        if left == 0:
            text = f"0 of {before} offers fit: {name}"
            return UnplacedReason(
                cause=UnplacedCause.CONSTRAINT, text=text, rule=name, available=before
            )
        before = left
    text = f"0 of {before} offers are allowed"
    return UnplacedReason(cause=UnplacedCause.CONSTRAINT, text=text, available=before)


def _too_large(problem: Problem, ground: OfferArrays, pod: PodClass) -> UnplacedReason | None:
    """A resource that no allowed offer has enough of, or else what the closest offer lacks."""
    for r, (most, o) in enumerate(ground.largest(pod.offers)):
        if pod.requests[r] > most:
            return _lacks(problem, ground.offers[o], pod, r=r, who="the largest offer")
    allowed = np.flatnonzero(ground.allowed_to(pod.offers))
    # Each resource alone fits on some offer, but perhaps no offer has all of them. The closest one
    # lacks the fewest resources.
    lacking = ground.capacity[allowed] < np.array(pod.requests, dtype=np.float64)
    missing = lacking.sum(axis=1)
    if not missing.all():
        return None
    row = int(missing.argmin())
    offer = ground.offers[int(allowed[row])]
    return _lacks(problem, offer, pod, r=int(lacking[row].argmax()), who="the closest offer")


def _lacks(problem: Problem, offer: Offer, pod: PodClass, *, r: int, who: str) -> UnplacedReason:
    resource, needed, available = problem.resources[r], pod.requests[r], offer.capacity[r]
    return UnplacedReason(
        cause=UnplacedCause.TOO_LARGE,
        text=f"needs {needed} of {resource}; {who} leaves {available} ({offer.type or offer.name})",
        resource=resource,
        needed=needed,
        available=available,
        offer=offer.name,
    )
