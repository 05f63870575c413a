"""One look of provisioning: the world, the moment, what is remembered, what follows from all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reconciler.provisioning.duplicates import duplicates

if TYPE_CHECKING:
    # Whoever makes a world needs this room's part of the ledger first.
    from growth.instant import Instant
    from reconciler.provisioning.ledger import ProvisioningLedger
    from reconciler.removal.seeing import Clock
    from reconciler.world import World


@dataclass(frozen=True, kw_only=True)
class Look:
    """What every rule here is given; derived values are worked out once, if somebody asks."""

    world: World
    now: Instant
    memory: ProvisioningLedger
    clock: Clock
    """It stands still while we are blind."""

    @cached_property
    def duplicates(self) -> frozenset[str]:
        """Requests whose pods all have an older one."""
        return duplicates(self.world.requests.values())
