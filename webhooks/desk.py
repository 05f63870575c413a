"""From the bytes of a review to the bytes of its answer, with the pools of this moment.

Nothing here waits for anything, and whatever comes of it, the pod is let in: also when our own rule
fails, which is counted and logged with the pod's name, so that one strange pod harms neither itself
nor others.
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
    """Where reviews are answered."""

    def __init__(
        self,
        pools: Callable[[], AdmissionPools | None],
        *,
        own_namespace: str,
        metrics: AdmissionMetrics,
    ) -> None:
        """`pools` gives those of the moment, or None as long as they aren't known."""
        self._pools = pools
        self._exempt = frozenset({KUBE_SYSTEM, own_namespace})
        self._metrics = metrics

    def answer(self, body: bytes) -> bytes:
        """The answer to one review; `NotAReview` if it is none."""
        pools = self._pools()
        if pools is None:
            # Whether the pod may come in meanwhile is for the registration's failurePolicy to say.
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
        except Exception as error:  # noqa: BLE001 - the next pod is another one
            pod = f"{request.namespace}/{request.name or '(unnamed)'}"
            _log.exception("a pod could not be judged", pod=pod)
            return AdmissionDecision(
                AdmissionOutcome.FAILED, warnings=(wording.failed_review(type(error).__name__),)
            )

    def _decide(self, request: review.Request, pools: AdmissionPools) -> AdmissionDecision:
        if request.operation != "CREATE" or request.sub_resource:
            return EXEMPT
        if request.kind != review.POD or request.object is None:
            return _unreadable("it is no v1 Pod")
        if request.namespace in self._exempt:
            return EXEMPT
        return decide(request.object, pools)


def _unreadable(problem: str) -> AdmissionDecision:
    return AdmissionDecision(
        AdmissionOutcome.UNREADABLE_POD, warnings=(wording.unreadable_pod(problem),)
    )
