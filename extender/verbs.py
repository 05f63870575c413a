"""`POST /filter` and `POST /prioritize`, the two calls of kube-scheduler.

Between the last byte of a call and its answer nothing is awaited, because the scheduler places no
pod in the whole cluster meanwhile. Only while the machines of a plan open one after another, a
short delay is intended. A filter returns its input. It is evidence: the scheduler never calls an
extender for a pod that fits nowhere, so this pod has found a node and needs none from us now.
"""

from __future__ import annotations

import asyncio
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
from aiohttp import web
from prometheus_client import Counter, Histogram

from extender import protocol
from extender.door import LARGEST_BODY, MOST_LARGE, Later
from extender.scoring import better_scores
from growth.service.request_body import RequestRefused, read_body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry

    from extender.opening import Opening
    from growth.scheduling.metadata import Metadata

    Feasible = Callable[[protocol.PodHead], None]
    Scores = Callable[[Metadata, Iterable[str]], dict[str, int]]

BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.3)
"""The last one is the timeout in our extender configuration."""
PATIENCE: Final = 5.0
"""Seconds for a body to arrive. kube-scheduler waits for the answer for 0.3."""
TOLD_EVERY: Final = 60.0
"""Seconds between log lines about refused calls: a scheduler whose calls can't be read sends two of
them for each pod."""

_TOO_LARGE: Final = 413
_ADVICE: Final = "; set nodeCacheCapable: true, so that kube-scheduler sends only names of nodes"

_log = structlog.get_logger(__name__)


class VerbMetrics:
    """The metrics of the calls."""

    def __init__(self, registry: CollectorRegistry) -> None:
        seconds = Histogram(
            "growth_extender_verb_seconds",
            "Time from the last byte of a call of kube-scheduler to the answer",
            ("verb",),
            buckets=BUCKETS,
            registry=registry,
        )
        self.refused = Counter(
            "growth_extender_refused",
            "Calls that could not be read and were refused",
            registry=registry,
        )
        self.detours = Counter(
            "growth_extender_detours",
            "Calls in another form than kube-scheduler's, which take longer",
            registry=registry,
        )
        self.waits = Counter(
            "growth_extender_waits",
            "Calls that waited until all machines of a plan were open",
            registry=registry,
        )
        self.evidence_lost = Counter(
            "growth_extender_evidence_lost",
            "Pods that found a node, which was not noted because of a bug",
            registry=registry,
        )
        self.filtered: Callable[[float], None] = seconds.labels("filter").observe
        self.prioritized: Callable[[float], None] = seconds.labels("prioritize").observe


class Verbs:
    """The two verbs, for the door and for the web server."""

    def __init__(
        self, *, feasible: Feasible, scores: Scores, opening: Opening, metrics: VerbMetrics
    ) -> None:
        self._feasible = feasible
        self._scores = scores
        self._opening = opening
        self._metrics = metrics
        self._told_at = -math.inf
        self._is_waiting = False
        self._reading = asyncio.Semaphore(MOST_LARGE)
        """However many clients there are, so many bodies are in memory. The door has its own."""
        self.answers = {b"/filter": self.filter_in_time, b"/prioritize": self.prioritize}
        """For the door."""

    def application(self) -> web.Application:
        """The same verbs as a web application, for calls in another form than kube-scheduler's."""
        application = web.Application()
        for path, answer in (("/filter", self.filter), ("/prioritize", self.prioritize)):
            application.router.add_post(path, partial(self._answer, answer))
        return application

    def filter(self, body: bytes) -> bytes:
        """Return all nodes of the call, unchanged."""
        began = time.perf_counter()
        arguments = protocol.read_arguments(body)
        self._take_evidence(arguments)
        answer = arguments.unchanged
        self._metrics.filtered(time.perf_counter() - began)
        return answer

    def filter_in_time(self, body: bytes) -> bytes:
        """The same, but later if only some machines of a plan are open."""
        if self._opening:
            is_under_way = self._opening.is_under_way(
                protocol.read_arguments(body).hosts, time.monotonic()
            )
            if is_under_way and not self._is_waiting:
                self._metrics.waits.inc()
            self._is_waiting = is_under_way
            if is_under_way:
                raise Later
        return self.filter(body)

    def prioritize(self, body: bytes) -> bytes:
        """Return the scores of the nodes that are better than the worst."""
        began = time.perf_counter()
        arguments = protocol.read_arguments(body)
        scored = self._scores(arguments.metadata, arguments.hosts)
        answer = protocol.priority_list(better_scores(scored))
        self._metrics.prioritized(time.perf_counter() - began)
        return answer

    async def _answer(self, answer: Callable[[bytes], bytes], request: web.Request) -> web.Response:
        self._metrics.detours.inc()
        try:
            async with self._reading:
                body = await read_body(request, largest=LARGEST_BODY, patience=PATIENCE)
            return web.Response(body=answer(body), content_type="application/json")
        except RequestRefused as refused:
            advice = _ADVICE if refused.status == _TOO_LARGE else ""
            refusal = self._refusal(request, f"{refused}{advice}", status=refused.status)
            # The unread rest of a body would be taken as the next request.
            refusal.force_close()
            return refusal
        except web.RequestPayloadError:
            return self._refusal(request, "the body is not encoded as its headers say")
        except protocol.Malformed as error:
            return self._refusal(request, str(error))

    def _take_evidence(self, arguments: protocol.Arguments) -> None:
        head = arguments.head
        if not head.uid or arguments.is_about_no_node:
            return
        try:
            self._feasible(head)
        except Exception:  # noqa: BLE001 - it is told, and must not cost the cluster a pod
            self._metrics.evidence_lost.inc()
            # The scheduler is waiting, and its answer doesn't depend on this.
            _log.exception("could not note evidence", pod=f"{head.namespace}/{head.name}")

    def _refusal(self, request: web.Request, reason: str, *, status: int = 400) -> web.Response:
        self._metrics.refused.inc()
        now = asyncio.get_running_loop().time()
        if now - self._told_at >= TOLD_EVERY:
            self._told_at = now
            _log.warning("refused a call", asked=request.path, by=request.remote, reason=reason)
        return web.Response(status=status, text=f"{reason}\n")
