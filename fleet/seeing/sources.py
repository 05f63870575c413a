"""The caches of the manager."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from fleet.capi.objects import (
    ACCOUNTS,
    CLUSTERS,
    DEPLOYMENTS,
    MACHINES,
    RECORD_LABEL,
    AgentAccount,
    CapiCluster,
    CapiDeployment,
    CapiMachine,
)
from growth.api.clusterfleet import ClusterFleet
from growth.api.clusterrecord import ClusterRecord
from growth.kube.cache.caches import Caches
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import WatchedResource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer
    from growth.kube.cache.resource import Key
    from growth.kube.cache.store import Store

FLEETS: Final = "clusterfleets"
RECORDS: Final = "clusterrecords"


class FleetSources(Caches):
    """Reflectors of everything that a fleet is decided on."""

    def __init__(
        self,
        server: ApiServer,
        *,
        namespace: str,
        metrics: CacheMetrics,
        chance: Random,
        changed: Callable[[], None],
    ) -> None:
        decode = msgspec.json.Decoder
        resources: dict[str, WatchedResource[Any]] = {
            FLEETS: WatchedResource(
                path=ClusterFleet.collection(), decode=ClusterFleet.model_validate_json
            ),
            RECORDS: WatchedResource(
                path=ClusterRecord.collection(), decode=ClusterRecord.model_validate_json
            ),
            CLUSTERS: WatchedResource(path=CLUSTERS, decode=decode(CapiCluster).decode),
            DEPLOYMENTS: WatchedResource(path=DEPLOYMENTS, decode=decode(CapiDeployment).decode),
            MACHINES: WatchedResource(path=MACHINES, decode=decode(CapiMachine).decode),
            ACCOUNTS: WatchedResource(
                path=f"/api/v1/namespaces/{namespace}/serviceaccounts",
                query={"labelSelector": RECORD_LABEL},
                decode=decode(AgentAccount).decode,
            ),
        }
        make = partial(Reflector[Any], server=server, metrics=metrics, chance=chance)
        super().__init__(
            {
                name: make(resource=resource, changed=lambda _: changed())
                for name, resource in resources.items()
            }
        )

    def store(self, name: str) -> Store[Any]:
        """The cache of a kind."""
        return self.reflectors[name].store

    def objects(self, name: str) -> Mapping[Key, Any]:
        """All objects of a kind."""
        return self.store(name).objects

    def why_not(self) -> str:
        """Why nothing may be decided on these caches now; "" if it may."""
        if self.incomplete:
            return f"no complete list yet: {', '.join(self.incomplete)}"
        for name, reflector in self.reflectors.items():
            if reflector.store.own.keys:
                return f"a write of {name} isn't in the cache yet"
            if name in {FLEETS, RECORDS} and reflector.store.unreadable:
                return f"some {name} can't be read"
            if reflector.health.suspicion is not None:
                return f"the list of {name} is suspicious"
        return ""
