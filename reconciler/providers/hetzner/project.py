"""What all node classes with one token share: calls, listing, placement groups and catalogue.

A project is identified by the Secret with its token, so replacing the token there keeps what growth
knows about the project. The token is read before each operation, so a new one takes effect at once.
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
        """The source of secrets. Raises Misconfigured if one is missing."""

        async def read(self, reference: KeyReference) -> str:
            """The current value of a key of a Secret."""

        async def join_token(self, order: Order, node_class: HetznerNodeClass) -> str:
            """The token with which a server of this order joins; created if there is none yet."""

        async def withdraw_join_tokens(self) -> None:
            """Delete the join tokens that are no longer needed."""


_log = structlog.get_logger(__name__)

TOKEN: Final = re.compile(r"[!-~]+")
"""Characters that a header may contain. With others, every call would fail with an odd error."""
CATALOGUE_FOR = 600.0
"""Seconds for which prices and types are cached."""
INVENTORY_FOR = 600.0
"""Seconds for which an inventory is cached."""
UNRESOLVED_FOR = 30.0
"""The same, if something in it was missing."""
REMEMBERED_FOR = 3600.0
"""Seconds after which tries and unused inventories are forgotten."""
TIDY_EVERY = 600.0
"""Seconds between looks for empty placement groups."""


class Recent:
    """When something last happened to a name; old entries are forgotten."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._at: dict[str, float] = {}

    def add(self, name: str) -> None:
        """Record that it happens now."""
        now = self._now().monotonic
        self._at = {each: at for each, at in self._at.items() if now - at < REMEMBERED_FOR}
        self._at[name] = now

    def at(self, name: str) -> float | None:
        """When it last happened; None if it didn't."""
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
        """Called after the token has been replaced."""
        project_metrics = ProjectMetrics(metrics, reference)
        self.calls = Calls(now=now, metrics=project_metrics, endpoint=endpoint)
        self.servers = Servers(self.calls, cluster=cluster, now=now)
        self.groups = Groups(self.calls, cluster=cluster, now=now)
        self._reference = reference
        self._secrets = secrets
        self._now = now
        self._weighed = LastGood(self._read_catalogue, now=now, lasts=CATALOGUE_FOR)
        self._inventories: dict[str, LastGood[Inventory]] = {}
        """By the spec for which they were read."""
        self.tries = Recent(now)
        """Creates whose result isn't known, by the server's name."""
        self._looked_again = Recent(now)
        self._tidied_at = now().monotonic

    async def refresh_token(self) -> None:
        """Read the token from the Secret and use it."""
        token = (await self._secrets.read(self._reference)).strip()
        if token and token == self.calls.token:
            return
        secret = f"{self._reference.namespace}/{self._reference.name}"
        if not TOKEN.fullmatch(token):
            raise Misconfigured(
                f"Secret {secret}: key {self._reference.key} isn't an API token: write it again, "
                "as Hetzner showed it"
            )
        is_another = bool(self.calls.token)
        self.calls.use(token)
        if is_another:
            _log.info("the token of a Hetzner project was replaced", kept_in=secret)
            # The new token may be for another project, where all ids are different.
            self.forget_inventory()
            self._weighed.expire_within(0)
            self.groups.forget()
            self._replaced()

    async def tidy_now_and_then(self) -> None:
        """Delete empty placement groups from time to time; failures are tried again next time."""
        now = self._now().monotonic
        if now - self._tidied_at >= TIDY_EVERY:
            self._tidied_at = now
            with contextlib.suppress(CallFailed):
                await self.groups.tidy()

    async def catalogue(self) -> Catalogue:
        """Types, prices and locations; the last good ones if Hetzner doesn't answer."""
        return (await self._weighed.value()).catalogue

    @property
    def doubts(self) -> tuple[str, ...]:
        """The latest prices that growth doesn't believe; it uses the last good ones."""
        return self._weighed.last.doubts if self._weighed.last is not None else ()

    async def inventory(self, node_class: HetznerNodeClass) -> Inventory:
        """The objects that a class may name; read again after a while or when the class changes."""
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
        """Read the inventory again soon: a class names something that may just be being created."""
        if (known := self._inventories.get(node_class.spec.model_dump_json())) is not None:
            known.expire_within(UNRESOLVED_FOR)

    def forget_inventory(self) -> None:
        """Read all inventories again, because something in the project has changed."""
        self._inventories.clear()

    def may_look_again(self, name: str) -> bool:
        """Forget all ids, because one of them is gone; whether to retry: once for each server."""
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
