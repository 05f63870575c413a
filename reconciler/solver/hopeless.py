"""Who can have no place, whatever is bought: found first, exactly, with the reason in figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reconciler.solver.plan import Cause, Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reconciler.solver.lots import Ground, Lot
    from reconciler.solver.problem import PodClass, Problem

CHUNK = 4_000_000
"""Comparisons made in one array operation; bounds the memory for ten thousand different pods."""


def placeable(lots: Sequence[Lot], ground: Ground) -> NDArray[np.bool_]:
    """For each lot, whether some allowed offer has room for a unit of it."""
    result = np.zeros(len(lots), dtype=np.bool_)
    step = max(1, CHUNK // max(1, ground.capacity.size))
    for start in range(0, len(lots), step):
        part = lots[start : start + step]
        requests = np.array([lot.requests for lot in part], dtype=np.float64)
        roomy = np.asarray((ground.capacity[None, :, :] >= requests[:, None, :]).all(axis=2))
        allowed = np.array([lot.allowed for lot in part], dtype=np.bool_)
        result[start : start + step] = (roomy & allowed).any(axis=1)
    return result


def why_hopeless(problem: Problem, ground: Ground, pod: PodClass) -> Reason | None:
    """The first true reason why no offer can ever take a pod, or nothing when one can."""
    if not problem.offers:
        return Reason(cause=Cause.NO_OFFERS, text="there is nothing that could be bought")
    names = [offer.name for offer in ground.offers]
    allowed = np.array([name in pod.offers for name in names], dtype=np.bool_)
    if not allowed.any():
        return _emptied(problem, pod)
    requests = np.array([float(amount) for amount in pod.requests])
    lacking = ground.capacity[allowed] < requests
    if not lacking.any(axis=1).all():
        return None
    return _too_large(problem, ground, pod, allowed=np.flatnonzero(allowed), lacking=lacking)


def _emptied(problem: Problem, pod: PodClass) -> Reason:
    before = len(problem.offers)
    for name, left in pod.narrowed:
        if left == 0:
            text = f"{name} leaves none of the {before} offers"
            return Reason(cause=Cause.CONSTRAINT, text=text, rule=name, available=before)
        before = left
    text = f"none of the {before} offers is allowed"
    return Reason(cause=Cause.CONSTRAINT, text=text, available=before)


def _too_large(
    problem: Problem,
    ground: Ground,
    pod: PodClass,
    *,
    allowed: NDArray[np.intp],
    lacking: NDArray[np.bool_],
) -> Reason:
    """Names a resource that no offer has enough of; else one of the offer that lacks fewest."""
    nowhere = lacking.all(axis=0)
    capacity = ground.capacity[allowed]
    if nowhere.any():
        r = int(nowhere.argmax())
        row = int(capacity[:, r].argmax())
    else:
        row = int(lacking.sum(axis=1).argmin())
        r = int(lacking[row].argmax())
    offer = ground.offers[int(allowed[row])]
    resource, needed, available = problem.resources[r], pod.requests[r], offer.capacity[r]
    most = "the most that an allowed offer leaves" if nowhere.any() else "what the closest leaves"
    return Reason(
        cause=Cause.TOO_LARGE,
        text=f"needs {resource} {needed}; {most} is {available} ({offer.type or offer.name})",
        resource=resource,
        needed=needed,
        available=available,
        offer=offer.name,
    )
