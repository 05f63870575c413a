"""Limits of all pools together, whatever each pool allows by itself."""

from __future__ import annotations

from decimal import Decimal

import msgspec


class Caps(msgspec.Struct, frozen=True, kw_only=True):
    """A safeguard against mistakes in pools; None means no limit."""

    nodes: int | None = None
    nodes_per_hour: int | None = None
    hourly_cost: Decimal | None = None
