"""Requests that have done their work are deleted after their time to live; their machines stay.

A refusal is in the pool's status before its request is deleted, so it outlives the request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.noderequest import RequestPhase
from growth.instant import just_after
from reconciler.buying.refusals import is_written, time_to_live
from reconciler.core.step import WAIT, Step
from reconciler.facts.finalizers import has_our_finalizer, let_go
from reconciler.provisioning.writing import delete_request

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant


def finished(request: NodeRequest, pool: NodePool, now: Instant) -> Step:
    """The finalizer is removed at once, as it protects nothing now; the object goes later."""
    if has_our_finalizer(request):
        return Step(actions=(let_go(request),), why="the request needs no finalizer any more")
    if request.metadata.deletion_timestamp is not None:
        return WAIT
    since = request.status.last_transition_time
    left = _time_to_live(request, pool) - now.seconds_since(since) if since else -1.0
    # A time to live is over when it is exceeded, not when it is met.
    if left >= 0:
        return Step(wake_at=just_after(now.monotonic + left))
    is_unmet = request.status.phase is RequestPhase.UNMET
    if is_unmet and since is not None and not is_written(request, pool):
        return WAIT
    return Step(actions=(delete_request(request),), why="its time to live is over")


def _time_to_live(request: NodeRequest, pool: NodePool) -> float:
    if request.status.phase is RequestPhase.UNMET:
        return time_to_live(request, pool)
    return pool.spec.request_ttl.ready.seconds
