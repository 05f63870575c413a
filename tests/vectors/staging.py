"""A row's pods, pools and machines as a World, and what planning makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from growth.demand.pools import PoolNotFound, match_pools, wish_of
from growth.scheduling.metadata import ObservedCondition
from reconciler.core.actions import CreateNodeRequest
from reconciler.planning.ledger import PlanningLedger
from reconciler.providers.kwok.catalogue import kwok_offerings as offerings_of
from tests.provisioning.build import Life, held
from tests.reconciler.build import START, node_class, pool, request, waiting, world
from tests.reconciler.solved import planned
from tests.scheduling import build
from tests.vectors.found import REGION, UNSAID, ZONE, Found

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from growth.api.kwoknodeclass import KwokNodeClass
    from growth.api.nodepool import NodePool
    from growth.api.noderequest import NodeRequest
    from growth.scheduling.objects import Node, Pod
    from reconciler.providers.port import Offering
    from tests.vectors.rows import Json

GPU = "nvidia.com/gpu"
GPU_MODEL = "nvidia.com/gpu.product"
NOW = 1000.0
"""Seconds after the start of everything."""
READY = ObservedCondition("Ready", "True")


def resources(given: Json) -> dict[str, str]:
    """What a row's pod asks for, or a row's machine has."""
    if "memory" in given:
        return {"cpu": given["cpu"], "memory": given["memory"]}
    amounts = {
        "cpu": (given.get("cpu"), ""),
        "memory": (given.get("mem_mib"), "Mi"),
        "ephemeral-storage": (given.get("ephemeral_gib"), "Gi"),
        GPU: (given.get("gpu"), ""),
    }
    return {name: f"{n}{suffix}" for name, (n, suffix) in amounts.items() if n is not None}


def model_of(given: Json) -> dict[str, str]:
    """The model of its GPU, as the label that nodes have and pods select."""
    return {GPU_MODEL: given["gpu_model"]} if given.get("gpu_model") else {}


def catalogue(rows: Iterable[Json]) -> KwokNodeClass:
    """A node class that sells what the rows offer; rows of one type are its places."""
    types: dict[str, Json] = {}
    for number, row in enumerate(rows):
        kind = types.setdefault(
            row["type"],
            {"name": row["type"], "resources": resources(row) | {"pods": "110"}, "offers": []},
        )
        kind["labels"] = model_of(row)
        kind["offers"].append(_offer(row, number))
    return node_class(types=list(types.values()))


def offered(node_class: KwokNodeClass) -> Sequence[Offering]:
    """What it sells."""
    return offerings_of(node_class)


def _offer(row: Json, number: int) -> Json:
    """A zone that isn't said is one that no pool asks for."""
    labels = dict(row.get("labels", {}))
    if "region" in row:
        labels |= {REGION: row["region"], ZONE: row["zone"] or UNSAID}
    location = row.get("region", f"place-{number}")
    return {"location": location, "price": str(row["cost"]), "labels": labels}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What a row tells."""

    pods: Sequence[Json]
    offerings: Sequence[Json]
    pools: Mapping[str, Mapping[str, int]]
    existing: Sequence[Json] = ()
    in_flight: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    locations: Sequence[Json] = ()
    occupied: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Nodes that have no room any more, by pool and type."""
    existing_phase: str = ""
    """Where a request for the first type stands that is a second old; empty: there is none."""
    unmet_seconds: int = 0
    """Its time to live, if it is Unmet."""

    def play(
        self, memory: PlanningLedger | None = None, *, listed: Iterable[NodeRequest] = ()
    ) -> Found:
        """Plan once, to the requests; with what was remembered, and with requests that are seen."""
        pods = [*self._pods()]
        nodes = {node.name: node for node in self._nodes()}
        coming = [row for name in self.pools for _, row in self._coming(name)]
        seller = [catalogue([*self.offerings, *coming])] if self.offerings else []
        ours = [*self._in_flight(), *self._left(), *listed]
        seen = world(*pods, *nodes.values(), *self._full(), *ours, *seller)
        if memory is not None:
            # What is planned anew has names of its own.
            seen = msgspec.structs.replace(seen, seed=seen.seed + len(memory.bought))
            seen = seen.remembering(replace(seen.ledger, planning=memory))
        decision = planned(seen, NOW)
        assert isinstance(decision.section, PlanningLedger)
        names = {pod.metadata.uid: pod.metadata.name for pod in pods}
        places = decision.section.nominated.places
        return Found(
            memory=decision.section,
            pods=pods,
            requests=[
                step.request
                for sequence in decision.sequences
                for step in sequence.steps
                if isinstance(step, CreateNodeRequest)
            ],
            machines={names[uid]: place.machine for uid, place in places.items()},
            nodes=nodes,
            offers=[one for each in seller for one in offerings_of(each)],
            without_pool=[
                pod.name
                for pod in pods
                if isinstance(match_pools(wish_of(pod), self.pools), PoolNotFound)
            ],
        )

    def _pods(self) -> Iterable[Pod]:
        for place, row in enumerate(self.pods):
            for number in range(row.get("count", 1)):
                name = row.get("name") or f"pod-{place}-{number}"
                yield _pod(row, name)

    def _nodes(self) -> Iterable[Node]:
        for number, row in enumerate(self.existing):
            labels = {"growth.dev/pool": "default"} | row.get("labels", {}) | model_of(row)
            node = build.node(f"existing-{number}", labels=labels, allocatable=resources(row))
            status = msgspec.structs.replace(node.status, conditions=(READY,))
            yield msgspec.structs.replace(node, status=status)

    def _full(self) -> Iterable[Node]:
        for name, kinds in self.occupied.items():
            for kind, count in kinds.items():
                labels = {"growth.dev/pool": name, "growth.dev/instance-type": kind}
                for number in range(count):
                    nothing = {"cpu": "0", "memory": "0"}
                    yield build.node(f"{name}-{kind}-{number}", labels=labels, allocatable=nothing)

    def _pools(self) -> Iterable[NodePool]:
        for name, kinds in self.pools.items():
            types = [{"name": kind, "max": most} for kind, most in kinds.items()]
            coming = [{"name": kind, "max": 1} for kind, _ in self._coming(name)]
            # A second is the shortest time to live that can be written.
            ttl = {"unmet": f"{max(1, self.unmet_seconds)}s"}
            places = [*self.locations]
            yield pool(name, serverTypes=types + coming, locations=places, requestTTL=ttl)

    def _coming(self, pool: str) -> Iterable[tuple[str, Json]]:
        """Each machine in flight has a type of its own, of which there can't be another one."""
        for number, row in enumerate(self.in_flight.get(pool, ())):
            kind = f"{pool}-in-flight-{number}"
            yield kind, row | {"type": kind, "cost": 1, "region": "in-flight", "zone": None}

    def _in_flight(self) -> Iterable[NodeRequest]:
        for name in self.pools:
            for kind, row in self._coming(name):
                yield request(
                    kind,
                    pool=name,
                    serverType=kind,
                    targetOffering=f"kwok-{kind}",
                    location="in-flight",
                    labels=_offer(row, 0)["labels"],
                    resources=resources(row),
                )

    def _existing(self) -> Iterable[NodeRequest]:
        if not self.existing_phase:
            return
        # The product's shortest time to live is a second; it is over a moment after that.
        since = START + timedelta(seconds=NOW - 1.01)
        kind, offering = self.offerings[0]["type"], f"kwok-{self.offerings[0]['type']}"
        status = {"phase": self.existing_phase, "lastTransitionTime": since}
        room = resources(self.offerings[0])
        made = request(
            serverType=kind,
            targetOffering=offering,
            location="place-0",
            resources=room,
            status=status,
        )
        metadata = made.metadata.model_copy(update={"finalizers": ()})
        yield made.model_copy(update={"metadata": metadata})

    def _left(self) -> Iterable[NodePool | NodeRequest]:
        """The pools, and of their requests those whose time to live isn't over."""
        pools, requests = [*self._pools()], [*self._existing()]
        if self.existing_phase not in {"Ready", "Unmet"}:
            return [*pools, *requests]
        life = Life(*map(held, pools), *requests)
        life.now = NOW - 1.0
        life.until(NOW)
        kinds = [*(("NodePool", each.name) for each in pools)]
        kinds += [("NodeRequest", each.name) for each in requests]
        return filter(None, (life.get(*kind) for kind in kinds))


def _pod(row: Json, name: str) -> Pod:
    selector = model_of(row)
    if row.get("pool"):
        selector["growth.dev/pool"] = row["pool"]
    return waiting(
        name,
        # The same pod each time that it is looked at.
        metadata={"uid": f"uid-{name}"},
        requests=resources(row),
        labels=row.get("labels", {}),
        nodeSelector=selector,
        affinity=_affinity(row.get("affinity", ())),
    )


def _affinity(terms: Iterable[Json]) -> Json:
    """Kubernetes' form of the row's terms."""
    found: Json = {}
    for term in terms:
        kind = {"Affinity": "podAffinity", "AntiAffinity": "podAntiAffinity"}[term["kind"]]
        one = {
            "topologyKey": term["topology_key"],
            "labelSelector": {"matchLabels": term["match_labels"]},
        }
        sort = found.setdefault(kind, {})
        if term["strength"] == "Required":
            sort.setdefault("requiredDuringSchedulingIgnoredDuringExecution", []).append(one)
        else:
            weighted = {"weight": 100, "podAffinityTerm": one}
            sort.setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).append(weighted)
    return found
