"""All servers of our cluster, in one shared listing.

This is the only place that reads whether a server exists. A create looks at a listing younger than
its intent and its last try, and a delete at the latest one. A burst of 100 creates shares one
listing of two pages. Hetzner's listings lag, so a server that was just accepted is remembered until
they show it. A create that fails after it was accepted is found in the list of failed actions, even
after a restart.
"""

from __future__ import annotations

import asyncio
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from reconciler.providers.hetzner.calls import CallFailed
from reconciler.providers.hetzner.labels import selector
from reconciler.providers.hetzner.machines import (
    failures_by_server,
    is_unfinished,
    machine_of_server,
)
from reconciler.providers.hetzner.wire import Action, HetznerServer
from reconciler.providers.port import Listing, Machine, MachineState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from growth.instant import Instant
    from reconciler.providers.hetzner.calls import Calls
    from reconciler.providers.hetzner.failures import Failure

SHOWS_AFTER = 60.0
"""Seconds within which listings show an accepted server. After that, it doesn't exist."""
DELETED_AFTER = 600.0
"""Seconds after which a deleted server that still runs counts as running again."""


class _Confirmed(NamedTuple):
    """A machine that Hetzner has accepted, and when."""

    machine: Machine
    at: float


class _Reading(NamedTuple):
    """The last listing, and why there is no younger one."""

    number: int = 0
    token: str = ""
    listing: Listing | None = None
    failure: Failure | None = None


class _Refused(NamedTuple):
    """Why servers couldn't be created, and how many calls it took to find out."""

    by_server: Mapping[int, Failure] = MappingProxyType({})
    calls: int = 0


