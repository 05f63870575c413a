"""What all autoscalers are given to do, and what is measured: the same manifests for each of them.

W1 is one pod, W2 a hundred equal ones, W3 a thousand of 40 deployments, W4 the same with
constraints. W5 drops W3 to 40 % when it has come to rest, and W6 rescales deployments for some
minutes. Only what the API server reports is measured: when pods were bound and evicted, and when
nodes came and went.
"""

from __future__ import annotations

import asyncio
import random
import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks import grown, manifests, scaledown_stage
from benchmarks.lives import watched
from benchmarks.offline import bound_of
from benchmarks.peer_catalogue import ARCH, CAPACITY, ON_DEMAND, ZONE
from benchmarks.scaledown_bill import Clairvoyant, bill_by
from benchmarks.scaledown_churn import APART, steps
from benchmarks.scaledown_drop import kept, pending, smaller
from benchmarks.stages import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from benchmarks.lives import Lives
    from benchmarks.peer_catalogue import PeerCatalogue
    from benchmarks.scaledown_bill import Bill
    from growth.kube.transport import Connection

Document = dict[str, Any]

WORKS: Final = ("W1", "W2", "W3", "W4", "W5", "W6")
BURSTS: Final = WORKS[:4]
WATCHED: Final = ("pod", "node")
PATIENCE: Final = 300.0
STEADY: Final = 60.0
"""Seconds without a change after which a drop is over."""
_PAUSE: Final = 0.5


class PeerFigures(NamedTuple):
    """The result of one work; what doesn't apply to it is None."""

    seconds: float
    """Until the last pod was bound; for a drop, until the last change."""
    cost: float
    """Relative to the lowest possible one; for W6 over time."""
    evictions: int | None = None
    p99: float | None = None
    """Seconds that new pods waited."""


def deployments_of(work: str, *, pods: int, seed: int) -> list[Document]:
    """The deployments at the beginning of a work, of this many pods for W3."""
    match work:
        case "W1":
            return [_equal(1)]
        case "W2":
            return [_equal(max(1, pods // 10))]
        case "W4":
            return [_constrained(each, seed) for each in _drawn(pods, 40, seed)]
        case "W6":
            return _drawn(pods * 2 // 5, 30, seed)
        case _:
            return _drawn(pods, 40, seed)


def _equal(replicas: int) -> Document:
    requests = {"cpu": "500m", "memory": "1Gi"}
    return manifests.deployment("equal", replicas=replicas, requests=requests)


def _drawn(pods: int, count: int, seed: int) -> list[Document]:
    return list(manifests.deployments(pods=pods, count=min(count, pods), seed=seed))


def _constrained(deployment: Document, seed: int) -> Document:
    """60 % run on amd64 only, half on demand only, 15 % in one zone; some spread or keep apart."""
    name, spec = deployment["metadata"]["name"], deployment["spec"]["template"]["spec"]
    chance = random.Random(f"{seed} {name}")
    selector = {
        **({ARCH: "amd64"} if chance.random() < 0.6 else {}),
        **({CAPACITY: ON_DEMAND} if chance.random() < 0.5 else {}),
    }
    among = {"labelSelector": {"matchLabels": {"app": name}}}
    drawn = chance.random()
    if drawn < 0.15:
        spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**spread, **among}]
    elif drawn < 0.25 and deployment["spec"]["replicas"] <= 10:
        term = {"topologyKey": "kubernetes.io/hostname", **among}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {"podAntiAffinity": required}
    spec["nodeSelector"] = selector
    return deployment


async def measured(
    connection: Connection, work: str, catalogue: PeerCatalogue, arguments: Namespace
) -> PeerFigures:
    """One work on a cluster without pods."""
    seed = catalogue.seed
    wanted = deployments_of(work, pods=arguments.pods, seed=seed)
    replicas = scaledown_stage.replicas_of(wanted)
    async with watched(connection, *WATCHED) as lives:
        seconds = await _until_bound(connection, lives, wanted)
        place = _Place(connection, lives, catalogue, wanted)
        match work:
            case "W5":
                return await _dropped(place, kept(replicas), longest=arguments.longest)
            case "W6":
                churn = Namespace(seed=seed, churn_seconds=arguments.churn_seconds)
                return await _churned(place, steps(replicas, churn), _clairvoyant(place, seed))
            case _:
                cost = place.bill.rate(time.time()) / place.bound(wanted)
                return PeerFigures(seconds, cost)


def _clairvoyant(place: _Place, seed: int) -> Clairvoyant:
    replicas = scaledown_stage.replicas_of(place.wanted).values()
    return Clairvoyant(
        prices=place.catalogue.prices, seed=seed, pods=sum(replicas), deployments=len(replicas)
    )


class _Place(NamedTuple):
    connection: Connection
    lives: Lives
    catalogue: PeerCatalogue
    wanted: Sequence[Document]

    @property
    def bill(self) -> Bill:
        """What the nodes cost, by their labels."""
        nodes = self.lives.of("node").items()
        prices = {name: self.catalogue.price(life.newest) for name, life in nodes}
        return bill_by(self.lives, {name: each for name, each in prices.items() if each})

    def bound(self, wanted: Iterable[Document]) -> float:
        """The lowest possible cost of an hour."""
        return bound_of([*self.catalogue.growths(), *wanted])

    @property
    def evictions(self) -> int:
        """Pods that were moved so far."""
        return len(self.lives.moments("pod", "evicted"))


async def _until_bound(connection: Connection, lives: Lives, wanted: Sequence[Document]) -> float:
    """From the first pod to the binding of the last."""
    count = sum(scaledown_stage.replicas_of(wanted).values())
    await grown.create(connection, wanted)
    await lives.until(_are_bound(lives, count), f"{count} pods are bound", within=PATIENCE)
    bound = lives.moments("pod", "bound")
    return max(bound.values()) - min(lives.moments("pod", "created").values())


def _are_bound(lives: Lives, count: int) -> Callable[[], bool]:
    return lambda: len(scaledown_stage.bound(lives)) >= count


async def _dropped(place: _Place, fewer: dict[str, int], *, longest: float) -> PeerFigures:
    lives = place.lives
    await scaledown_stage.rested(lives)
    before, since = place.evictions, time.time()
    await scaledown_stage.scale(place.connection, fewer)
    while True:
        last = max([since, *scaledown_stage.changes(lives, since)])
        if time.time() - last >= min(STEADY, longest) or time.time() - since >= longest:
            break
        await asyncio.sleep(_PAUSE)
    cost = place.bill.rate(time.time()) / place.bound(smaller(place.wanted, fewer))
    return PeerFigures(last - since, cost, evictions=place.evictions - before)


async def _churned(
    place: _Place, changes: Iterator[Mapping[str, int]], clairvoyant: Clairvoyant
) -> PeerFigures:
    lives = place.lives
    await scaledown_stage.rested(lives)
    before, since = place.evictions, time.time()
    for due, step in enumerate(changes):
        await asyncio.sleep(max(0.0, since + due * APART - time.time()))
        await scaledown_stage.scale(place.connection, step)
    await asyncio.sleep(APART)
    until = time.time()
    _, bound = clairvoyant.between(lives, since, until)
    waits = pending(lives, since=since, until=until)
    return PeerFigures(
        seconds=until - since,
        cost=place.bill.between(since, until) / bound,
        evictions=place.evictions - before,
        p99=percentile(waits, 99) if waits else 0.0,
    )
