"""Plays cases in a control plane and sets the scheduler's verdicts beside ours.

Cases stand on the stage in batches. The scheduler's caches follow the API server by a few
milliseconds, each kind on its own, and nothing says when they have followed; so there is a pause
before the offer, and whatever differs is played a second and a third time with longer ones. Only
what differs every time is a difference.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import itertools
import secrets
from typing import TYPE_CHECKING

import msgspec

from tests.differential import snapshot, stage
from tests.differential.cases import Case, Isolation, stamped
from tests.differential.connection import Refused, connected
from tests.differential.snapshot import Answer, Snapshot
from tests.differential.verdicts import Verdict, watched

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from growth.scheduling.cluster import Cluster
    from tests.differential.connection import Connection
    from tests.differential.verdicts import Verdicts

PLACES = 50
PAUSES = (0.08, 0.4, 1.0)
"""Seconds between the last write and the offer: at first, and at the second looks."""
_PATIENCE = 10.0


class Outcome(enum.Enum):
    """What came of a case."""

    AGREED = "agreed"
    DIFFERED = "differed"
    UNSUPPORTED = "named as unsupported"
    REFUSED = "refused by the API server"
    SILENT = "without a verdict"
    DISTURBED = "without all of its objects"
    """A controller has deleted some of them, as the one that detaches volumes does at its start."""


class Played(msgspec.Struct, frozen=True):
    """A case with both verdicts, and what they were about."""

    case: Case
    outcome: Outcome
    theirs: Verdict | None = None
    ours: Answer | None = None
    seen: Snapshot | None = None
    pod: msgspec.Raw = msgspec.Raw()
    reason: str = ""


class Theatre:
    """One control plane with a stage of many places."""

    def __init__(self, connection: Connection, verdicts: Verdicts) -> None:
        self._connection = connection
        self._verdicts = verdicts
        self._run = secrets.token_hex(3)
        self._numbers = itertools.count()

    async def play(self, cases: Sequence[Case]) -> list[Played]:
        """Every case, in their order, with as many looks as it takes."""
        played = await self._once(cases, PAUSES[0])
        for pause in PAUSES[1:]:
            doubtful = [at for at, each in enumerate(played) if each.outcome in _DOUBTFUL]
            again = await self._once([cases[at] for at in doubtful], pause)
            for at, each in zip(doubtful, again, strict=True):
                played[at] = each
        return played

    async def differ(self, cases: Sequence[Case]) -> list[bool]:
        """Which of the cases differ, at one long look."""
        played = await self._once(cases, PAUSES[1])
        return [each.outcome is Outcome.DIFFERED for each in played]

    async def _once(self, cases: Sequence[Case], pause: float) -> list[Played]:
        played: dict[int, Played] = {}
        for batch in _batches(cases):
            results = await self._batch([cases[at] for at in batch], pause)
            played.update(zip(batch, results, strict=True))
        return [played[at] for at in range(len(cases))]

    async def _batch(self, cases: Sequence[Case], pause: float) -> list[Played]:
        actors = [
            stamped(case, stamp=f"c{self._run}{next(self._numbers)}", place=place)
            for place, case in enumerate(cases)
        ]
        connection = self._connection
        refusals = await asyncio.gather(
            *(stage.put_in_place(connection, actor) for actor in actors), return_exceptions=True
        )
        try:
            await asyncio.sleep(pause)
            seen = await snapshot.taken(connection)
            offers = await asyncio.gather(*(self._offered(actor) for actor in actors))
        finally:
            await asyncio.gather(*(stage.clear(connection, actor) for actor in actors))
        our_view, there = snapshot.cluster(seen), snapshot.names(seen)
        return [
            _judged(case, offer=refusal or offer, seen=seen, our_view=our_view)
            if refusal or _is_whole(actor, there)
            else Played(case, Outcome.DISTURBED)
            for case, actor, offer, refusal in zip(cases, actors, offers, refusals, strict=True)
        ]

    async def _offered(self, actor: Case) -> _Offer | Refused:
        self._verdicts.expect(actor.pod, _claims_without_node(actor))
        try:
            pod = await stage.offer(self._connection, actor.pod)
        except Refused as refusal:
            return refusal
        return _Offer(pod, await self._verdicts.on(actor.pod, within=_PATIENCE))


@contextlib.asynccontextmanager
async def opened(kubeconfig: Path) -> AsyncIterator[Theatre]:
    """A theatre in the cluster of a kubeconfig."""
    async with connected(kubeconfig) as connection:
        await stage.prepare(connection, PLACES)
        async with watched(connection) as verdicts:
            yield Theatre(connection, verdicts)


class _Offer(msgspec.Struct, frozen=True):
    pod: bytes
    verdict: Verdict | None


_DOUBTFUL = {Outcome.DIFFERED, Outcome.SILENT, Outcome.DISTURBED}


def _batches(cases: Sequence[Case]) -> Iterator[list[int]]:
    """Those that can stand together do; the others each have the stage for themselves."""
    together = [at for at, case in enumerate(cases) if case.isolation is Isolation.SEATS]
    for start in range(0, len(together), PLACES):
        yield together[start : start + PLACES]
    for at, case in enumerate(cases):
        if case.isolation is Isolation.ALONE:
            yield [at]


def _is_whole(actor: Case, there: set[tuple[str, str]]) -> bool:
    """Whether everything that was put in place and matters to our rules is still there."""
    kinds = {path.rpartition("/")[2] for path in snapshot.DECODERS}
    placed = {
        (stage.PATHS[each["kind"]].rpartition("/")[2], each["metadata"]["name"])
        for each in actor.objects
    }
    return all(kind not in kinds or (kind, name) in there for kind, name in placed)


def _judged(
    case: Case, *, offer: _Offer | BaseException, seen: Snapshot, our_view: Cluster
) -> Played:
    if isinstance(offer, Refused):
        return Played(case, Outcome.REFUSED, reason=str(offer))
    if isinstance(offer, BaseException):
        raise offer
    if offer.verdict is None:
        return Played(case, Outcome.SILENT)
    ours = snapshot.answer(offer.pod, our_view)
    return Played(
        case,
        outcome(ours, offer.verdict),
        theirs=offer.verdict,
        ours=ours,
        seen=seen,
        pod=msgspec.Raw(offer.pod),
    )


def outcome(ours: Answer, theirs: Verdict) -> Outcome:
    """Whether both say the same: nowhere, or somewhere that we hold for possible too."""
    if ours.unsupported:
        return Outcome.UNSUPPORTED
    agreed = theirs.node in ours.nodes if theirs.node else not ours.nodes
    return Outcome.AGREED if agreed else Outcome.DIFFERED


def _claims_without_node(case: Case) -> set[str]:
    return {
        manifest["metadata"]["name"]
        for manifest in case.objects
        if manifest["kind"] == "PersistentVolumeClaim" and "annotations" not in manifest["metadata"]
    }
