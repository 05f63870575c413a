"""Whatever happens in whatever order, the book says what a slow and simple reading would say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from typing_extensions import override

from growth.demand import wire
from growth.demand.book import Book
from growth.demand.detection import PodProgress, scheduled, standing
from growth.demand.evidence import FEASIBLE_SECONDS, NOMINATED_SECONDS
from growth.demand.history import EntryChange, EntryChangeKind
from growth.demand.pools import pools_of
from growth.kube.versions import is_before
from tests.demand.build import at, book, verdict, waiting

if TYPE_CHECKING:
    from growth.demand.entry import DemandEntry
    from growth.scheduling.objects import Pod

# Few pods of few kinds, and the likely states more often: what matters happens between siblings.
UIDS = st.sampled_from("abcd")
STATES: list[dict[str, Any]] = [
    {},
    {},
    {"said": verdict()},
    {"said": verdict()},
    {"said": verdict(message="other")},
    {"said": verdict(reason="SchedulerError")},
    {"said": verdict(), "nominated": "node-1"},
    {"said": verdict(), "nominated": "node-2"},
    {"nominated": "node-1"},
    {"on": "node-1"},
    {"schedulingGates": [{"name": "wait"}]},
    {"said": verdict(reason="SchedulingGated")},
    {"phase": "Failed"},
]
KINDS: list[dict[str, Any]] = [
    {"owner": "web"},
    {"owner": "web"},
    {},
    {"owner": "web", "requests": {"cpu": "2"}},
    {"owner": "db"},
    {"owner": "web", "nodeSelector": {"growth.dev/pool": "gpu"}},
]
POOLS = st.sets(st.sampled_from(["default", "gpu"]))

Short = tuple[str, str, str, bool]


def short(entry: DemandEntry) -> Short:
    return (entry.state.value, entry.reason, entry.resource_version, entry.inferred)


def replayed(
    known: dict[str, DemandEntry], changes: tuple[EntryChange, ...]
) -> dict[str, DemandEntry]:
    """What a reader has after these changes; it also sees that each makes sense."""
    for change in changes:
        assert (change.entry.uid in known) == (change.kind is not EntryChangeKind.ADDED)
        if change.kind is EntryChangeKind.DELETED:
            del known[change.entry.uid]
        else:
            known[change.entry.uid] = change.entry
    return known


class Simple:
    """The same rules, worked out anew from everything each time."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.feasible: dict[str, tuple[float, str]] = {}
        self.nominated: dict[str, tuple[float, str]] = {}
        self.pools = {"default"}

    def put(self, pod: Pod, now: float) -> None:
        uid, old = pod.metadata.uid, self.pods.get(pod.metadata.uid)
        if standing(pod) is PodProgress.APART:
            self.remove(uid)
            return
        self.pods[uid] = pod
        is_new = old is None or scheduled(old) != scheduled(pod)
        _, said_of = self.feasible.get(uid, (0.0, ""))
        is_given_up = is_new and standing(pod) is PodProgress.UNSCHEDULABLE
        if is_given_up and is_before(said_of, pod.metadata.resource_version):
            self.feasible.pop(uid, None)
        node = pod.status.nominated_node_name
        if standing(pod) is not PodProgress.NOMINATED:
            self.nominated.pop(uid, None)
        elif old is None or old.status.nominated_node_name != node:
            self.nominated[uid] = (now + NOMINATED_SECONDS, node)

    def remove(self, uid: str) -> None:
        for known in (self.pods, self.feasible, self.nominated):
            known.pop(uid, None)

    def held(self, uid: str, now: float) -> str:
        if self.nominated.get(uid, (-1.0, ""))[0] > now:
            return "Nominated"
        return "Feasible" if self.feasible.get(uid, (-1.0, ""))[0] > now else ""

    def entries(self, now: float) -> dict[str, Short]:
        said = {uid: self.says(uid, now) for uid in self.pods}
        return {uid: each for uid, each in said.items() if each}

    def says(self, uid: str, now: float) -> Short | None:
        pod, held = self.pods[uid], self.held(uid, now)
        inferred = standing(pod) is PodProgress.UNREACHED
        if inferred and not self.has_demanding_sibling(pod, now):
            return None
        reason = "SiblingUnschedulable" if inferred else "Unschedulable"
        if not pools_of(pod, self.pools):
            reason = "PoolNotFound"
        state = "held" if held else "demand"
        return state, held or reason, pod.metadata.resource_version, inferred

    def has_demanding_sibling(self, pod: Pod, now: float) -> bool:
        owner = pod.metadata.controller
        return owner is not None and any(
            standing(other) is not PodProgress.UNREACHED
            and not self.held(uid, now)
            and other.metadata.controller == owner
            and other.shape == pod.shape
            for uid, other in self.pods.items()
        )


