"""A datacentre of the fake API whose servers boot.

A server that the project calls running is switched on: its user data is served to it, and what
happens then is up to cloud-init, the kubelet and kubeadm. A server that is deleted is ended, and
its disk with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import yaml
from aiohttp import web
from typing_extensions import override

from tests.clouds.datacentre import Datacentre
from tests.machines.forwarding import forwarding
from tests.machines.metadata import MetadataService
from tests.machines.places import API_ADDRESS, API_PORT, METADATA_ADDRESS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.hetzner.fake.project import Project
    from tests.hetzner.fake.records import Server
    from tests.machines.keeping import KeptHall

MOST: Final = 250
"""The numbers of servers, which are the last part of their addresses, end before this one."""
USUAL: Final = 0.93
"""Of the memory that is sold, what the kernel finds."""


@dataclass
class Machine:
    """A server that was switched on."""

    id: int
    name: str
    number: int
    user_data: str
    memory: int
    private: dict[int, str] = field(default_factory=dict)
    """Its addresses in private networks, by the ID of the network."""

    @property
    def address(self) -> str:
        """Its public address."""
        return f"172.31.0.{self.number}"


class BootingDatacentre(Datacentre):
    """The hosts of one project; its servers join a cluster whose API server has this port."""

    def __init__(self, project: Project, kubeconfig: Path, *, hall: KeptHall) -> None:
        super().__init__(project, kubeconfig)
        self.hall = hall
        self.is_as_usual()
        self.machines: dict[int, Machine] = {}
        self._api_port = port_in(kubeconfig)
        self._numbers = itertools.cycle(range(3, MOST))

    def is_as_usual(self) -> None:
        """Nothing is wrong with servers that boot from now on."""
        self.plugs_private_network = True
        """Whether a server that is in a network gets its address."""
        self.memory_found = USUAL
        """Of the memory that is sold, what the kernel finds."""
        self.disk_changes: dict[str, str | None] = {}
        """Files that a server has instead of the image's; None: it lacks one."""

    @override
    async def run(self) -> None:
        """Boot what is there, until it is cancelled."""
        async with self._services():
            while True:
                self.project.catch_up()
                await self._end_what_is_gone()
                await self._boot_what_is_new()
                await self._plug()
                await asyncio.sleep(0.05)

    @contextlib.asynccontextmanager
    async def _services(self) -> AsyncIterator[None]:
        listeners = [
            await asyncio.to_thread(self.hall.listen, *place)
            for place in ((METADATA_ADDRESS, 80), (API_ADDRESS, API_PORT))
        ]
        runner = web.AppRunner(MetadataService(self._by_address).application())
        await runner.setup()
        try:
            await web.SockSite(runner, listeners[0]).start()
            async with forwarding(listeners[1], self._api_port):
                yield
        finally:
            await runner.cleanup()

    def _by_address(self) -> dict[str, Machine]:
        return {machine.address: machine for machine in self.machines.values()}

    async def _boot_what_is_new(self) -> None:
        for server in list(self.project.servers.values()):
            runs = server.status(self.project.now) == "running"
            if runs and server.id not in self.machines and self._is_ours(server):
                machine = self._machine_of(server)
                self.machines[server.id] = machine
                await self._ask(
                    "boot",
                    name=machine.name,
                    number=machine.number,
                    serial=str(machine.id),
                    memory=machine.memory,
                    address=machine.address,
                    changes=self.disk_changes,
                )

    def _machine_of(self, server: Server) -> Machine:
        taken = {each.number for each in self.machines.values()}
        # In turn, because the kernel removes the network of an ended server some time later.
        number = next(it for it in self._numbers if it not in taken)
        memory = self.project.types[server.body["server_type"]].memory
        return Machine(
            id=server.id,
            name=server.name,
            number=number,
            user_data=server.body["user_data"],
            memory=int(memory * self.memory_found * 2**30),
        )

    async def _plug(self) -> None:
        """Give servers an address in each network that they are in."""
        if not self.plugs_private_network:
            return
        for server in list(self.project.servers.values()):
            machine = self.machines.get(server.id)
            if machine is not None:
                server.private_address = f"10.0.0.{machine.number}"
                for network, _ in server.attached[len(machine.private) :]:
                    await self._plug_into(network, machine)

    async def _plug_into(self, network: int, machine: Machine) -> None:
        address = f"10.{len(machine.private)}.0.{machine.number}"
        await self._ask("attach", name=machine.name, address=address)
        machine.private[network] = address

    async def _end_what_is_gone(self) -> None:
        for number, machine in list(self.machines.items()):
            server = self.project.servers.get(number)
            if server is None or server.gone_from is not None:
                await self._ask("end", name=machine.name)
                del self.machines[number]

    async def _ask(self, verb: str, **words: object) -> None:
        await asyncio.to_thread(self.hall.ask, verb, **words)


def port_in(kubeconfig: Path) -> int:
    """Where the API server listens on this machine."""
    known = yaml.safe_load(kubeconfig.read_text("utf-8"))
    return int(urlsplit(known["clusters"][0]["cluster"]["server"]).port or 0)
