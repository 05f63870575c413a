"""One immutable view of everything that a decision may depend on.

It is created for each pass from indexes that follow events, so it costs a few shallow copies.
Values derived from a pod or a node are computed when the object enters the cache. Rules iterate
over nodes and pending pods, never over all pods.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from growth.api.deletion_cost import PodDeletionCost
from growth.api.nodeclass import NodeClass
from growth.api.nodepool import NodePool, PoolMode
from growth.api.noderecord import NodeRecord
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.demand.announced import Announced
from growth.demand.demanded import Demanded
from growth.kube.cache.contents import Unreadable
from growth.kube.cache.health import CacheHealth
from growth.scheduling.cluster import Cluster
from growth.scheduling.node import Node
from growth.scheduling.pod import Pod
from reconciler.core.actions import CrashedStep, Evicted, Solved, Subject
from reconciler.core.caps import Caps
from reconciler.core.installation import Installation
from reconciler.core.measured import Measurements
from reconciler.core.pause_of_all import PauseOfAll
from reconciler.core.timing import Timing
from reconciler.ledger import Ledger
from reconciler.providers.port import Answered, Checked, ClassKey, GivenBack, Offering, Sight


class Replies(msgspec.Struct, frozen=True, kw_only=True):
    """Answers to effects that no object shows yet."""

    answers: Mapping[str, Answered] = {}
    deletions: Mapping[str, GivenBack] = {}
    evictions: Mapping[str, Evicted] = {}
    plans: Mapping[str, Solved] = {}
    crashes: Mapping[Subject, CrashedStep] = {}


class World(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known at one instant. Mappings are read-only and never change afterwards."""

    cluster: Cluster
    """Nodes as growth believes them (growth/keeping/believing.py) and what is on them, namespaces,
    volumes, DaemonSets, budgets."""
    pending: Mapping[str, Pod]
    """Pods without a node that have not ended, by uid."""
    demand: Demanded
    """Which of them need a new node, and until when that can be said without any change."""
    announced: Mapping[str, Announced] = {}
    """Owners that have fewer pods than they want, by their uid."""
    wanted: int = 0
    """Pods that all ReplicaSets want together."""
    pools: Mapping[str, NodePool]
    pause_of_all: PauseOfAll | None = None
    """The ConfigMap that pauses every pool, if it exists."""
    node_classes: Mapping[ClassKey, NodeClass]
    requests: Mapping[str, NodeRequest]
    removals: Mapping[str, NodeRemovalRequest]
    records: Mapping[str, NodeRecord] = {}
    """What is known of each machine, by its name."""
    unbound: Mapping[str, NodeRecord] = {}
    """Those of them that don't name the Node yet that has joined."""
    misread: Mapping[str, Node] = {}
    """Nodes of machines that say something else than their records, as they are written."""
    strangers: Mapping[str, Node] = {}
    """Nodes that claim to be of a pool and have no record, as they are written."""
    claimants: Mapping[str, tuple[Node, ...]] = {}
    """Nodes that claim the machine of a record without being its Node, by the record's name; none
    where the record still tells of one."""
    offerings: Mapping[ClassKey, tuple[Offering, ...]]
    """The last good catalogue of each node class, also of one that is blocked: what is on its way
    still comes."""
    checks: Mapping[ClassKey, Checked] = {}
    """The provider's last answer about each node class; missing for those not asked about yet."""
    answers: Mapping[str, Answered]
    """The provider's answer to the last create of a request, by name, until its status shows it."""
    clouds: Mapping[ClassKey, Sight] = {}
    """The machines of each node class, as its provider lists them."""
    deletions: Mapping[str, GivenBack] = {}
    """The result of the last attempt to delete a machine, by name, until its removal shows it."""
    evictions: Mapping[str, Evicted] = {}
    """The API server's answer to the last eviction of a pod, by its UID, until the pod is gone."""
    plans: Mapping[str, Solved] = {}
    """The last plan of each lane, until the next one comes."""
    crashes: Mapping[Subject, CrashedStep] = {}
    """Subjects on which the last step has crashed."""
    busy: frozenset[Subject]
    """Subjects that a sequence is at work on, or whose last write the cache hasn't seen yet.
    Nothing is decided on them."""
    use: Measurements = Measurements()
    """What nodes really use, for policies that go by it."""
    is_steered: bool = False
    """Whether the extender ranks nodes for the scheduler: the fullest gets a pod, and not the
    emptiest."""
    aside: frozenset[Subject] = frozenset()
    """Subjects that are put aside: what others wrote there can't be read, or a rule fails on it.
    They count, and nothing is decided on them but what tells of it."""
    sources: Mapping[str, CacheHealth]
    """How far each cache can be trusted."""
    unreadable: Mapping[str, tuple[Unreadable, ...]] = {}
    """Objects of ours that are there and can't be decoded, by kind."""
    timing: Timing
    caps: Caps = Caps()
    """The limits of all pools together."""
    mode: PoolMode = PoolMode.ACT
    """Observe: growth acts for no pool, whatever the pools say."""
    deletion_cost: PodDeletionCost = PodDeletionCost.UNTOUCHED
    """Whether growth says which pods go first when a workload is scaled down."""
    installation: Installation | None = None
    """Which installation of growth this is; None where no provider labels machines with it."""
    seed: int
    """The only randomness in a pass, drawn by the shell; the names of new requests depend on it."""
    ledger: Ledger

    def is_free(self, subject: Subject) -> bool:
        """Whether this may be decided on now."""
        return subject not in self.busy and subject not in self.aside

    def is_blocked(self, key: ClassKey) -> bool:
        """Whether no machine can be created for a node class until a person changes something."""
        node_class, checked = self.node_classes.get(key), self.checks.get(key)
        is_going = node_class is not None and node_class.metadata.deletion_timestamp is not None
        return is_going or (checked is not None and checked.failure is not None)

    def is_paused(self, pool: str) -> bool:
        """Whether nothing may be bought for a pool, and nothing given back of it."""
        return pool in self.ledger.brakes.pauses

    def only_observes(self, pool: str) -> bool:
        """Whether nothing is done for a pool, and growth only tells what it would do."""
        if self.mode is PoolMode.OBSERVE:
            return True
        known = self.pools.get(pool)
        return known is not None and known.spec.mode is PoolMode.OBSERVE

    def remembering(self, ledger: Ledger) -> World:
        """The same world with another memory."""
        return msgspec.structs.replace(self, ledger=ledger)
