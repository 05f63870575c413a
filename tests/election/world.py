"""Candidates around a modelled API server, moved on by whoever drives the test.

A candidate does nothing unless it is told to, so a process that is frozen, slow or dead is one that
isn't told. Requests wait in the network until they are let pass, in any order, or never; a call
that timed out may still be carried out.
"""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from growth.errors import DecideAgain
from growth.kube.election.identity import Identity
from growth.kube.election.lease import holding_patch, release_patch, unheld_lease
from growth.kube.election.rule import (
    CreateLease,
    HoldLease,
    ReadLease,
    Settings,
    StepDown,
    Wait,
    leads_until,
    next_step,
)
from growth.kube.election.standing import (
    LeaseView,
    after_failure,
    after_hold,
    after_look,
    after_loss,
)
from tests.election.lease_model import LeaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.kube.election.lease import Lease

SETTINGS = Settings()
PACE = 1.5


@dataclasses.dataclass
class Request:
    """On its way; there is an answer or an error once the server has carried it out."""

    kind: type[ReadLease | HoldLease]
    carry_out: Callable[[], Lease | None]
    sent: float
    done: bool = False
    answer: Lease | None = None
    error: DecideAgain | None = None


@dataclasses.dataclass
class Candidate:
    who: Identity
    standing: LeaseView = dataclasses.field(default_factory=LeaseView)
    request: Request | None = None


class World:
    """Three candidates, one Lease, one network; what can happen are its methods."""

    def __init__(self) -> None:
        self.now = 0.0
        self.wall_offset = 0.0
        self.server = LeaseModel()
        self.network: list[Request] = []
        self.runs = 0
        self.candidates = [self._started(name, "here") for name in "abc"]

    def _started(self, name: str, place: str | None) -> Candidate:
        self.runs += 1
        return Candidate(Identity(name, f"run{self.runs}", place))

    def leaders(self) -> list[str]:
        return [
            one.who.text
            for one in self.candidates
            if self.now < leads_until(one.standing, SETTINGS)
        ]

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def jump_the_wall_clock(self, seconds: float) -> None:
        self.wall_offset += seconds

    @property
    def wall(self) -> datetime:
        stands_still = self.wall_offset < 0
        seconds = self.wall_offset + (0 if stands_still else self.now)
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)

    def act(self, number: int) -> None:
        one = self.candidates[number]
        if one.request is not None:
            return
        match next_step(one.standing, who=one.who, settings=SETTINGS, now=self.now):
            case ReadLease():
                self._send(one, ReadLease, self.server.read)
            case CreateLease():
                body = unheld_lease(name="x", duration=SETTINGS.lease_duration, now=self.wall)
                self._send(one, ReadLease, lambda: self.server.create(body))
            case HoldLease(lease):
                self._send(one, HoldLease, self._holding(one, lease))
            case StepDown():
                one.standing = after_loss(one.standing)
            case Wait():
                pass

    def _send(
        self,
        one: Candidate,
        kind: type[ReadLease | HoldLease],
        carry_out: Callable[[], Lease | None],
    ) -> None:
        one.request = Request(kind, carry_out, self.now)
        self.network.append(one.request)

    def _holding(self, one: Candidate, lease: Lease) -> Callable[[], Lease | None]:
        patch = holding_patch(
            lease, holder=one.who.text, duration=SETTINGS.lease_duration, now=self.wall
        )
        return lambda: self.server.patch(patch)

    def carry_out(self, place: int) -> None:
        if not self.network:
            return
        request = self.network.pop(place % len(self.network))
        request.done = True
        try:
            request.answer = request.carry_out()
        except DecideAgain as error:
            request.error = error

    def answer(self, number: int) -> None:
        one = self.candidates[number]
        if one.request is not None and one.request.done:
            one.standing = self._after(one.request, one.standing)
            one.request = None

    def _after(self, request: Request, standing: LeaseView) -> LeaseView:
        if request.error is not None:
            return after_failure(standing, next_call=self.now)
        paced, lease = request.sent + PACE, request.answer
        if request.kind is ReadLease:
            return after_look(standing, lease, ended=self.now, next_call=paced)
        assert lease is not None
        return after_hold(standing, lease, started=request.sent, ended=self.now, next_call=paced)

    def let_a_call_through(self, number: int) -> None:
        self.act(number)
        request = self.candidates[number].request
        if request is not None and request in self.network:
            self.carry_out(self.network.index(request))
        self.answer(number)

    def time_a_call_out(self, number: int) -> None:
        one = self.candidates[number]
        if one.request is not None:
            one.request = None
            one.standing = after_failure(one.standing, next_call=self.now)

    def kill_and_restart(self, number: int) -> None:
        """The next run finds the place of the dead one."""
        who = self.candidates[number].who
        self.candidates[number] = self._started(who.name, who.place)

    def replace_by_a_copy(self, number: int, of: int) -> None:
        """By mistake two live processes bear one name: the second gets no place."""
        self.candidates[number] = self._started(self.candidates[of].who.name, None)

    def stop_cleanly(self, number: int) -> None:
        one = self.candidates[number]
        one.standing = after_loss(one.standing)
        lease = self.server.read()
        if lease is not None and lease.spec.holder_identity == one.who.text:
            self.server.patch(release_patch(lease, now=self.wall))
        self.kill_and_restart(number)
