"""Checks what must always hold, after each change, and what must hold at the end.

The auditor trusts no process: it counts machines at the provider and objects in the API server. It
checks only what has changed, so the cost per minute is the same in a long run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.noderemovalrequest import NodeRemovalRequest, RemovalPhase
from growth.api.noderequest import NodeRequest, RequestPhase
from growth.api.removal_reason import RemovalReason
from growth.demand.detection import is_demand
from growth.instant import Instant
from growth.keeping.marks import is_cordoned_by_a_person
from growth.scheduling.emptiness import keepers, left_on
from reconciler.core.actions import Solve
from reconciler.simulation.cloud import pool_of_simulated_node
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.pod_collector import pods_bound_to
from reconciler.simulation.possible import CountedSort, Possible
from reconciler.simulation.progress import ON_THE_WAY, in_progress
from reconciler.simulation.purchases import FEW, Purchases
from reconciler.simulation.record_auditor import RecordAuditor
from reconciler.simulation.unknown import Unknown

if TYPE_CHECKING:
    from growth.api.meta import PodReference
    from growth.scheduling.node import Node
    from growth.scheduling.pod import Pod
    from reconciler.core.timing import Timing
    from reconciler.providers.port import Machine as ListedMachine
    from reconciler.providers.port import Order
    from reconciler.simulation.cloud import SimulatedCloud
    from reconciler.simulation.server import StoredChange
    from reconciler.simulation.surroundings import Surroundings

ORDER: Final = (
    RequestPhase.PENDING,
    RequestPhase.PROVISIONING,
    RequestPhase.UNMET,
    RequestPhase.READY,
    RequestPhase.DEPROVISIONING,
)
"""The order of phases; a request never goes back."""
MAKES_A_SECOND_INTENT_EXCUSABLE: Final = frozenset(
    {SimulatedFault.EVENT_LOST, SimulatedFault.CLOCK_JUMP}
)
"""A process can't know a lost event, and a wait by the wall clock changes with that clock."""
TWICE: Final = 0.1
"""The share of waiting pods for which two machines may be requested while faults excuse it."""
REMOVALS: Final = "NodeRemovalRequest"
FAILED: Final = RemovalPhase.REMOVAL_FAILED
RESTED: Final = 25.0
"""The shortest time in seconds between two deletions of a machine; pools wait for 30."""
FORGETS_AN_ANSWER: Final = frozenset(
    {SimulatedFault.RESTART, SimulatedFault.FREEZE, SimulatedFault.CLOCK_JUMP}
)
SEEN_WITHIN: Final = 300.0
"""Seconds within which a process knows each serving node, whatever is late or lost."""
FOUND_BEFORE: Final = 60.0
"""An orphan is found at most this many seconds before its removal is written."""
A_SECOND: Final = 1.0
A_JUMP: Final = timedelta(seconds=300)
"""The largest error of a clock that was moved."""
TOO_OFTEN: Final = 10
PLANS: Final = 40
"""The same for plans. They load only our own process, and there is one for each quiet gap between
arriving pods."""
TRIES_KEPT: Final = 200


class AuditBreach(NamedTuple):
    """Something that must not happen."""

    at: float
    rule: str
    text: str


