"""What removal remembers between two passes."""

from __future__ import annotations

import msgspec


class RemovalLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Memory that is rebuilt from objects after a restart."""
