"""What the reconciler can be told, beyond what every process can."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from growth.api.bounds import LabelValue  # noqa: TC001 - pydantic reads it at run time
from growth.api.written import Duration, Money, between
from growth.kube import election
from growth.service.address import Address, is_loopback
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from growth.service.tls import TlsFolder  # noqa: TC001 - pydantic reads it at run time
from reconciler.core.caps import Caps
from reconciler.core.timing import Timing
from reconciler.seeing.demand_place import server_url

ENDPOINT = "https://api.hetzner.cloud/v1"


def api_url(text: str) -> str:
    """An address that calls can be made under, and no token is told to another machine in plain."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("must be an address like https://api.hetzner.cloud/v1")
    if parts.username or parts.password:
        raise ValueError("must not hold a password")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must be https, or http on loopback")
    return text.rstrip("/")


class CertificateKeeper(StrEnum):
    """Who keeps the certificates of growth's own processes."""

    MANAGED = "managed"
    EXTERNAL = "external"


class ReconcilerSettings(ServiceSettings):
    """What the reconciler process can be told."""

    metrics_address: MetricsAddress = Address(host="", port=10283)

    lease_namespace: Annotated[str, Listed("Cluster", "NAMESPACE")] = ""
    """Where the Lease of the leader is. Not set: the namespace of the pod in a cluster, elsewhere
    kube-system."""

    demand_url: Annotated[str | None, AfterValidator(server_url), Listed("Demand", "URL")] = None
    """Where the extender streams the demand, as https://growth-extender:10285; http on loopback
    only. Not set: only what the API server tells counts, and what the scheduler alone knows is
    missing."""

    demand_tls_folder: TlsFolder = None
    """tls.crt and tls.key to show to the extender, and ca.crt: who has to have signed its
    certificate. Needed for https."""

    certificates: Annotated[CertificateKeeper, Listed("Cluster", "WHO")] = CertificateKeeper.MANAGED
    """Who keeps the certificates of webhooks and extender: managed (the reconciler's leader, in
    Secrets of the Lease's namespace) or external (another program; these Secrets aren't looked
    at)."""

    cluster_id: Annotated[LabelValue, Listed("Cluster", "ID")] = ""
    """What servers of this cluster are labelled with, so that several clusters can share a project.
    Not set: the uid of the namespace kube-system. Servers with another id are never touched."""

    hetzner_endpoint: Annotated[str, AfterValidator(api_url), Listed("Clouds", "URL")] = ENDPOINT
    """Where Hetzner's API is, for who reaches it by way of a proxy; http on loopback only, as the
    token goes there."""

    stable_interval: Annotated[Duration, between("0s", "1h"), Listed("Caution", "DURATION")] = (
        Duration.parse("10s")
    )
    """All caches must have been whole for so long before anything is done, and trusted for so long
    before anything is removed."""

    bind_wait: Annotated[Duration, between("0s", "1h"), Listed("Caution", "DURATION")] = (
        Duration.parse("15s")
    )
    """How long a node that serves is kept for the pods that it was bought for."""

    together: Annotated[Duration, between("0s", "5m"), Listed("Caution", "DURATION")] = (
        Duration.parse("15s")
    )
    """The longest that a machine that is Ready waits for the others of its plan, so that each pod
    finds the machine that was bought for it, where the extender ranks nodes; never for more than
    three times as long as it took itself. When all are Ready, up to 5 seconds more are for the
    control plane to take its own taints off. 0s: pods take what comes first, and more may be
    bought."""

    orphan_age: Annotated[Duration, between("0s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.parse("10m")
    )
    """How long a machine that is paid for and that no request and no node knows is kept before it
    is deleted."""

    quiet: Annotated[Duration, between("1s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.parse("15s")
    )
    """How long a node's pods must have been the same before cheaper machines may take its place."""

    repair_after: Annotated[Duration, between("1s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.parse("10m")
    )
    """How long a node must not have been Ready until another one takes its place."""

    max_nodes: Annotated[int | None, Field(ge=0), Listed("Caution", "NUMBER")] = None
    """The most nodes of all pools together, whatever the pools allow. Not set: as many as they
    do."""

    max_nodes_per_hour: Annotated[int | None, Field(ge=0), Listed("Caution", "NUMBER")] = None
    """The most nodes that are bought within an hour for all pools together. Not set: as many as
    the pools allow."""

    max_hourly_cost: Annotated[Money | None, Listed("Caution", "AMOUNT")] = None
    """The most that all nodes together may cost an hour, in each currency by itself. Not set: as
    much as the pools allow."""

    lease_duration: Annotated[Duration, between("3s", "5m"), Listed("Caution", "DURATION")] = (
        Duration.parse("15s")
    )
    """How long the others wait for a leader that is silent; in whole seconds. It gives up itself
    after two thirds of it, and renews it every eighth."""

    @property
    def namespace(self) -> str:
        """Where the Lease of the leader is."""
        return self.lease_namespace or namespace_of_this_pod() or "kube-system"

    @property
    def timing(self) -> Timing:
        """How long growth waits for things."""
        return Timing(
            stable_interval=self.stable_interval.seconds,
            bind_wait=self.bind_wait.seconds,
            together=self.together.seconds,
            orphan_age=self.orphan_age.seconds,
            repair_after=self.repair_after.seconds,
            quiet=self.quiet.seconds,
        )

    @property
    def caps(self) -> Caps:
        """The most of everything."""
        return Caps(
            nodes=self.max_nodes,
            nodes_per_hour=self.max_nodes_per_hour,
            hourly_cost=self.max_hourly_cost,
        )

    @property
    def election(self) -> election.Settings:
        """The election's own figures, in the proportions of its defaults."""
        seconds = int(self.lease_duration.seconds)
        return election.Settings(
            lease_duration=seconds, renew_deadline=seconds * 2 / 3, retry=seconds / 7.5
        )
