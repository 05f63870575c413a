"""The most that growth has and buys in all pools together, whatever they allow each by itself."""

from __future__ import annotations

from decimal import Decimal

import msgspec


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """A brake for the case that a pool, or who wrote it, is wrong; None means none."""

    nodes: int | None = None
    nodes_per_hour: int | None = None
    hourly_cost: Decimal | None = None
