"""The offers of a Problem: nodes that can be bought, and room on nodes that exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.solver import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.scheduling.resources import Resources
    from reconciler.buying.offers import Purchasable
    from reconciler.planning.capacity import Spot


def bought_offer(item: Purchasable, resources: tuple[str, ...]) -> Offer:
    """The offer of a node that can be bought."""
    # Kept with the item, which is the same object for as long as the offer is sold: to make these
    # anew took half of the time of a question about one pod.
    key = (bought_offer, resources)
    found: Offer | None = item.forms.get(key)
    if found is None:
        found = item.forms[key] = _made_offer(item, resources)
    return found


def _made_offer(item: Purchasable, resources: tuple[str, ...]) -> Offer:
    return Offer(
        name=item.name,
        capacity=vector_of(item.room, resources),
        price=item.price,
        currency=item.offering.currency,
        type=item.offering.server_type.canonical,
        location=item.offering.location,
        labels=item.node.labels,
        most=item.most,
        weight=item.pool.spec.weight,
        rank=item.offering.doubts,
    )


def standing_offer(spot: Spot, resources: Sequence[str]) -> Offer:
    """The offer of what is free on a node that exists or is on its way."""
    return Offer(
        name=spot.name,
        capacity=vector_of(spot.room, resources),
        labels=spot.node.labels,
        most=1,
        exists=True,
    )


def vector_of(amounts: Resources, resources: Sequence[str]) -> tuple[int, ...]:
    """The amounts of these resources."""
    # A node can hold more than it has to give: kubelets admit what was there before they were given
    # less.
    return tuple(max(0, amounts[name]) for name in resources)
