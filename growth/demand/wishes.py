"""Whether the waiting pods have a pool: asked once for each wish, not for each pod.

Pods have few different wishes, so a pool that appears or goes costs a look at each wish, and
touches the pods of those only whose answer has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.demand.pools import UsablePools, match

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.demand.pools import PoolChoice


class Wishes:
    """The pods that wait, by what they say about pools."""

    def __init__(self) -> None:
        # Until somebody has told which pools exist, none is missing.
        self._pools: frozenset[str] | None = None
        self._pods: dict[PoolChoice, dict[str, None]] = {}
        self._served: dict[PoolChoice, bool] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def is_served(self, wish: PoolChoice) -> bool:
        """Whether a pool exists that pods of this wish may use."""
        if wish not in self._served:
            self._served[wish] = self._judge(wish)
        return self._served[wish]

    def add(self, uid: str, wish: PoolChoice) -> None:
        """A pod of this wish waits."""
        self._pods.setdefault(wish, {})[uid] = None

    def remove(self, uid: str, wish: PoolChoice) -> None:
        """It doesn't wait any more."""
        pods = self._pods.get(wish, {})
        pods.pop(uid, None)
        if not pods:
            self._pods.pop(wish, None)
            self._served.pop(wish, None)

    def exist(self, pools: Iterable[str]) -> list[str]:
        """These are the pools; the answer are the pods that are judged anew."""
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
        return self._pools is None or isinstance(match(wish, self._pools), UsablePools)
