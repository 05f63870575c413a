"""A cluster that buys at the fake: its clock is the project's, its Secrets are a dictionary."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry

from growth.errors import Misconfigured
from growth.instant import Instant
from reconciler.providers.hetzner.metrics import HetznerMetrics
from reconciler.providers.hetzner.provider import HetznerCloud
from reconciler.providers.port import Accepted
from tests.hetzner.build import CLUSTER, INSTALLATION, JOIN_TOKEN, node_class, order
from tests.hetzner.fake.records import START

if TYPE_CHECKING:
    from growth.api.hetznernodeclass import HetznerNodeClass
    from growth.api.meta import KeyReference
    from reconciler.providers.hetzner.provider import HetznerProvider
    from reconciler.providers.port import CreateAnswer, DeleteAnswer, Machine, Order
    from tests.hetzner.fake.project import Project


class Secrets:
    """What the cluster keeps, by the name of the Secret."""

    def __init__(self, **values: str) -> None:
        self.values = values

    async def read(self, reference: KeyReference) -> str:
        if reference.name not in self.values:
            raise Misconfigured(f"Secret {reference.name} isn't there")
        return self.values[reference.name]

    async def join_token(self, order: Order, node_class: HetznerNodeClass) -> str:
        return JOIN_TOKEN

    async def withdraw_join_tokens(self) -> None:
        pass


class Story:
    """One cluster with one node class."""

    def __init__(self, project: Project, *, endpoint: str, token: str) -> None:
        self.project = project
        self.endpoint = endpoint
        self.secrets = Secrets(hetzner=token)
        self.node_class: HetznerNodeClass | None = node_class()
        self.clouds: list[HetznerCloud] = []
        self.cloud = self.start()

    def start(self, *, cluster: str = CLUSTER) -> HetznerCloud:
        """A process of growth, which remembers nothing."""
        self.registry = CollectorRegistry()
        cloud = HetznerCloud(
            cluster=cluster,
            secrets=self.secrets,
            now=self.now,
            metrics=HetznerMetrics(self.registry),
            endpoint=self.endpoint,
            installation=lambda: INSTALLATION,
        )
        self.clouds.append(cloud)
        return cloud

    def restart(self) -> None:
        """The process ends and starts again."""
        self.cloud = self.start()

    def now(self) -> Instant:
        return Instant(monotonic=self.project.now, wall=START + timedelta(seconds=self.project.now))

    def uses(self, **spec: Any) -> None:
        """Change the node class."""
        self.node_class = node_class(**spec)

    @property
    def provider(self) -> HetznerProvider:
        return self.cloud.provider(lambda: self.node_class)

    async def create(self, name: str = "default-1", **more: Any) -> CreateAnswer:
        return await self.provider.create(order(name, **more))

    async def bought(self, name: str = "default-1", **more: Any) -> Machine:
        """A machine that was accepted, as it is listed then."""
        answer = await self.create(name, **more)
        assert isinstance(answer, Accepted), answer
        return (await self.machines())[name]

    async def machines(self) -> dict[str, Machine]:
        listing = await self.provider.list()
        assert listing.is_complete, listing.reason
        return dict(listing.machines)

    async def delete(self, machine: Machine) -> DeleteAnswer:
        return await self.provider.delete(machine)

    @property
    def names(self) -> list[str]:
        """The servers that there really are."""
        return sorted(server.name for server in self.project.servers.values())
