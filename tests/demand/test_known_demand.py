"""The book of the reconciler follows its caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.nodepool import NodePool
from growth.kube.cache.contents import Change, ChangeKind, difference
from growth.kube.cache.resource import key_of
from reconciler.seeing.demand import POOLS, KnownDemand
from tests.demand.build import NOW, marked
from tests.reconciler.build import pool

if TYPE_CHECKING:
    from growth.scheduling.objects import Pod


class Caches:
    """What a process knows, and the demand that follows it."""

    def __init__(self) -> None:
        self.demand = KnownDemand(lambda: NOW)

    def pod(self, old: Pod | None, new: Pod) -> None:
        self.demand.take("pods", difference(key_of(new), old, new))

    def pool(self, kind: ChangeKind, name: str = "default") -> None:
        made = pool(name)
        old, new = (None, made) if kind is ChangeKind.ADDED else (made, None)
        self.demand.take(POOLS, [Change[NodePool](kind, key_of(made), old, new)])

    @property
    def told(self) -> dict[str, str]:
        return {uid: str(each.reason) for uid, each in self.demand.at(NOW).entries.items()}


def test_pods_and_pools_come_and_go() -> None:
    caches = Caches()
    caches.pod(None, marked("a"))
    caches.pool(ChangeKind.ADDED, "another")
    assert caches.told == {"a": "PoolNotFound"}
    caches.pool(ChangeKind.ADDED)
    assert caches.told == {"a": "Unschedulable"}
    caches.pool(ChangeKind.DELETED)
    assert caches.told == {"a": "PoolNotFound"}


def test_a_pool_that_cannot_be_read_any_more_is_there_all_the_same() -> None:
    caches = Caches()
    caches.pod(None, marked("a"))
    caches.pool(ChangeKind.ADDED)
    caches.pool(ChangeKind.UNREADABLE)
    assert caches.told == {"a": "Unschedulable"}


def test_a_name_that_is_used_again_is_another_pod() -> None:
    caches = Caches()
    old = marked("a", metadata={"name": "web-0"})
    caches.pod(None, old)
    caches.pod(old, marked("b", version=2, metadata={"name": "web-0"}))
    assert caches.told == {"b": "Unschedulable"}


def test_a_pod_that_cannot_be_read_any_more_is_nobody_to_buy_for() -> None:
    caches = Caches()
    caches.pod(None, marked("a"))
    gone = Change(ChangeKind.UNREADABLE, key_of(marked("a")), marked("a"), None)
    caches.demand.take("pods", [gone])
    assert caches.told == {}


def test_other_kinds_are_nothing_to_it() -> None:
    caches = Caches()
    caches.demand.take("nodes", [Change(ChangeKind.ADDED, key_of(marked()), None, marked())])
    assert caches.told == {}
