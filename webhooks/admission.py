"""What becomes of a pod that is about to be created: a pure function of the pod and the pools.

A pod that names pools gets what it lacks to be let onto their nodes. A pod that names none belongs
to the pool `default`, if there is one, in the way which that pool's `placement` says. Everything
else is left as it is. Nothing of the pod's own is touched, and a pod that has all of it already
gets nothing: the API server may ask twice.

Taints are there to keep pods off, so they are tolerated for pools that are named by their names
alone. A pod that wants "any pool", or "all but this one", has to bring its own tolerations.

`webhooks.registration.policy` says the same in CEL.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.nodepool import Placement
from growth.api.wellknown import ADMISSION_DISABLED, ADMISSION_LABEL, DEFAULT_POOL, POOL_LABEL
from growth.demand.pools import wish_of
from webhooks import wording
from webhooks.patch import Add, prefer_pool, require_pool, tolerate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.demand.pools import PoolChoice
    from webhooks.pod import AdmittedPod
    from webhooks.pools import AdmissionPools, Pool


class AdmissionOutcome(enum.Enum):
    """What was done, for the metrics."""

    EXEMPT = "exempt"
    """The pod is none of growth's business."""
    UNCHANGED = "unchanged"
    """It has all that it needs, or no pool is meant."""
    PATCHED = "patched"
    MISSING_POOL = "missing_pool"
    """It names a pool that isn't there."""
    UNREADABLE_POOL = "unreadable_pool"
    """Its pool is there, but not in a form that this version can read."""
    UNREADABLE_POD = "unreadable_pod"
    FAILED = "failed"
    """Our own rule went wrong: a bug."""
    TOO_LARGE = "too_large"
    """It has more conditions than anybody would write, and to judge it would hold up the others."""


class AdmissionDecision(NamedTuple):
    """The answer to one review."""

    outcome: AdmissionOutcome
    patch: tuple[Add, ...] = ()
    warnings: tuple[str, ...] = ()


LARGEST: Final = 1000
"""Tolerations, wishes and conditions about nodes that a pod may have. A few are usual; what fits
into the API server's 3 MiB would take half a second, in which nobody else is served."""

EXEMPT: Final = AdmissionDecision(AdmissionOutcome.EXEMPT)


def decide(pod: AdmittedPod, pools: AdmissionPools) -> AdmissionDecision:
    """What to add to a pod, and what to tell whoever creates it."""
    if pod.spec.node_name or pod.metadata.labels.get(ADMISSION_LABEL) == ADMISSION_DISABLED:
        return EXEMPT
    if pod.size > LARGEST:
        return AdmissionDecision(
            AdmissionOutcome.TOO_LARGE, warnings=(wording.too_large(limit=LARGEST),)
        )
    known = pod.for_scheduling
    if known.is_of_daemon_set or known.is_static:
        return EXEMPT
    wish = wish_of(known)
    return _named(pod, wish, pools) if wish.names_a_pool else _unnamed(pod, pools)


def _named(pod: AdmittedPod, wish: PoolChoice, pools: AdmissionPools) -> AdmissionDecision:
    usable = (pools.by_name[name] for name in wish.names if name in pools.by_name)
    patch = _tolerate(pod, (pool for pool in usable if wish.admits(pool.name)))
    strange = [name for name in wish.names if name in pools.unreadable]
    missing = [name for name in wish.names if name not in pools]
    warnings = (
        *wording.missing(missing, existing=pools),
        *(wording.unreadable(name) for name in strange),
    )
    return AdmissionDecision(_outcome(patch, missing=missing, strange=strange), patch, warnings)


def _outcome(patch: tuple[Add, ...], *, missing: list[str], strange: list[str]) -> AdmissionOutcome:
    if missing:
        return AdmissionOutcome.MISSING_POOL
    if strange:
        return AdmissionOutcome.UNREADABLE_POOL
    return AdmissionOutcome.PATCHED if patch else AdmissionOutcome.UNCHANGED


def _unnamed(pod: AdmittedPod, pools: AdmissionPools) -> AdmissionDecision:
    if DEFAULT_POOL in pools.unreadable:
        return AdmissionDecision(
            AdmissionOutcome.UNREADABLE_POOL, warnings=(wording.unreadable(DEFAULT_POOL),)
        )
    default = pools.by_name.get(DEFAULT_POOL)
    # A pool that goes away must not bind new pods to itself.
    if default is None or default.is_being_deleted:
        return AdmissionDecision(AdmissionOutcome.UNCHANGED)
    patch = (*_tolerate(pod, (default,)), *_place(pod, default))
    return AdmissionDecision(
        AdmissionOutcome.PATCHED if patch else AdmissionOutcome.UNCHANGED, patch
    )


def _place(pod: AdmittedPod, pool: Pool) -> tuple[Add, ...]:
    match pool.placement:
        case Placement.REQUIRE:
            return require_pool(pod.selector, pool.name)
        case Placement.PREFER:
            return () if _prefers_a_pool(pod) else prefer_pool(pod.spec.affinity, pool.name)
        case Placement.ALLOW:
            return ()


def _prefers_a_pool(pod: AdmittedPod) -> bool:
    """Whether it has a wish about pools: its own, or ours of the first time."""
    return any(
        requirement.key == POOL_LABEL
        for wish in pod.preferences
        for requirement in wish.preference.match_expressions or ()
    )


def _tolerate(pod: AdmittedPod, pools: Iterable[Pool]) -> tuple[Add, ...]:
    """The tolerations that it lacks, each once."""
    lacking = dict.fromkeys(
        taint
        for pool in pools
        for taint in pool.taints
        if not any(each.tolerates(taint) for each in pod.tolerations)
    )
    return tolerate(lacking, own=pod.tolerations)
