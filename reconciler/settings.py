"""The settings of the reconciler, in addition to those of every process."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from growth.api.bounds import LabelValue  # noqa: TC001 - pydantic reads it at run time
from growth.api.deletion_cost import PodDeletionCost
from growth.api.joining import JoinApproval
from growth.api.nodepool import PoolMode
from growth.api.written import Duration, Money, between
from growth.kube import election
from growth.service.address import Address, is_loopback
from growth.service.pod import namespace_of_this_pod
from growth.service.settings import Listed, MetricsAddress, ServiceSettings
from growth.service.tls import TlsFolder  # noqa: TC001 - pydantic reads it at run time
from reconciler.core.caps import Caps
from reconciler.core.timing import Timing
from reconciler.seeing.demand_place import server_url

USUAL: Final = Timing()
ENDPOINT = "https://api.hetzner.cloud/v1"


def api_url(text: str) -> str:
    """A URL to which tokens may be sent: https, or http on loopback."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("must be an address like https://api.hetzner.cloud/v1")
    if parts.username or parts.password:
        raise ValueError("must not hold a password")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("must be https, or http on loopback")
    return text.rstrip("/")


class CertificateKeeper(StrEnum):
    """What manages the certificates of growth's own processes."""

    MANAGED = "managed"
    EXTERNAL = "external"


class ReconcilerSettings(ServiceSettings):
    """The settings of the reconciler."""

    metrics_address: MetricsAddress = Address(host="", port=10283)

    lease_namespace: Annotated[str, Listed("Cluster", "NAMESPACE")] = ""
    """Namespace of the leader's Lease. Default: the pod's namespace in a cluster, otherwise
    kube-system."""

    demand_url: Annotated[str | None, AfterValidator(server_url), Listed("Demand", "URL")] = None
    """URL of the extender's demand stream, such as https://growth-extender:10285; http on loopback
    only. Default: demand comes only from the API server, without what only the scheduler knows."""

    demand_tls_folder: TlsFolder = None
    """Folder with tls.crt and tls.key, the client certificate for the extender, and ca.crt, the CA
    of the extender's certificate. Required for https."""

    certificates: Annotated[CertificateKeeper, Listed("Cluster", "WHO")] = CertificateKeeper.MANAGED
    """What manages the certificates of webhooks and extender: managed (the leader, in Secrets in
    the Lease's namespace) or external (another program; the reconciler ignores these Secrets)."""

    join_approval: Annotated[JoinApproval, Listed("Cluster", "WHO")] = JoinApproval.CLUSTER
    """What approves the certificates of machines that join with kubeadm: Cluster (kubeadm's own
    bindings, under any name) or Growth (growth-certs, which must run with the same setting, only
    for the machine that a token was made for)."""

    cluster_id: Annotated[LabelValue, Listed("Cluster", "ID")] = ""
    """Label value for the servers of this cluster, so that several clusters can share a project.
    Default: the UID of the namespace kube-system. Servers with another ID are never touched."""

    hetzner_endpoint: Annotated[str, AfterValidator(api_url), Listed("Clouds", "URL")] = ENDPOINT
    """URL of Hetzner's API, for use with a proxy; http on loopback only, because the token is sent
    there."""

    stable_interval: Annotated[Duration, between("0s", "1h"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.stable_interval)
    )
    """How long all caches must have been complete before growth does anything, and trusted before
    it removes anything."""

    bind_wait: Annotated[Duration, between("0s", "1h"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.bind_wait)
    )
    """How long a node that serves is kept for the pods it was bought for."""

    together: Annotated[Duration, between("0s", "5m"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.together)
    )
    """Maximum time that a Ready machine waits for the others of its plan, so that each pod finds
    the machine that was bought for it, if the extender ranks nodes. It waits at most three times as
    long as it took to boot, plus up to 5 seconds for the control plane to remove its own taints.
    0s: pods take the first machine, and growth may buy more."""

    orphan_age: Annotated[Duration, between("0s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.orphan_age)
    )
    """How long a machine without a request and a node is kept before it is deleted."""

    quiet: Annotated[Duration, between("1s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.quiet)
    )
    """How long a node's pods must be unchanged before it may be replaced with cheaper machines."""

    repair_after: Annotated[Duration, between("1s", "24h"), Listed("Caution", "DURATION")] = (
        Duration.of_seconds(USUAL.repair_after)
    )
    """How long a node may be NotReady before it is replaced."""

    mode: Annotated[PoolMode, Listed("Caution", "MODE")] = PoolMode.ACT
    """Act: do what each pool's spec.mode says. Observe: buy nothing and give nothing back in any
    pool, and only report what growth would do."""

    pod_deletion_cost: Annotated[PodDeletionCost, Listed("Caution", "HOW")] = (
        PodDeletionCost.UNTOUCHED
    )
    """ByNode: write the annotation controller.kubernetes.io/pod-deletion-cost to pods of
    ReplicaSets on nodes that growth bought, unless they have it, so that scaling a workload down
    empties one node after another. It needs the right to patch pods. Untouched: write nothing."""

    max_nodes: Annotated[int | None, Field(ge=0), Listed("Caution", "NUMBER")] = None
    """Maximum number of nodes of all pools together. Default: only the pools' limits apply."""

    max_nodes_per_hour: Annotated[int | None, Field(ge=0), Listed("Caution", "NUMBER")] = None
    """Maximum number of nodes bought within an hour for all pools together. Default: only the
    pools' limits apply."""

    max_hourly_cost: Annotated[Money | None, Listed("Caution", "AMOUNT")] = None
    """Maximum cost of all nodes per hour, for each currency separately. Default: only the pools'
    limits apply."""

    lease_duration: Annotated[Duration, between("3s", "5m"), Listed("Caution", "DURATION")] = (
        Duration.parse("15s")
    )
    """How long the others wait for a silent leader, in whole seconds. The leader gives up after two
    thirds of this time, and renews the Lease every eighth of it."""

    @property
    def namespace(self) -> str:
        """Namespace of the leader's Lease."""
        return self.lease_namespace or namespace_of_this_pod() or "kube-system"

    @property
    def timing(self) -> Timing:
        """The waits of the rules."""
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
        """The limits of all pools together."""
        return Caps(
            nodes=self.max_nodes,
            nodes_per_hour=self.max_nodes_per_hour,
            hourly_cost=self.max_hourly_cost,
        )

    @property
    def election(self) -> election.Settings:
        """The settings of the election, in the proportions of its defaults."""
        seconds = int(self.lease_duration.seconds)
        return election.Settings(
            lease_duration=seconds, renew_deadline=seconds * 2 / 3, retry=seconds / 7.5
        )
