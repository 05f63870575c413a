"""The scene of the loop in production: real sources, effects and clocks."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec
import structlog

from reconciler.seeing.indexes import subjects_of
from reconciler.seeing.moment import now
from reconciler.seeing.unreadable import with_unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.instant import Instant
    from reconciler.core import actions
    from reconciler.core.installation import Installation
    from reconciler.core.world import World
    from reconciler.effects.carrying_out import Effects
    from reconciler.invariants.breach import Breach
    from reconciler.ledger import Ledger
    from reconciler.seeing.clouds import Clouds
    from reconciler.seeing.measured import UseReader
    from reconciler.seeing.sources import ReconcilerSources
    from reconciler.settings import ReconcilerSettings

_log = structlog.get_logger(__name__)


class Production:
    """Implements `loop.Scene`."""

    def __init__(
        self,
        *,
        sources: ReconcilerSources,
        clouds: Clouds,
        use: UseReader,
        effects: Effects,
        settings: ReconcilerSettings,
        seen: Callable[[World], None],
        stopped: Callable[[Breach], None],
        installation: Installation,
    ) -> None:
        self._installation = installation
        self._sources = sources
        self._clouds = clouds
        self._use = use
        self._effects = effects
        self._timing = settings.timing
        self._caps = settings.caps
        self._mode = settings.mode
        self._deletion_cost = settings.pod_deletion_cost
        self._seen = seen
        self._stopped = stopped

    def now(self) -> Instant:
        """The current time."""
        return now()

    def world(self, ledger: Ledger) -> World:
        """The World at this moment."""
        world = self._sources.views.world(
            ledger,
            demand=self._sources.demand.at(now()),
            replies=self._effects.heard.replies,
            clouds=self._clouds.sights,
            # A subject stays busy after its last step: until the cache has seen the write, a rule
            # would decide on the state before it.
            busy=self._effects.subjects | frozenset(subjects_of(self._sources.unseen())),
            sources=self._sources.health,
            timing=self._timing,
            seed=secrets.randbits(128),
        )
        world = msgspec.structs.replace(
            with_unreadable(world, self._sources.unreadable),
            caps=self._caps,
            mode=self._mode,
            deletion_cost=self._deletion_cost,
            installation=self._installation,
            use=self._use.known,
            is_steered=self._sources.demand.resumes_at is not None,
        )
        self._seen(world)
        return world

    def start(self, sequence: actions.Sequence) -> None:
        """Start a sequence."""
        self._effects.start(sequence)

    def tell(self, failing: Iterable[str]) -> None:
        """The log tells it all; the rest is in the ledger, for metrics and the Lease."""
        for what in failing:
            _log.error("put aside", what=what)

    def stop(self, breach: Breach) -> None:
        """Stop all writing; effects check this before each step."""
        self._stopped(breach)
