"""What all node classes with one token share: its calls, its listing, its groups, its catalogue.

A project is found by the Secret that holds its token, so a token that is replaced there keeps
everything that is known. The token is read before each call that matters and takes effect at once.
"""

from __future__ import annotations

import contextlib
import re
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog

from growth.errors import Misconfigured
from reconciler.providers.hetzner import inventory
from reconciler.providers.hetzner.calls import ENDPOINT, CallFailed, Calls, decoded_answer
from reconciler.providers.hetzner.catalogue import Catalogue
from reconciler.providers.hetzner.last_good import LastGood
from reconciler.providers.hetzner.listing import Servers
from reconciler.providers.hetzner.metrics import ProjectMetrics
from reconciler.providers.hetzner.placement import Groups
from reconciler.providers.hetzner.plausibility import Weighed, weighed
from reconciler.providers.hetzner.wire import HetznerLocation, Pricing, ServerType

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from growth.api.hetznernodeclass import HetznerNodeClass
    from growth.api.meta import KeyReference
    from growth.instant import Instant
    from reconciler.providers.hetzner.inventory import Inventory
    from reconciler.providers.hetzner.metrics import HetznerMetrics
    from reconciler.providers.port import Order

    class Secrets(Protocol):
        """Where secrets come from; Misconfigured says what is missing."""

        async def read(self, reference: KeyReference) -> str:
            """What a Secret holds now."""

        async def join_token(self, order: Order, node_class: HetznerNodeClass) -> str:
            """The token that a server of this order joins with, minted if there is none yet."""

        async def withdraw_join_tokens(self) -> None:
            """End the minted tokens that nobody needs any more."""


_log = structlog.get_logger(__name__)

TOKEN: Final = re.compile(r"[!-~]+")
"""What may stand in a header; anything else would fail in the middle of a call."""
CATALOGUE_FOR = 600.0
"""Seconds that prices and types are relied on."""
INVENTORY_FOR = 600.0
UNRESOLVED_FOR = 30.0
"""The same where something was missing."""
REMEMBERED_FOR = 3600.0
"""Seconds after which a try that nobody asked about again is forgotten."""
TIDY_EVERY = 600.0
"""Seconds between looks for empty placement groups."""


class Recent:
    """Names, and when something happened to them last; after a while they are forgotten."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._at: dict[str, float] = {}

    def add(self, name: str) -> None:
        """It happens now."""
        now = self._now().monotonic
        self._at = {each: at for each, at in self._at.items() if now - at < REMEMBERED_FOR}
        self._at[name] = now

    def at(self, name: str) -> float | None:
        """When it happened, if it did."""
        return self._at.get(name)


class HetznerProject:
    """One Hetzner Cloud project, as one cluster uses it."""

    def __init__(
        self,
        *,
        reference: KeyReference,
        secrets: Secrets,
        cluster: str,
        now: Callable[[], Instant],
        metrics: HetznerMetrics,
        endpoint: str = ENDPOINT,
        replaced: Callable[[], None] = lambda: None,
    ) -> None:
        self._replaced = replaced
        """Called when another token is used from now on."""
        project_metrics = ProjectMetrics(metrics, reference)
        self.calls = Calls(now=now, metrics=project_metrics, endpoint=endpoint)
        self.servers = Servers(self.calls, cluster=cluster, now=now)
        self.groups = Groups(self.calls, cluster=cluster, now=now)
        self._reference = reference
        self._secrets = secrets
        self._now = now
        self._weighed = LastGood(self._read_catalogue, now=now, lasts=CATALOGUE_FOR)
        self._inventories: dict[str, LastGood[Inventory]] = {}
        """By the spec that they were read for."""
        self.tries = Recent(now)
        """Creates that ended without anybody knowing what became of them, by the server's name."""
        self._looked_again = Recent(now)
        self._tidied_at = now().monotonic

    async def refresh_token(self) -> None:
        """Use the token that the Secret holds now."""
        token = (await self._secrets.read(self._reference)).strip()
        if token and token == self.calls.token:
            return
        secret = f"{self._reference.namespace}/{self._reference.name}"
        if not TOKEN.fullmatch(token):
            raise Misconfigured(
                f"Secret {secret}: what is under {self._reference.key} is no API token: write it "
                "anew, as Hetzner showed it"
            )
        is_another = bool(self.calls.token)
        self.calls.use(token)
        if is_another:
            _log.info("the token of a Hetzner project was replaced", kept_in=secret)
            # It may be that of another project, where everything has other ids.
            self.forget_inventory()
            self._weighed.expire_within(0)
            self.groups.forget()
            self._replaced()

    async def tidy_now_and_then(self) -> None:
        """Remove what nobody uses any more; what fails is tried again the next time."""
        now = self._now().monotonic
        if now - self._tidied_at >= TIDY_EVERY:
            self._tidied_at = now
            with contextlib.suppress(CallFailed):
                await self.groups.tidy()

    async def catalogue(self) -> Catalogue:
        """Types, prices and places; the last good ones while Hetzner can't be asked."""
        return (await self._weighed.value()).catalogue

    @property
    def doubts(self) -> tuple[str, ...]:
        """Prices of the last reading that aren't believed; the last good ones hold."""
        return self._weighed.last.doubts if self._weighed.last is not None else ()

    async def inventory(self, node_class: HetznerNodeClass) -> Inventory:
        """What a class may name, read again after a while or when the class changes."""
        key = node_class.spec.model_dump_json()
        if key not in self._inventories:
            self._forget_unused_inventories()
            self._inventories[key] = LastGood(
                partial(inventory.read_inventory, self.calls, node_class.spec),
                now=self._now,
                lasts=INVENTORY_FOR,
            )
        return await self._inventories[key].value()

    def read_soon_again(self, node_class: HetznerNodeClass) -> None:
        """A class names what isn't there: somebody may be making it just now."""
        if (known := self._inventories.get(node_class.spec.model_dump_json())) is not None:
            known.expire_within(UNRESOLVED_FOR)

    def forget_inventory(self) -> None:
        """What classes name has changed since it was read."""
        self._inventories.clear()

    def may_look_again(self, name: str) -> bool:
        """Something that a server was to have is gone: its ids are read again, once for each."""
        self.forget_inventory()
        self.groups.forget()
        is_first = self._looked_again.at(name) is None
        self._looked_again.add(name)
        return is_first

    def _forget_unused_inventories(self) -> None:
        now = self._now().monotonic
        self._inventories = {
            key: known
            for key, known in self._inventories.items()
            if now - known.asked_at < REMEMBERED_FOR
        }

    async def _read_catalogue(self) -> Weighed:
        types = await self.calls.pages("/server_types", key="server_types", kind=ServerType)
        places = await self.calls.pages("/locations", key="locations", kind=HetznerLocation)
        answer = await self.calls.get("/pricing")
        read = Catalogue(
            types=types.entries,
            locations=places.entries,
            pricing=decoded_answer(answer.get("pricing"), Pricing),
        )
        before = self._weighed.last
        return weighed(read, before=before.catalogue if before is not None else None)
