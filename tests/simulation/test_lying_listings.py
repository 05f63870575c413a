"""What the simulated cloud lists for a while instead of the truth."""

from __future__ import annotations

from datetime import UTC, datetime

from growth.instant import Instant
from reconciler.core.timing import Timing
from reconciler.simulation.cloud import SimulatedJoining, SimulatedMachine
from reconciler.simulation.faults import SimulatedFault
from reconciler.simulation.living import Living
from reconciler.simulation.story import Story
from reconciler.simulation.trouble import SimulatedTrouble
from tests.reconciler.build import small_order
from tests.simulation import today

A_DAY = 24 * 60.0
NOW = Instant(0.0, datetime(2030, 1, 1, tzinfo=UTC))
ORDER = small_order("one", request_uid="one")
LIES = (SimulatedFault.LISTING_EMPTY, SimulatedFault.LISTING_BROKEN, SimulatedFault.LISTING_STALE)


def test_between_two_empty_listings_a_stable_interval_apart_the_truth_is_listed() -> None:
    """Or no rule could tell the lie from a cloud whose machines are gone."""
    story = Story(seed=today.first(), minutes=A_DAY, faults=LIES, workloads=0)
    living = Living(story, SimulatedJoining.AT_ONCE)
    living.cloud.machines["one"] = SimulatedMachine(order=ORDER, made_at=0.0)
    SimulatedTrouble(living, offerings=())
    empty_since: float | None = None
    lies = 0
    for second in range(int(A_DAY * 60)):
        living.timeline.run(float(second))
        listing = living.cloud.listing(NOW)
        if listing.is_complete and not listing.machines:
            lies += empty_since is None
            empty_since = second if empty_since is None else empty_since
            assert second < empty_since + Timing().stable_interval
        elif listing.is_complete:
            empty_since = None
    assert lies > 100
