"""From the bytes of a review to the bytes of its answer, with the current pools.

Nothing here waits, and the pod is always allowed. That is also true if our own rule fails, which is
counted and logged with the name of the pod. So one strange pod harms neither itself nor others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from growth.errors import RetryLater
from webhooks import review, wording
from webhooks.admission import EXEMPT, AdmissionDecision, AdmissionOutcome, decide
from webhooks.registration.exempt import KUBE_SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable

    from webhooks.metrics import AdmissionMetrics
    from webhooks.pools import AdmissionPools

_log = structlog.get_logger(__name__)


class Desk:
    """Answers reviews."""

    def __init__(
        self,
        pools: Callable[[], AdmissionPools | None],
        *,
        own_namespace: str,
        metrics: AdmissionMetrics,
    ) -> None:
        """`pools` returns the current pools, or None while they aren't known."""
        self._pools = pools
        self._exempt = frozenset({KUBE_SYSTEM, own_namespace})
        self._metrics = metrics

    def answer(self, body: bytes) -> bytes:
        """The answer to one review; raises `NotAReview` if it isn't one."""
        pools = self._pools()
        if pools is None:
            # Whether the pod is allowed meanwhile depends on the failurePolicy of the registration.
            raise RetryLater("the NodePools are not known yet")
        request = review.decode(body)
        if isinstance(request, review.UnreadableReview):
            decision = _unreadable(request.problem)
        else:
            decision = self._guarded(request, pools)
        self._metrics.decided(decision.outcome)
        return review.allowed_review(request.uid, patch=decision.patch, warnings=decision.warnings)

    def _guarded(self, request: review.Request, pools: AdmissionPools) -> AdmissionDecision:
        try:
            return self._decide(request, pools)
        except Exception as error:  # noqa: BLE001 - other pods may work
            pod = f"{request.namespace}/{request.name or '(unnamed)'}"
            _log.exception("could not process a pod", pod=pod)
            return AdmissionDecision(
                AdmissionOutcome.FAILED, warnings=(wording.failed_review(type(error).__name__),)
            )

    def _decide(self, request: review.Request, pools: AdmissionPools) -> AdmissionDecision:
        # The registration of growth sends nothing else. One that people have written may.
        if request.operation != "CREATE" or request.sub_resource:
            return EXEMPT
        if request.kind != review.POD or request.object is None:
            return _unreadable("it isn't a v1 Pod")
        if request.namespace in self._exempt:
            return EXEMPT
        return decide(request.object, pools)


def _unreadable(problem: str) -> AdmissionDecision:
    return AdmissionDecision(
        AdmissionOutcome.UNREADABLE_POD, warnings=(wording.unreadable_pod(problem),)
    )
