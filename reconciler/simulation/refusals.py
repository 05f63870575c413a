"""What the simulated cloud refuses for a while: an offer, a location, or the whole project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from growth.api.noderequest import UnmetScope
from reconciler.providers.port import Unmet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.providers.port import Offering, Order
    from reconciler.simulation.timeline import Timeline

REASONS: Final = {
    UnmetScope.OFFER: "sold out",
    UnmetScope.LOCATION: "the location is down",
    UnmetScope.PROJECT: "the quota is reached",
}


class CloudRefusal(NamedTuple):
    """What is refused; a location refuses all types, and a project all of its locations."""

    scope: UnmetScope
    location: str = ""
    server_type: str = ""


class CloudRefusals:
    """The current refusals."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._until: dict[CloudRefusal, float] = {}

    def refuse(self, what: CloudRefusal, *, seconds: float) -> None:
        """Refuse something for a while."""
        self._until[what] = self._timeline.now + seconds

    def sell_out(self, offering: Offering, *, seconds: float) -> None:
        """Refuse an offering for a while."""
        what = CloudRefusal(UnmetScope.OFFER, offering.location, offering.server_type.canonical)
        self.refuse(what, seconds=seconds)

    def answer(self, order: Order) -> Unmet | None:
        """The answer to an order that is refused; the widest refusal first."""
        for each in _refusals_of(order):
            if self._until.get(each, 0.0) > self._timeline.now:
                return Unmet(reason=REASONS[each.scope], scope=each.scope)
        return None


def _refusals_of(order: Order) -> Iterator[CloudRefusal]:
    yield CloudRefusal(UnmetScope.PROJECT)
    yield CloudRefusal(UnmetScope.LOCATION, order.location)
    yield CloudRefusal(UnmetScope.OFFER, order.location, order.server_type.canonical)
