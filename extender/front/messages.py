"""What the extender tells its front: the demand, the health and the metrics.

A message is its length and then MessagePack. The demand begins with `Afresh` and all entries; after
that come changes. `Complete` ends both, so the front shows no half-told book.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from growth.demand.history import EntryChange
from growth.service.health import HealthVerdict

if TYPE_CHECKING:
    from asyncio import StreamReader

LENGTH: Final = struct.Struct(">I")


class Afresh(msgspec.Struct, frozen=True, tag=True):
    """The demand is told from its beginning; what isn't told again is gone."""


class Changes(msgspec.Struct, frozen=True, tag=True):
    """Some changes of the demand, in order."""

    changes: tuple[EntryChange, ...]


class Complete(msgspec.Struct, frozen=True, tag=True):
    """All demand has been told."""


class ToldCondition(msgspec.Struct, frozen=True, tag=True):
    """The results of all health checks."""

    liveness: tuple[HealthVerdict, ...]
    readiness: tuple[HealthVerdict, ...]


class ToldSample(msgspec.Struct, frozen=True, array_like=True):
    """A sample of a metric."""

    name: str
    labels: dict[str, str]
    value: float


class ToldFamily(msgspec.Struct, frozen=True, array_like=True):
    """A metric with its samples."""

    name: str
    documentation: str
    sort: str
    samples: tuple[ToldSample, ...]


class ToldFigures(msgspec.Struct, frozen=True, tag=True):
    """All metrics of the process."""

    families: tuple[ToldFamily, ...]


FrontMessage: TypeAlias = Afresh | Changes | Complete | ToldCondition | ToldFigures

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(FrontMessage).decode


def framed(message: FrontMessage) -> bytes:
    """A message with its length."""
    body = _encode(message)
    return LENGTH.pack(len(body)) + body


async def read_message(reader: StreamReader) -> FrontMessage:
    """The next message; raises `IncompleteReadError` at the end."""
    (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
    message: FrontMessage = _decode(await reader.readexactly(length))
    return message
