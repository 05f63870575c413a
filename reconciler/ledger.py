"""What the rooms remember between passes, outside of API objects: one frozen value in the World.

Each room has a section and returns its new one with its decision; only the loop stores it. Nothing
here is needed for safety: after a restart it is empty, and what matters is rebuilt from objects.

The ledger and its sections are dataclasses, unlike most values here, because mypy checks the fields
of `dataclasses.replace` but not those of `msgspec.structs.replace`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reconciler.aside.ledger import AsideLedger
from reconciler.brakes.rule import BrakesLedger
from reconciler.departure.ledger import DepartureLedger
from reconciler.invariants.ledger import InvariantsLedger
from reconciler.observing.ledger import ObservingLedger
from reconciler.planning.ledger import PlanningLedger
from reconciler.pools.ledger import PoolsLedger
from reconciler.provisioning.ledger import ProvisioningLedger
from reconciler.records.ledger import RecordsLedger
from reconciler.removal.ledger import RemovalLedger
from reconciler.replacement.ledger import ReplacementLedger
from reconciler.scaling.ledger import ScalingLedger


@dataclass(frozen=True, kw_only=True, slots=True)
class Ledger:
    """The memory of every room."""

    aside: AsideLedger = field(default_factory=AsideLedger)
    brakes: BrakesLedger = field(default_factory=BrakesLedger)
    departure: DepartureLedger = field(default_factory=DepartureLedger)
    invariants: InvariantsLedger = field(default_factory=InvariantsLedger)
    observing: ObservingLedger = field(default_factory=ObservingLedger)
    planning: PlanningLedger = field(default_factory=PlanningLedger)
    pools: PoolsLedger = field(default_factory=PoolsLedger)
    provisioning: ProvisioningLedger = field(default_factory=ProvisioningLedger)
    records: RecordsLedger = field(default_factory=RecordsLedger)
    removal: RemovalLedger = field(default_factory=RemovalLedger)
    replacement: ReplacementLedger = field(default_factory=ReplacementLedger)
    scaling: ScalingLedger = field(default_factory=ScalingLedger)
