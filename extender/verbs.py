"""`POST /filter` and `POST /prioritize`, the two questions of kube-scheduler.

Between the last byte of a question and its answer nothing is awaited: the scheduler places no pod
meanwhile, in the whole cluster. A filter hands back what it got. That a pod comes with nodes is
what it tells: the scheduler never asks about a pod that fits nowhere, so this one has found a node
and needs none from us for the moment.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import structlog
from aiohttp import web
from prometheus_client import Counter, Histogram

from extender import protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry

    Feasible = Callable[[protocol.PodHead], None]
    Scores = Callable[[str, Iterable[str]], dict[str, int]]

# 5,000 whole nodes, as a scheduler sends them that was configured without nodeCacheCapable.
LARGEST_BODY: Final = 256 * 2**20
BUCKETS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.3)
"""The last one is the timeout of the stanza."""

_log = structlog.get_logger(__name__)


class VerbMetrics:
    """What is counted of the verbs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        seconds = Histogram(
            "growth_extender_verb_seconds",
            "Time from the last byte of a question of kube-scheduler to its answer",
            ("verb",),
            buckets=BUCKETS,
            registry=registry,
        )
        self.refused = Counter(
            "growth_extender_refused",
            "Questions that could not be read, and were refused",
            registry=registry,
        )
        self.evidence_lost = Counter(
            "growth_extender_evidence_lost",
            "Pods that have found a node, which a mistake of ours kept out of the demand",
            registry=registry,
        )
        self.filtered: Callable[[float], None] = seconds.labels("filter").observe
        self.prioritized: Callable[[float], None] = seconds.labels("prioritize").observe


class Verbs:
    """The two verbs, on an application of their own."""

    def __init__(self, *, feasible: Feasible, scores: Scores, metrics: VerbMetrics) -> None:
        self._feasible = feasible
        self._scores = scores
        self._metrics = metrics

    def application(self) -> web.Application:
        """What listens to kube-scheduler."""
        application = web.Application(client_max_size=LARGEST_BODY)
        application.add_routes(
            [web.post("/filter", self.filter), web.post("/prioritize", self.prioritize)]
        )
        return application

    async def filter(self, request: web.Request) -> web.Response:
        """Every node that came, unchanged."""
        try:
            arguments, began = await _asked(request)
        except protocol.Malformed as error:
            return self._refusal(error)
        self._take_evidence(arguments)
        answer = _json(arguments.unchanged)
        self._metrics.filtered(time.perf_counter() - began)
        return answer

    async def prioritize(self, request: web.Request) -> web.Response:
        """A score for every node that came."""
        try:
            arguments, began = await _asked(request)
            hosts = arguments.hosts
        except protocol.Malformed as error:
            return self._refusal(error)
        answer = _json(protocol.written(self._scores(arguments.head.uid, hosts)))
        self._metrics.prioritized(time.perf_counter() - began)
        return answer

    def _take_evidence(self, arguments: protocol.Arguments) -> None:
        head = arguments.head
        if not head.uid or arguments.is_about_no_node:
            return
        try:
            self._feasible(head)
        except Exception:  # noqa: BLE001 - it is told, and must not cost the cluster a pod
            self._metrics.evidence_lost.inc()
            # The scheduler waits, and what it asks for doesn't depend on what we make of it.
            _log.exception("evidence could not be taken", pod=f"{head.namespace}/{head.name}")

    def _refusal(self, error: protocol.Malformed) -> web.Response:
        self._metrics.refused.inc()
        return web.Response(status=400, text=f"{error}\n")


async def _asked(request: web.Request) -> tuple[protocol.Arguments, float]:
    """What is asked, and when the last byte of it was here."""
    try:
        body = await request.read()
    except web.RequestPayloadError:
        raise protocol.Malformed("the body is not encoded as its headers say") from None
    began = time.perf_counter()
    return protocol.read(body), began


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")
