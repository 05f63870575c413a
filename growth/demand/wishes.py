"""Whether the waiting pods have a pool: computed once for each wish, not for each pod.

Pods have few different wishes. So when a pool is created or deleted, each wish is checked, and only
the pods whose answer has changed are judged again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.demand.pools import UsablePools, match_pools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.demand.pools import PoolChoice


class Wishes:
    """The waiting pods by wish."""

    def __init__(self) -> None:
        # None until the pools are known; until then, no pod is said to have no pool.
        self._pools: frozenset[str] | None = None
        self._pods: dict[PoolChoice, dict[str, None]] = {}
        self._served: dict[PoolChoice, bool] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def is_served(self, wish: PoolChoice) -> bool:
        """Whether there is a pool that pods with this wish may use."""
        if wish not in self._served:
            self._served[wish] = self._judge(wish)
        return self._served[wish]

    def add(self, uid: str, wish: PoolChoice) -> None:
        """Add a waiting pod."""
        self._pods.setdefault(wish, {})[uid] = None

    def remove(self, uid: str, wish: PoolChoice) -> None:
        """Remove a pod that no longer waits."""
        pods = self._pods.get(wish, {})
        pods.pop(uid, None)
        if not pods:
            self._pods.pop(wish, None)
            self._served.pop(wish, None)

    def exist(self, pools: Iterable[str]) -> list[str]:
        """Set the existing pools; returns the pods to judge again."""
        found = frozenset(pools)
        if found == self._pools:
            return []
        self._pools = found
        before, self._served = self._served, {}
        return [
            uid
            for wish, pods in self._pods.items()
            if before.get(wish) is not self.is_served(wish)
            for uid in pods
        ]

    def _judge(self, wish: PoolChoice) -> bool:
        return self._pools is None or isinstance(match_pools(wish, self._pools), UsablePools)