class Servers:
    """The servers of one cluster in one project."""

    def __init__(self, calls: Calls, *, cluster: str, now: Callable[[], Instant]) -> None:
        self._calls = calls
        self._cluster = cluster
        self._now = now
        self._one_at_a_time = asyncio.Lock()
        self._last = _Reading()
        self._known: frozenset[str] = frozenset()
        """Names in the last complete listing."""
        self._token = ""
        """The token with which that listing was read."""
        self._confirmed: dict[str, _Confirmed] = {}
        self._deleted: dict[str, float] = {}
        self._setbacks: dict[int, Failure] = {}
        """Why the next step of an unfinished server was refused."""
        self.unfinished: tuple[HetznerServer, ...] = ()
        """Servers of the last listing that need another step from growth."""

    async def listing(self, *, younger_than: float) -> Listing:
        """A listing that began at this monotonic second or later."""
        arrived = self._last.number
        async with self._one_at_a_time:
            # A listing that was read while this caller waited is shared, and so is its failure.
            is_shared = self._last.number > arrived
            if is_shared and self._last.failure is not None:
                raise CallFailed(self._last.failure)
            known = self._last.listing
            if known is None or not self._serves(known, younger_than, is_shared=is_shared):
                known = await self._read_on()
            return self._with_what_lags(known)

    def set_back(self, server: int, failure: Failure) -> None:
        """Record that a server can't be finished; it counts as failed from now on."""
        self._setbacks[server] = failure

    @property
    def is_of_this_token(self) -> bool:
        """Whether the last complete listing was read with the current token."""
        return self._token == self._calls.token

    def known(self, name: str) -> Machine | None:
        """A machine as last seen, without a call; None if the token has changed since."""
        if not self.is_of_this_token:
            return None
        listing = self._last.listing
        seen = listing.machines.get(name) if listing is not None else None
        confirmed = self._confirmed.get(name)
        return seen or (confirmed.machine if confirmed is not None else None)

    def _serves(self, known: Listing, younger_than: float, *, is_shared: bool) -> bool:
        is_of_this_token = self._last.token == self._calls.token
        # An incomplete listing serves only the callers that waited for it; others read again.
        is_whole = known.is_complete or is_shared
        return is_whole and is_of_this_token and known.at.monotonic >= younger_than

    def accepted(self, machine: Machine) -> None:
        """Remember a machine until listings show it."""
        self._confirmed[machine.name] = _Confirmed(machine, self._now().monotonic)

    def deleted(self, machine: Machine) -> None:
        """Record that Hetzner has accepted the delete of a machine."""
        self._confirmed.pop(machine.name, None)
        self._deleted[machine.machine_id] = self._now().monotonic

    async def _read_on(self) -> Listing:
        number, token = self._last.number + 1, self._calls.token
        try:
            listing = await self._read(token)
        except CallFailed as failed:
            self._last = self._last._replace(number=number, failure=failed.failure)
            raise
        self._last = _Reading(number, token, listing=listing)
        return listing

    async def _read(self, token: str) -> Listing:
        at = self._now()
        servers = await self._calls.pages(
            "/servers",
            key="servers",
            kind=HetznerServer,
            label_selector=selector(self._cluster),
            # New servers then come last, and move none from one page to another while the pages are
            # read.
            sort="id",
        )
        refused = await self._failed(servers.entries)
        failed = {**refused.by_server, **self._setbacks}
        calls = servers.calls + refused.calls
        # Only for servers that still exist, or the setbacks would grow without end.
        self._setbacks = {each.id: failed[each.id] for each in servers.entries if each.id in failed}
        self.unfinished = tuple(each for each in servers.entries if is_unfinished(each))
        machines = {each.name: machine_of_server(each, failed) for each in servers.entries}
        if not servers.is_complete or self._calls.token != token:
            reason = "servers or the token changed while the pages were read"
            return Listing(at=at, is_complete=False, reason=reason, machines=machines, calls=calls)
        if self._is_another_project(token, machines):
            reason = "the token was replaced, and its project has none of the known servers"
            return Listing(at=at, is_complete=False, reason=reason, machines=machines, calls=calls)
        self._token, self._known = token, frozenset(machines)
        return Listing(at=at, is_complete=True, machines=machines, calls=calls)

    def _is_another_project(self, token: str, machines: Mapping[str, Machine]) -> bool:
        """Whether a new token is for another project.

        If all known servers disappear at the moment when the token is replaced, it is.
        """
        is_replaced = self._token not in {"", token}
        known = self._known | self._confirmed.keys()
        return is_replaced and bool(known) and not known & machines.keys()

    async def _failed(self, servers: Iterable[HetznerServer]) -> _Refused:
        """Why servers couldn't be created. Calls the API only if some server isn't running yet."""
        making = [each for each in servers if each.status not in {"running", "deleting"}]
        if not making:
            return _Refused()
        oldest = min(each.created for each in making)
        actions: list[Action] = []
        calls = 0
        page: int | None = 1
        # Newest first: actions from before the oldest unfinished server can't be about any of them.
        while page is not None:
            calls += 1
            found = await self._calls.page(
                "/servers/actions",
                key="actions",
                kind=Action,
                page=page,
                sort="id:desc",
                status="error",
            )
            actions += found.entries
            is_older = bool(found.entries) and found.entries[-1].started < oldest
            page = None if is_older else found.next_page
        by_server = failures_by_server(actions, making, secrets=(self._calls.token,))
        return _Refused(by_server, calls)

    def _with_what_lags(self, listing: Listing) -> Listing:
        now = self._now().monotonic
        self._confirmed = {
            name: each
            for name, each in self._confirmed.items()
            if name not in listing.machines and now - each.at < SHOWS_AFTER
        }
        self._deleted = {
            number: at for number, at in self._deleted.items() if now - at < DELETED_AFTER
        }
        shown = {name: self._ended(each) for name, each in listing.machines.items()}
        unseen = {name: each.machine for name, each in self._confirmed.items()}
        # What the listing shows wins over what growth remembers.
        return msgspec.structs.replace(listing, machines={**unseen, **shown})

    def _ended(self, machine: Machine) -> Machine:
        if machine.machine_id not in self._deleted:
            return machine
        return msgspec.structs.replace(machine, state=MachineState.DELETING, reason="")
