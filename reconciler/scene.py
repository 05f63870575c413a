"""The scene that the loop plays on in production: real sources, real effects, real clocks."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from growth.api.kwoknodeclass import KwokNodeClass
from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.instant import Instant
from reconciler.actions import Subject, machine
from reconciler.providers.kwok.catalogue import offerings
from reconciler.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconciler import actions
    from reconciler.effects import Effects
    from reconciler.ledger import Ledger
    from reconciler.providers.port import ClassKey, Offering
    from reconciler.sources import Sources
    from reconciler.timing import Timing

MACHINE_KINDS: Final = frozenset({"nodes", "NodeRequest", "NodeRemovalRequest"})


def now() -> Instant:
    """This moment."""
    return Instant(monotonic=time.monotonic(), wall=datetime.now(UTC))


class Production:
    """What `loop.Scene` asks for."""

    def __init__(self, *, sources: Sources, effects: Effects, timing: Timing) -> None:
        self._sources = sources
        self._effects = effects
        self._timing = timing

    def now(self) -> Instant:
        """This moment."""
        return now()

    def world(self, ledger: Ledger) -> World:
        """Everything as it is known at this moment."""
        sources = self._sources
        return World(
            cluster=sources.cluster(),
            pending=dict(sources.pending),
            pools=sources.named(NodePool),
            node_classes=sources.node_classes(),
            requests=sources.named(NodeRequest),
            removals=sources.named(NodeRemovalRequest),
            offerings=self._offerings(),
            answers=dict(self._effects.answers),
            busy=self._effects.subjects | frozenset(self._unseen()),
            sources=sources.health,
            timing=self._timing,
            seed=secrets.randbits(128),
            ledger=ledger,
        )

    def start(self, sequence: actions.Sequence) -> None:
        """Begin to carry out a sequence."""
        self._effects.start(sequence)

    def _offerings(self) -> Mapping[ClassKey, tuple[Offering, ...]]:
        return {
            key: offerings(node_class)
            for key, node_class in self._sources.node_classes().items()
            if isinstance(node_class, KwokNodeClass)
        }

    def _unseen(self) -> Iterator[Subject]:
        for kind, key in self._sources.unseen():
            if kind in MACHINE_KINDS:
                yield machine(key.name)
