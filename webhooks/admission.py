"""What is added to a pod at admission: a pure function of the pod and the pools.

A pod that selects pools gets the tolerations that it needs for their nodes. A pod that selects none
belongs to the pool `default`, if there is one, in the way that the pool's `placement` says. Nothing
else is added, and nothing of the pod is changed. A pod that already has everything gets nothing,
because the API server may call twice.

The purpose of taints is to keep pods off. So only a pod that selects a pool by its name gets its
tolerations. A pod that selects "any pool", or "all but this one", needs its own tolerations.

`webhooks.registration.policy` has the same rule in CEL.
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
    """The outcome of a review, for the metrics."""

    EXEMPT = "exempt"
    """The pod doesn't concern growth."""
    UNCHANGED = "unchanged"
    """It has everything that it needs, or it has no pool."""
    PATCHED = "patched"
    MISSING_POOL = "missing_pool"
    """It selects a pool that doesn't exist."""
    UNREADABLE_POOL = "unreadable_pool"
    """Its pool exists, but this version can't read it."""
    UNREADABLE_POD = "unreadable_pod"
    FAILED = "failed"
    """The rule raised an error: a bug."""
    TOO_LARGE = "too_large"
    """It has so many conditions that checking them would delay other pods."""


class AdmissionDecision(NamedTuple):
    """The answer to one review."""

    outcome: AdmissionOutcome
    patch: tuple[Add, ...] = ()
    warnings: tuple[str, ...] = ()


LARGEST: Final = 1000
"""The most tolerations and node affinity conditions of a pod. A few are usual. As many as fit into
the API server's 3 MiB would take half a second, in which no other pod is served."""

EXEMPT: Final = AdmissionDecision(AdmissionOutcome.EXEMPT)


def decide(pod: AdmittedPod, pools: AdmissionPools) -> AdmissionDecision:
    """What to add to a pod, and the warnings for its creator."""
    # A pod with a node is past the scheduler, and tolerations would change nothing but its
    # eviction.
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
    # One part of a selector may name a pool that another part excludes.
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
    # New pods must not be tied to a pool that is being deleted.
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
    """Whether it has a preference for pools, its own or ours from an earlier call."""
    return any(
        requirement.key == POOL_LABEL
        for wish in pod.preferences
        for requirement in wish.preference.match_expressions or ()
    )


def _tolerate(pod: AdmittedPod, pools: Iterable[Pool]) -> tuple[Add, ...]:
    """The tolerations that the pod lacks, without duplicates."""
    lacking = dict.fromkeys(
        taint
        for pool in pools
        for taint in pool.taints
        if not any(each.tolerates(taint) for each in pod.tolerations)
    )
    return tolerate(lacking, own=pod.tolerations)
