"""What is remembered and lies in no API object: one frozen value, part of the World.

Each room has a section and returns its new one with its decision; only the loop stores it. Nothing
here is needed for safety: after a restart it is empty, and what matters is rebuilt from objects.
"""

from __future__ import annotations

import msgspec

from reconciler.brakes.rule import BrakesLedger
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.planning.ledger import PlanningLedger
from reconciler.provisioning.ledger import ProvisioningLedger
from reconciler.removal.ledger import RemovalLedger
from reconciler.replacement.ledger import ReplacementLedger


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of every room, by the room's name."""

    brakes: BrakesLedger = BrakesLedger()
    invariants: InvariantsLedger = InvariantsLedger()
    planning: PlanningLedger = PlanningLedger()
    provisioning: ProvisioningLedger = ProvisioningLedger()
    removal: RemovalLedger = RemovalLedger()
    replacement: ReplacementLedger = ReplacementLedger()
