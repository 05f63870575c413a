"""Reads and writes our Secrets and webhook configurations in the API server.

Secrets are read by name, so no role needs to list them. The time is the API server's, so writers on
different machines use the same clock, and a machine with a wrong clock does no harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from certs.patches import operations, secret_change
from certs.reading import ASKED, read_authority, read_configuration, read_leaf
from certs.state import KeptAuthority
from certs.steps import Inject
from growth.api.written import write_time
from growth.errors import Misconfigured
from growth.kube.errors import Denied, NotFound
from growth.kube.reads import Reads
from growth.kube.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from certs.reading import Object
    from certs.state import Configuration, LeafSecret, State
    from certs.steps import Write
    from certs.wanted import Policy, WantedAuthority
    from growth.kube.transport import Connection
    from growth.kube.writes import Decided

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SECRETS: Final = "/api/v1/secrets"


class CertificatesFound(NamedTuple):
    """The state of all certificates, and the time of the API server."""

    state: State
    now: datetime


class Objects:
    """The objects of the certificates in one namespace."""

    def __init__(
        self,
        connection: Connection,
        *,
        namespace: str,
        wanted: Sequence[WantedAuthority],
        policy: Policy,
    ) -> None:
        self._connection = connection
        self._reads = Reads(connection)
        self._namespace = namespace
        self._wanted = wanted
        self.policy = policy
        self._secrets = Writes(connection, path=SECRETS)
        self._configurations = Writes(connection, path=CONFIGURATIONS)

    async def read(self) -> CertificatesFound:
        """Read everything."""
        now = (await self._connection.request("GET", "/version")).date
        return CertificatesFound(tuple([await self._kept(wanted) for wanted in self._wanted]), now)

    async def carry_out(self, write: Write, *, now: datetime) -> None:
        """Carry out a write; raises `DecideAgain` if the object has changed since it was read."""
        if isinstance(write, Inject):
            await self._configurations.json_patch(write.configuration.decided, operations(write))
            return
        change = secret_change(write, policy=self.policy, now=now)
        if change.decided is None:
            await self._create(change.new(self._namespace))
        else:
            await self._secrets.merge(change.decided, change.patch())

    async def _create(self, secret: Object) -> None:
        try:
            await self._secrets.create(secret)
        except NotFound:
            namespace = self._namespace
            raise Misconfigured(
                f"namespace {namespace} doesn't exist; run: kubectl create namespace {namespace},"
                " or use the namespace that growth runs in"
            ) from None

    async def ask_for_rotation(self, decided: Decided, *, now: datetime) -> None:
        """Note in a Secret that a person requests a rotation."""
        note = {"metadata": {"annotations": {ASKED: write_time(now)}}}
        await self._secrets.merge(decided, note)

    async def _kept(self, wanted: WantedAuthority) -> KeptAuthority:
        authority = read_authority(await self._secret(wanted.name), wanted)
        leaves = [
            read_leaf(await self._secret(leaf.name), leaf, namespace=self._namespace)
            for leaf in wanted.leaves
        ]
        configurations, unknown = await self._trusting(leaves)
        return KeptAuthority(
            authority=authority,
            leaves=tuple(leaves),
            configurations=configurations,
            unknown=unknown,
        )

    async def _trusting(
        self, leaves: Sequence[LeafSecret]
    ) -> tuple[tuple[Configuration, ...], tuple[str, ...]]:
        """The configurations of our leaves, and the names of those that can't be read."""
        found: list[Configuration] = []
        unknown: list[str] = []
        names = [leaf.wanted.configuration for leaf in leaves if leaf.ours]
        for name in filter(None, names):
            try:
                configuration = await self._reads.found(f"{CONFIGURATIONS}/{name}")
            except Denied:
                unknown.append(name)
            else:
                found += [] if configuration is None else [read_configuration(configuration)]
        return tuple(found), tuple(unknown)

    async def _secret(self, name: str) -> Object | None:
        return await self._reads.found(f"/api/v1/namespaces/{self._namespace}/secrets/{name}")
