"""The ConfigMap that pauses every pool, as it is read; what it means is for `brakes.pauses`."""

from __future__ import annotations

import msgspec

from growth.scheduling.metadata import Metadata


class PauseOfAll(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The ConfigMap that pauses every pool."""

    metadata: Metadata = Metadata()
    data: dict[str, str] = {}


decode_pause_of_all = msgspec.json.Decoder(PauseOfAll).decode