class AnyStory(RuleBasedStateMachine):
    """The book beside the simple reading, and three readers of its changes."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.version = 10
        self.simple = Simple()
        self.book = Book(instance="one")
        self.book.pools(self.simple.pools, at(0))
        self.readers: dict[str, tuple[str, dict[str, DemandEntry]]] = {
            name: (self.book.position, {}) for name in ("keen", "lazy")
        }

    @rule(uid=UIDS, state=st.sampled_from(STATES), kind=st.sampled_from(KINDS))
    def a_pod_changes(self, uid: str, state: dict[str, Any], kind: dict[str, Any]) -> None:
        self.version += 1
        pod = waiting(uid, version=self.version, **kind, **state)
        for _ in range(2):  # a repetition says nothing new
            self.book.put(pod, at(self.now))
        self.simple.put(pod, self.now)

    @rule(uid=UIDS)
    def a_pod_goes(self, uid: str) -> None:
        self.book.remove(uid, at(self.now))
        self.simple.remove(uid)

    @rule(uid=UIDS, behind=st.integers(-2, 5))
    def the_scheduler_finds_a_node(self, uid: str, behind: int) -> None:
        version = str(self.version - behind)
        self.book.feasible(uid, version=version, now=at(self.now))
        self.simple.feasible[uid] = (self.now + FEASIBLE_SECONDS, version)

    @rule(pools=POOLS)
    def pools_change(self, pools: set[str]) -> None:
        self.book.pools(pools, at(self.now))
        self.simple.pools = pools

    @rule(seconds=st.sampled_from([1.0, FEASIBLE_SECONDS, NOMINATED_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.book.settle(at(self.now))

    @rule()
    def a_lazy_reader_reads(self) -> None:
        self.read("lazy")

    @rule()
    def a_reader_comes_anew(self) -> None:
        *changes, last = wire.read_lines(wire.opening(self.book))
        assert isinstance(last, wire.Bookmark)
        known = {change.entry.uid: change.entry for change in changes}  # type: ignore[union-attr]
        self.readers["lazy"] = (last.position, known)

    def read(self, name: str) -> None:
        position, known = self.readers[name]
        changes = self.book.after(position)
        assert changes is not None
        known = replayed(known, changes)
        assert known == self.book.entries
        self.readers[name] = (self.book.position, known)

    @invariant()
    def the_book_says_what_the_simple_reading_says(self) -> None:
        entries = {uid: short(entry) for uid, entry in self.book.entries.items()}
        assert entries == self.simple.entries(self.now)
        self.read("keen")

    @invariant()
    def the_next_end_is_the_next_moment_at_which_something_changes(self) -> None:
        ends = [end for end, _ in self.simple.feasible.values() if end > self.now]
        ends += [end for end, _ in self.simple.nominated.values() if end > self.now]
        assert self.book.next_end == min(ends, default=math.inf)

    @override
    def teardown(self) -> None:
        """Nothing stays behind in the book when everything has gone."""
        for uid in "abcd":
            self.book.remove(uid, at(self.now))
        self.book.settle(at(self.now + NOMINATED_SECONDS))
        book = self.book
        for part in (book._waiting, book._siblings, book._wishes, book._evidence, book.entries):
            assert len(part) == 0


TestAnyStory = pytest.mark.timeout(120)(AnyStory.TestCase)
TestAnyStory.settings = settings(max_examples=100, stateful_step_count=40)


@given(
    pods=st.lists(
        st.tuples(UIDS, st.sampled_from(STATES), st.sampled_from(KINDS)),
        unique_by=lambda each: each[0],
    ).flatmap(lambda drawn: st.tuples(st.just(drawn), st.permutations(drawn)))
)
@settings(max_examples=60)
def test_the_order_of_events_of_different_pods_does_not_matter(pods: Any) -> None:
    entries = []
    for order in pods:
        made = book(*(waiting(uid, **state, **kind) for uid, state, kind in order))
        entries.append({uid: short(entry) for uid, entry in made.entries.items()})
    assert entries[0] == entries[1]
