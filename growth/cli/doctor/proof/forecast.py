"""The machine that would be bought for a proof's pod, from the planner itself."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from growth.cli.plan.prices import prices_from
from growth.cli.plan.reading import plan_for_world, world
from growth.cli.terminal.money import hourly
from growth.errors import GiveUp
from growth.scheduling.objects import decode_pod

if TYPE_CHECKING:
    from growth.cli.plan.cluster import SeenCluster
    from growth.instant import Instant

UID = "growth-proof"


class Forecast(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The machine that the plan would buy."""

    server_type: str
    location: str
    price: Decimal
    """The price per hour, from the prices of `growth plan`."""

    def text(self, currency: str) -> str:
        """The question's text for the person who confirms the purchase."""
        return f"a {self.server_type} in {self.location} at {hourly(self.price, currency)} per hour"


def forecast(seen: SeenCluster, pod: dict[str, Any], *, now: Instant) -> Forecast | None:
    """The machine for the pod; raises if the plan has no place for it."""
    metadata = pod["metadata"] | {"uid": UID}
    asked = decode_pod(msgspec.json.encode(pod | {"metadata": metadata}))
    there = world(
        (*seen.objects, asked),
        seen.resources,
        prices_from(None),
        config_maps=seen.config_maps,
        now=now,
    )
    paper = plan_for_world(there, effort="quick", now=now)
    for left, reason in paper.unplaced:
        if left.metadata.uid == UID:
            raise GiveUp(f"a small pod wouldn't fit there: {reason}")
    for name, request in paper.requests.items():
        if any(each.metadata.uid == UID for each in paper.pods.get(name, ())):
            spec = request.spec
            return Forecast(
                server_type=str(spec.server_type), location=spec.location, price=spec.price
            )
    return None
