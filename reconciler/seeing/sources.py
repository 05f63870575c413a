"""The caches of the reconciler, one for each kind, and the views that follow their changes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from growth.api.installed import PAUSE_CONFIG_MAP
from growth.api.kinds import KINDS
from growth.api.noderequest import NodeRequest
from growth.kube.cache.caches import Caches
from growth.kube.cache.reflector import Reflector
from growth.kube.cache.resource import Index, WatchedResource
from growth.scheduling import objects
from reconciler.core.pause_of_all import decode_pause_of_all
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.heartbeats import are_heartbeats
from reconciler.seeing.indexes import PAUSE, Views
from reconciler.seeing.moment import now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from random import Random

    from growth.kube.cache.contents import Change, Unreadable
    from growth.kube.cache.health import CacheHealth
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.cache.questions import ApiServer
    from growth.kube.cache.resource import Key
    from growth.kube.cache.store import Store
    from growth.kube.cache.timing import CacheTiming

BUILT_IN: Mapping[str, tuple[str, Callable[[bytes], Any]]] = {
    "nodes": ("/api/v1/nodes", objects.decode_node),
    "pods": ("/api/v1/pods", objects.decode_pod),
    "namespaces": ("/api/v1/namespaces", objects.decode_namespace),
    "claims": ("/api/v1/persistentvolumeclaims", objects.decode_claim),
    "volumes": ("/api/v1/persistentvolumes", objects.decode_volume),
    "storage_classes": ("/apis/storage.k8s.io/v1/storageclasses", objects.decode_storage_class),
    "csi_nodes": ("/apis/storage.k8s.io/v1/csinodes", objects.decode_csi_node),
    "csi_drivers": ("/apis/storage.k8s.io/v1/csidrivers", objects.decode_csi_driver),
    "attachments": (
        "/apis/storage.k8s.io/v1/volumeattachments",
        objects.decode_volume_attachment,
    ),
    "deployments": ("/apis/apps/v1/deployments", objects.decode_deployment),
    "replica_sets": ("/apis/apps/v1/replicasets", objects.decode_replica_set),
    "daemon_sets": ("/apis/apps/v1/daemonsets", objects.decode_daemon_set),
    "budgets": ("/apis/policy/v1/poddisruptionbudgets", objects.decode_disruption_budget),
}
BY_POD: Index[NodeRequest] = Index("pods", lambda request: (pod.uid for pod in request.spec.pods))
"""NodeRequests by the uids of their pods."""
_INDEXES: Mapping[str, tuple[Index[Any], ...]] = {NodeRequest.__name__: (BY_POD,)}


class ReconcilerSources(Caches):
    """The caches of the reconciler."""

    def __init__(
        self,
        server: ApiServer,
        *,
        namespace: str,
        metrics: CacheMetrics,
        chance: Random,
        changed: Callable[[], None],
        timing: CacheTiming,
    ) -> None:
        self.views = Views()
        self.demand = KnownDemand(now)
        self._changed = changed
        make = partial(Reflector[Any], server=server, metrics=metrics, chance=chance, timing=timing)
        reflectors: dict[str, Reflector[Any]] = {
            name: make(
                resource=WatchedResource(path=path, decode=decode),
                changed=partial(self.take, name),
            )
            for name, (path, decode) in BUILT_IN.items()
        } | {
            kind.__name__: make(
                resource=WatchedResource(
                    path=kind.collection(),
                    decode=kind.model_validate_json,
                    indexes=_INDEXES.get(kind.__name__, ()),
                ),
                changed=partial(self.take, kind.__name__),
            )
            for kind in KINDS.values()
        }
        reflectors[PAUSE] = make(
            resource=WatchedResource(
                path=f"/api/v1/namespaces/{namespace}/configmaps",
                # growth may read this one ConfigMap only, and the API server allows that for a list
                # by name alone.
                query={"fieldSelector": f"metadata.name={PAUSE_CONFIG_MAP}"},
                decode=decode_pause_of_all,
            ),
            changed=partial(self.take, PAUSE),
        )
        super().__init__(reflectors)

    def store(self, name: str) -> Store[Any]:
        """The cache of a kind, named by kind if it is ours and by plural if it is built in."""
        return self.reflectors[name].store

    def relist(self, name: str) -> None:
        """Request a complete list of a kind, because an event was missed."""
        self.reflectors[name].relist()

    @property
    def health(self) -> Mapping[str, CacheHealth]:
        """The state of each cache."""
        return {name: reflector.health for name, reflector in self.reflectors.items()}

    @property
    def unreadable(self) -> Mapping[str, tuple[Unreadable, ...]]:
        """Objects of our kinds that exist but can't be decoded, by kind."""
        stores = ((kind.__name__, self.store(kind.__name__)) for kind in KINDS.values())
        return {name: tuple(store.unreadable.values()) for name, store in stores}

    def unseen(self) -> Iterable[tuple[str, Key]]:
        """Objects with a write of ours that the cache hasn't seen yet, with their kind."""
        for name, reflector in self.reflectors.items():
            for key in reflector.store.own.keys:
                yield name, key

    def take(self, name: str, changes: Sequence[Change[Any]]) -> None:
        """Handle changes of a cache, and tell of them unless no rule can notice them."""
        self.views.take(name, changes)
        self.demand.take(name, changes)
        # The next pass sees the new versions, too, and writes with them.
        if not are_heartbeats(changes):
            self._changed()