class Auditor:
    """Checks everything that must hold."""

    def __init__(
        self, around: Surroundings, cloud: SimulatedCloud, *, possible: Possible, timing: Timing
    ) -> None:
        self.found: AuditBreach | None = None
        server = around.server
        self.waited = 0
        """The number of pods that waited for a machine that could be bought."""
        self.twice = 0
        """Machines that were requested although their pod already had one coming or just joined."""
        self.wished_at: dict[str, float] = {}
        """Since when a person wants a node to stay, by node name."""
        self.unknown = Unknown(around, cloud, breach=self.breach)
        self._waiting: set[str] = set()
        self._tried: dict[tuple[str, str], tuple[float, int]] = {}
        self._server = server
        self._cloud = cloud
        self._possible = possible
        self._faults = around.faults
        self._timeline = around.timeline
        self._trace = around.trace
        self._timing = timing
        self._counted: dict[str, CountedSort] = {}
        self._counts: Counter[CountedSort] = Counter()
        self._intents: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._served_at: dict[str, float] = {}
        self._asked_at: dict[str, float] = {}
        self._first_asks: dict[str, tuple[str, float]] = {}
        """The uid of each machine's removal, and when the deletion was first requested."""
        self.purchases = Purchases(cloud)
        self._records = RecordAuditor(server, cloud, breach=self.breach)
        cloud.made, cloud.gone = self.machine_made, self.machine_gone
        cloud.deleting = self.machine_ends
        server.kind("NodeRequest").heard_by.append(self._request_changed)
        server.kind(REMOVALS).heard_by.append(self._removal_changed)
        server.kind("pods").heard_by.append(self._pod_changed)
        server.kind("nodes").heard_by.append(self._node_changed)

    def breach(self, rule: str, text: str) -> None:
        """Note a breach and end the run: later breaches would only be consequences."""
        if self.found is None:
            self.found = AuditBreach(self._timeline.now, rule, text)
            self._trace.note(f"BREACH of {rule}: {text}")
            self._timeline.stop()

    def effect_begins(self, step: str, subject: str) -> None:
        """Check that an effect isn't repeated without a pause, which overloads an API server."""
        now, (since, times) = self._timeline.now, self._tried.get((step, subject), (0.0, 0))
        if now - since > A_SECOND:
            since, times = now, 0
        self._tried[step, subject] = since, times + 1
        most = PLANS if step == Solve.__name__ else TOO_OFTEN
        # A delete whose answer was lost once went out a hundred times a second, until its event
        # came.
        if times + 1 == most:
            self.breach("nobody is hammered", f"{step} of {subject} {most} times in a second")
        if len(self._tried) > TRIES_KEPT:
            del self._tried[next(iter(self._tried))]

    def machine_made(self, order: Order) -> None:
        """Check a machine that the provider has created."""
        name, request_uid = order.name, order.request_uid
        request = self._server.kind("NodeRequest").named(name)
        if request is None or request.metadata.uid != request_uid:
            self.breach("intent first", f"{name} was made without a request")
        # A request whose machine died before it joined may buy another one.
        if self._cloud.made_for[request_uid] > 1 and name not in self._cloud.died:
            self.breach("one machine a request", f"{name} was made twice")
        if request is not None:
            self.purchases.made(request)
        self._recount(name, CountedSort(order.pool, order.server_type))

    def machine_gone(self, name: str) -> None:
        """Handle a machine that is no longer paid for."""
        self._recount(name)
        self.unknown.look(name)
        self._asked_at.pop(name, None)
        self._first_asks.pop(name, None)

    def machine_ends(self, machine: ListedMachine) -> None:
        """Check a deletion that a process requests from the provider."""
        name, removal = machine.name, self._server.kind(REMOVALS).named(machine.name)
        meant = None if removal is None else (removal.spec.node_id, removal.spec.request_uid)
        if meant != (machine.machine_id, machine.request_uid):
            self.breach("what is deleted was named", f"{name} was deleted, {meant} was to go")
        kept = self._kept_on(name)
        if kept and name in self._cloud.machines:
            self.breach("no pod loses its machine", f"{name} with {kept[0].name}")
        if removal is not None and removal.spec.reason is RemovalReason.ORPHAN:
            self._check_age(removal)
        if removal is not None and removal.spec.reason is RemovalReason.NEVER_JOINED:
            self._check_joined(name, asked=self._first_asked(removal))
        if removal is not None and removal.spec.reason.meaning.is_optional:
            self._check_wish(name, asked=self._first_asked(removal))
        self._check_rest(name)

    def _first_asked(self, removal: NodeRemovalRequest) -> float:
        """When the deletion was first requested; retries need no new reason."""
        uid, before = removal.metadata.uid, self._first_asks.get(removal.name)
        if before is None or before[0] != uid:
            before = self._first_asks[removal.name] = uid, self._timeline.now
        return before[1]

    def _check_wish(self, name: str, *, asked: float) -> None:
        """Check that a person's wish for a node is respected, once the process must know it."""
        wished_at = self.wished_at.get(name, asked)
        if asked - wished_at > SEEN_WITHIN:
            self.breach("a person's node stays", f"{name}, wished at {wished_at:.0f}")

    def _kept_on(self, name: str) -> tuple[Pod, ...]:
        """The pods that need their node. On a silent node, no kubelet confirms a pod's end."""
        pods, node = self._server.kind("pods").objects, self._server.kind("nodes").named(name)
        kept = keepers(pods[key] for key in pods_bound_to(name, self._server))
        if node is None:
            return kept
        is_moved = SimulatedFault.CLOCK_JUMP in self._faults.kinds
        # A process whose clock was moved ahead takes a grace period for over before it is.
        wall = self._server.wall + (A_JUMP if is_moved else timedelta())
        now = Instant(monotonic=self._timeline.now, wall=wall)
        return left_on(kept, now, node_is_ready=node.is_ready)

    def _check_joined(self, name: str, *, asked: float) -> None:
        machine = self._cloud.machines.get(name)
        since = None if machine is None else machine.serves_since
        if since is not None and asked - since > SEEN_WITHIN:
            self.breach("who serves has joined", f"{name} serves since {since:.0f}")

    def _check_rest(self, name: str) -> None:
        """Check for a pause between deletions of a machine, unless the process lost its memory."""
        before = self._asked_at.get(name, -RESTED)
        self._asked_at[name] = self._timeline.now
        is_excused = self._faults.kinds & FORGETS_AN_ANSWER
        if self._timeline.now - before < RESTED and not is_excused:
            self.breach("a provider that was asked rests", f"{name} is deleted once more")

    def _check_age(self, removal: NodeRemovalRequest) -> None:
        made = removal.metadata.creation_timestamp
        age = (self._server.wall - made).total_seconds() if made else 0.0
        # The process counts the age by its own clock.
        is_dated = SimulatedFault.CLOCK_JUMP not in self._faults.kinds
        if is_dated and age < self._timing.orphan_age - FOUND_BEFORE:
            self.breach("orphans go late", f"{removal.name} after {age:.0f} s")

    def _pod_changed(self, event: StoredChange) -> None:
        pod: Pod = event.new or event.old
        uid = pod.metadata.uid
        if event.new is None:
            self._waiting.discard(uid)
        elif uid not in self._waiting and is_demand(event.new):
            self._waiting.add(uid)
            self.waited += self._possible.may_help(event.new)

    def _request_changed(self, event: StoredChange) -> None:
        request: NodeRequest = event.new or event.old
        if event.old is None:
            self._intended(request)
        elif event.new is None:
            self._ended(request)
        else:
            self._moved(event.old, event.new)
        self._recount(request.name, CountedSort(request.spec.pool, request.spec.server_type))

    def _intended(self, request: NodeRequest) -> None:
        self.purchases.intended(request)
        for pod in request.spec.pods:
            for other in self._intents[pod.uid]:
                self._check_twice(pod, request.name, other)
            self._intents[pod.uid][request.name] = None

    def _check_twice(self, pod: PodReference, name: str, other: str) -> None:
        before: NodeRequest = self._server.kind("NodeRequest").named(other)
        standing = self._standing(before)
        # A pod whose place is taken is planned for at once. Without this excuse half of the first
        # seeds breached, with the right rules.
        if not standing or self._is_crowded_out(pod, other):
            return
        self.twice += 1
        if not self._faults.kinds & MAKES_A_SECOND_INTENT_EXCUSABLE:
            self.breach("one intent a pod", f"{name} for {pod.name}, {other} {standing}")

    def _is_crowded_out(self, promised: PodReference, machine: str) -> bool:
        """Whether other pods took its place; then it needs another one and doesn't have to wait."""
        pod = self._server.kind("pods").named(promised.name, namespace=promised.namespace)
        return pod is not None and not self._possible.holds_still(machine, pod)

    def _standing(self, request: NodeRequest) -> str:
        """The state of a machine that is still coming for a pod; "" if it isn't coming."""
        phase, is_there = request.status.phase, request.name in self._cloud.machines
        if phase is RequestPhase.PENDING or (phase is RequestPhase.PROVISIONING and is_there):
            return f"is {phase}"
        if phase is RequestPhase.READY and is_there:
            served = self._timeline.now - self._served_at[request.name]
            # The time was set by the writer's clock, before the write arrived.
            if served < self._timing.bind_wait - 1.0:
                return f"serves since {served:.1f} s"
        return ""

    def _ended(self, request: NodeRequest) -> None:
        self._served_at.pop(request.name, None)
        for pod in request.spec.pods:
            self._intents[pod.uid].pop(request.name, None)
            if not self._intents[pod.uid]:
                del self._intents[pod.uid]
        self.unknown.look(request.name)

    def _removal_changed(self, event: StoredChange) -> None:
        self.unknown.look(event.key.name)

    def _moved(self, old: NodeRequest, new: NodeRequest) -> None:
        before, after = old.status, new.status
        if ORDER.index(after.phase) < ORDER.index(before.phase):
            self.breach("phases go on", f"{new.name}: {before.phase} -> {after.phase}")
        if after.phase is RequestPhase.READY and before.phase is not RequestPhase.READY:
            self._served_at[new.name] = self._timeline.now
        named = Counter(event.name for event in after.events)
        for name, times in sorted(named.items()):
            if times > 1:
                self.breach("one effect an intent", f"{new.name}: {name} {times} times")

    def _node_changed(self, event: StoredChange) -> None:
        node: Node = event.new or event.old
        # The labels of a node may lie; the order of its machine doesn't.
        machine = self._cloud.machines.get(node.name)
        if machine is not None and pool_of_simulated_node(node):
            self._recount(node.name, CountedSort(machine.order.pool, machine.order.server_type))
        self.unknown.look(node.name)
        self._check_cordon(event.old, event.new)
        is_paid = node.name in self._cloud.machines and node.name not in self._cloud.forgotten
        if event.new is None and is_paid:
            self.breach("no living node is freed", f"{node.name} is paid for at the provider")

    def _check_cordon(self, old: Node | None, new: Node | None) -> None:
        if old is None or new is None or not is_cordoned_by_a_person(old):
            return
        # A person who lifts their own cordon has no wish any more.
        if not new.spec.unschedulable and new.name in self.wished_at:
            self.breach("a person's cordon is never touched", f"{new.name} is uncordoned")

    def _recount(self, name: str, sort: CountedSort | None = None) -> None:
        """Count a machine that exists, or that may still come.

        A machine whose Node was deleted doesn't count for the maximum of its type: no object and no
        listing has its type. It counts for its pool until it is removed as an orphan. A Node
        without a machine doesn't count either: it isn't paid for, and a listing may show that the
        machine is gone before the Node changes.
        """
        request = self._server.kind("NodeRequest").named(name)
        exists = (name in self._cloud.machines and name not in self._cloud.forgotten) or (
            request is not None and request.status.phase in ON_THE_WAY
        )
        if not exists:
            counted = self._counted.pop(name, None)
            if counted is not None:
                self._counts[counted] -= 1
        elif name not in self._counted and sort is not None:
            self._counted[name] = sort
            self._counts[sort] += 1
            self._check_maximum(sort)

    def _check_maximum(self, sort: CountedSort) -> None:
        maximum = self._possible.maximum(sort)
        if self._counts[sort] > maximum:
            text = f"{self._counts[sort]} of {sort.pool}/{sort.server_type}, {maximum} allowed"
            self.breach("no maximum is exceeded", text)

    def judge(self) -> None:
        """Check what must hold at the end, after a long quiet time."""
        self._all_machines_known()
        self._records.judge()
        self._all_pods_placed()
        self._all_requests_done()
        if complaint := self.purchases.complaint(waited=self.waited):
            self.breach("no pod costs two machines", complaint)
        elif self.twice > TWICE * self.waited + FEW:
            text = f"{self.twice} asked for, for pods that had one coming"
            self.breach("no pod costs two machines", text)

    def _all_machines_known(self) -> None:
        nodes = self._server.kind("nodes")
        for name in sorted(self._cloud.machines):
            removal = self._server.kind(REMOVALS).named(name)
            has_failed = removal is not None and removal.status.phase is FAILED
            request = self._server.kind("NodeRequest").named(name)
            if request is None and nodes.named(name) is None and not has_failed:
                self.breach("every machine is known", f"{name} has neither request nor node")
        for node in nodes.objects.values():
            if pool_of_simulated_node(node) and node.name not in self._cloud.machines:
                self.breach("every node has a machine", f"{node.name} has none")

    def _all_requests_done(self) -> None:
        for each in in_progress(self._server):
            self.breach("all settles", f"{each.name} is still {each.status.phase}")

    def _all_pods_placed(self) -> None:
        for pod in self._server.kind("pods").objects.values():
            if pod.spec.node_name or pod.is_finished or pod.is_terminating:
                continue
            for sort in self._possible.sorts_for(pod):
                if self._counts[sort] < self._possible.maximum(sort):
                    self.breach("what fits is bound", f"{pod.name} waits, {sort} would hold it")
                    break
