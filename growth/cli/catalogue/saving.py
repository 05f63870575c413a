"""Hetzner's current prices, read from its API with the provider's own client.

The token comes from the environment, or from the Secret that a node class in the cluster names. It
is sent only to Hetzner; no error and no file contains any part of it.
"""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec
from prometheus_client import CollectorRegistry

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.meta import KeyReference
from growth.cli.cluster.connecting import connected
from growth.clocks import wall_clock
from growth.errors import GiveUp, Misconfigured, RetryLater
from growth.instant import Instant
from growth.kube.errors import NotFound
from reconciler.providers.hetzner.calls import CallFailed
from reconciler.providers.hetzner.cluster_secrets import ClusterSecrets
from reconciler.providers.hetzner.listed import price_list
from reconciler.providers.hetzner.metrics import HetznerMetrics
from reconciler.providers.hetzner.price_list import PriceList
from reconciler.providers.hetzner.project import TOKEN, HetznerProject
from reconciler.providers.port import ProviderTrouble
from reconciler.settings import ENDPOINT, api_url

if TYPE_CHECKING:
    import argparse

    from growth.kube.transport import Connection
    from reconciler.providers.hetzner.project import Secrets
    from reconciler.providers.port import Order

VARIABLE: Final = "HCLOUD_TOKEN"
ENDPOINT_VARIABLE: Final = "GROWTH_HETZNER_ENDPOINT"
IN_THE_ENVIRONMENT: Final = KeyReference(namespace="environment", name="variable", key=VARIABLE)


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The price list, and the prices that were left out as implausible."""

    prices: PriceList
    doubts: tuple[str, ...]


class _Environment:
    """Has the token as its only secret, from the environment of this process."""

    async def read(self, reference: KeyReference) -> str:
        token = os.environ.get(reference.key, "").strip()
        if not token:
            raise Misconfigured(
                f"no API token: set {reference.key}, or use a HetznerNodeClass of the cluster "
                f"with --node-class"
            )
        if not TOKEN.fullmatch(token):
            raise Misconfigured(
                f"{reference.key} isn't a valid API token: copy it as Hetzner shows it"
            )
        return token

    async def join_token(self, order: Order, node_class: HetznerNodeClass) -> str:
        raise NotImplementedError(f"no machine joins here: {order.name}, {node_class.name}")

    async def withdraw_join_tokens(self) -> None:
        """Do nothing: there are none."""


async def saved(arguments: argparse.Namespace) -> Saved:
    """Read the current prices."""
    endpoint = _endpoint()
    if arguments.node_class is None:
        return await _read(IN_THE_ENVIRONMENT, _Environment(), endpoint)
    async with connected(arguments) as connection:
        node_class = await _node_class(connection, arguments.node_class)
        secrets = ClusterSecrets(connection, now=_now, token_life=lambda _: timedelta(0))
        return await _read(node_class.spec.token_secret_ref, secrets, endpoint)


async def _read(reference: KeyReference, secrets: Secrets, endpoint: str) -> Saved:
    project = HetznerProject(
        reference=reference,
        secrets=secrets,
        cluster="",
        now=_now,
        metrics=HetznerMetrics(CollectorRegistry()),
        endpoint=endpoint,
    )
    try:
        await project.refresh_token()
        catalogue = await project.catalogue()
    except CallFailed as failed:
        if failed.failure.trouble is ProviderTrouble.FATAL:
            raise Misconfigured(f"{endpoint}: {failed}; check the token") from None
        raise RetryLater(f"{endpoint}: {failed}", after=failed.after) from None
    finally:
        await project.calls.close()
    return Saved(prices=price_list(catalogue, day=_now().wall.date()), doubts=project.doubts)


async def _node_class(connection: Connection, name: str) -> HetznerNodeClass:
    try:
        answer = await connection.request("GET", f"{HetznerNodeClass.collection()}/{name}")
    except NotFound:
        raise GiveUp(f'no HetznerNodeClass "{name}" in this cluster') from None
    return HetznerNodeClass.model_validate_json(answer.body)


def _endpoint() -> str:
    try:
        return api_url(os.environ.get(ENDPOINT_VARIABLE) or ENDPOINT)
    except ValueError as mistake:
        raise Misconfigured(f"{ENDPOINT_VARIABLE} {mistake}") from None


def _now() -> Instant:
    return Instant(monotonic=time.monotonic(), wall=wall_clock())
