"""The indexes that a World is made of, updated with each change of the caches.

The cost of a change depends only on what it touches, and a World is a few shallow copies, whatever
the size of the cluster. What rarely changes (nodes, DaemonSets, volumes) isn't even copied: the
last snapshot is reused until one of its objects changes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from growth.api.kinds import NODE_CLASSES
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest, RemovalPhase
from growth.api.noderequest import NodeRequest, RequestPhase
from growth.demand.announced import Announcements
from growth.keeping.believing import believed
from growth.kube.cache.contents import ChangeKind
from growth.scheduling.cluster import Cluster
from growth.scheduling.occupancy import EMPTY, Occupancy
from reconciler.core.actions import Subject, machine, node_class_subject, pool_subject
from reconciler.core.world import World
from reconciler.providers.port import ClassKey
from reconciler.providers.registry import provider_kind
from reconciler.seeing.nodes import BelievedNodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from growth.api.nodeclass import NodeClass
    from growth.demand.demanded import Demanded
    from growth.kube.cache.contents import Change
    from growth.kube.cache.health import CacheHealth
    from growth.kube.cache.resource import Key
    from growth.scheduling.pod import Pod
    from reconciler.core.timing import Timing
    from reconciler.core.world import Replies
    from reconciler.ledger import Ledger
    from reconciler.providers.port import Checked, Offering, Sight
    from reconciler.seeing.catalogues import NodeClassMarket
    from reconciler.seeing.nodes import Belief

PODS: Final = "pods"
NODES: Final = "nodes"
DEPLOYMENTS: Final = "deployments"
REPLICA_SETS: Final = "replica_sets"
OF_THE_CLUSTER: Final = (
    "namespaces",
    "claims",
    "volumes",
    "storage_classes",
    "csi_nodes",
    "csi_drivers",
    "attachments",
    "daemon_sets",
    "budgets",
)
"""The kinds in a snapshot of the cluster, with the same names there, without pods and nodes."""
RECORDS: Final = NodeRecord.__name__
PAUSE: Final = "pause"
OF_MACHINES: Final = frozenset(
    {NodeRequest.__name__, NodeRecord.__name__, NodeRemovalRequest.__name__}
)
MACHINE_KINDS: Final = OF_MACHINES | {NODES}


class Views:
    """All known objects, in the form that rules need."""

    def __init__(self, believe: Belief = believed) -> None:
        self._pending: dict[str, Pod] = {}
        self._occupancies: dict[str, Occupancy] = {}
        self._objects: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._node_classes: dict[ClassKey, NodeClass] = {}
        self._offerings: dict[ClassKey, tuple[Offering, ...]] = {}
        self._self_listed: set[ClassKey] = set()
        """Classes that contain their catalogue, so that no provider has to be asked."""
        self._checks: dict[ClassKey, Checked] = {}
        self._announcements = Announcements()
        self._nodes = BelievedNodes(believe)
        self._cluster: Cluster | None = None

    def learn(self, key: ClassKey, market: NodeClassMarket) -> None:
        """Handle an answer about a node class."""
        # The class was deleted while its cloud was asked, and nothing would ever forget the answer.
        if key not in self._node_classes:
            return
        if market.checked is not None:
            self._checks[key] = market.checked
        if market.offerings is not None and key not in self._self_listed:
            self._offerings[key] = market.offerings

    def take(self, kind: str, changes: Sequence[Change[Any]]) -> None:
        """Handle changes of a cache; it is named by kind if it is ours, otherwise by plural."""
        for change in changes:
            if kind == PODS:
                self._follow_pod(change)
            elif kind == REPLICA_SETS:
                self._announcements.owner_changed(change.old, change.new)
            elif kind == DEPLOYMENTS:
                self._announcements.deployment_changed(change.old, change.new)
            elif kind == NODES:
                self._nodes.node_changed(change.key.name, change.new)
            elif kind == RECORDS and change.kind is not ChangeKind.UNREADABLE:
                self._nodes.record_changed(change.key.name, change.new)
            else:
                self._follow(kind, change)
        if kind in OF_THE_CLUSTER or kind in {NODES, RECORDS}:
            self._cluster = None

    def world(
        self,
        ledger: Ledger,
        *,
        demand: Demanded,
        replies: Replies,
        clouds: Mapping[ClassKey, Sight],
        busy: frozenset[Subject],
        sources: Mapping[str, CacheHealth],
        timing: Timing,
        seed: int,
    ) -> World:
        """The World at this moment."""
        return World(
            cluster=self.cluster(),
            pending=dict(self._pending),
            demand=demand,
            announced=self._announcements.now(),
            wanted=self._announcements.wanted,
            pools=dict(self._objects[NodePool.__name__]),
            node_classes=dict(self._node_classes),
            pause_of_all=next(iter(self._objects[PAUSE].values()), None),
            requests=dict(self._objects[NodeRequest.__name__]),
            removals=dict(self._objects[NodeRemovalRequest.__name__]),
            records=dict(self._nodes.records),
            unbound=dict(self._nodes.unbound),
            misread=dict(self._nodes.misread),
            strangers=dict(self._nodes.strangers),
            claimants=dict(self._nodes.claimants.found),
            offerings=dict(self._offerings),
            checks=dict(self._checks),
            answers=dict(replies.answers),
            deletions=dict(replies.deletions),
            evictions=dict(replies.evictions),
            plans=dict(replies.plans),
            crashes=dict(replies.crashes),
            clouds=dict(clouds),
            busy=busy,
            sources=sources,
            timing=timing,
            seed=seed,
            ledger=ledger,
        )

    @property
    def pools(self) -> Iterable[NodePool]:
        """The existing pools."""
        return self._objects[NodePool.__name__].values()

    @property
    def node_classes(self) -> Iterable[ClassKey]:
        """The existing node classes, in a stable order."""
        return sorted(self._node_classes)

    def generation_of(self, key: ClassKey) -> int | None:
        """The current generation of a node class; None if it doesn't exist."""
        node_class = self._node_classes.get(key)
        return None if node_class is None else node_class.metadata.generation

    @property
    def is_anything_moving(self) -> bool:
        """Whether a machine is coming or going."""
        requests = self._objects[NodeRequest.__name__].values()
        coming = (RequestPhase.PROVISIONING, RequestPhase.DEPROVISIONING)
        removals = self._objects[NodeRemovalRequest.__name__].values()
        # Removals that wait or have failed don't need a listing.
        is_going = any(each.status.phase is RemovalPhase.DEPROVISIONING for each in removals)
        # A request that was deleted early waits for listings without its machine.
        return is_going or any(
            request.status.phase in coming or request.metadata.deletion_timestamp is not None
            for request in requests
        )

    def cluster(self) -> Cluster:
        """The snapshot of the cluster: nodes, their pods, and what else the scheduler looks at."""
        if self._cluster is None:
            named = {name: dict(self._objects[name]) for name in OF_THE_CLUSTER}
            nodes = dict(self._nodes.believed)
            self._cluster = Cluster(nodes=nodes, occupancies=dict(self._occupancies), **named)
        return self._cluster

    def _follow(self, kind: str, change: Change[Any]) -> None:
        name = change.key if change.key.namespace else change.key.name
        if change.kind is ChangeKind.UNREADABLE and kind in OF_MACHINES:
            # It is put aside, and counts as what it was: a purchase must not be made twice.
            return
        if change.new is None:
            self._objects[kind].pop(name, None)
        else:
            self._objects[kind][name] = change.new
        if kind in NODE_CLASSES:
            self._follow_node_class(ClassKey(kind, change.key.name), change.new)

    def _follow_node_class(self, key: ClassKey, node_class: NodeClass | None) -> None:
        if node_class is None:
            for known in (self._node_classes, self._offerings, self._checks):
                known.pop(key, None)
            self._self_listed.discard(key)
            return
        before = self._node_classes.get(key)
        self._node_classes[key] = node_class
        # Each write of its status is a change, too. A new catalogue would look like a change of
        # prices.
        if before is not None and before.spec == node_class.spec:
            return
        own = provider_kind(node_class).own_catalogue(node_class)
        if own is not None:
            self._offerings[key] = own
            self._self_listed.add(key)
        elif key in self._self_listed:
            del self._offerings[key]
            self._self_listed.remove(key)

    def _follow_pod(self, change: Change[Pod]) -> None:
        self._announcements.pod_changed(change.old, change.new)
        if change.old is not None:
            self._forget(change.old)
        new = change.new
        if new is not None and (new.is_ending or not new.is_finished):
            self._take_in(new)

    def _forget(self, pod: Pod) -> None:
        self._pending.pop(pod.metadata.uid, None)
        # A pod without a place changes nothing in the snapshot, which then keeps what rules have
        # found in it.
        if pod.place:
            self._cluster = None
            left = self._occupancies.get(pod.place, EMPTY).lacking(pod)
            if left.pods or left.ending:
                self._occupancies[pod.place] = left
            else:
                self._occupancies.pop(pod.place, None)

    def _take_in(self, pod: Pod) -> None:
        # A pod that was nominated after a preemption is both: it waits, and its room is taken
        # already.
        if not pod.spec.node_name:
            self._pending[pod.metadata.uid] = pod
        if pod.place:
            self._cluster = None
            self._occupancies[pod.place] = self._occupancies.get(pod.place, EMPTY).having(pod)


def subjects_of(keys: Iterable[tuple[str, Key]]) -> Iterator[Subject]:
    """The subjects of objects with these kinds and keys."""
    for kind, key in keys:
        if kind in MACHINE_KINDS:
            yield machine(key.name)
        elif kind == NodePool.__name__:
            yield pool_subject(key.name)
        elif kind in NODE_CLASSES:
            yield node_class_subject(ClassKey(kind, key.name))
