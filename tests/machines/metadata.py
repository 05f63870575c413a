"""Hetzner's metadata service: what a server is told of itself. Its address tells who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import yaml
from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.machines.booting import Machine

_BASE: Final = "/hetzner/v1"


class MetadataService:
    """One service for all servers of a hall."""

    def __init__(self, machines: Callable[[], Mapping[str, Machine]]) -> None:
        self._machines = machines
        """The servers that are switched on, by public address."""

    def application(self) -> web.Application:
        """As a web application."""
        app = web.Application()
        app.add_routes(
            [
                web.get(f"{_BASE}/userdata", self._user_data),
                web.get(f"{_BASE}/metadata", self._everything),
                web.get(f"{_BASE}/metadata/{{name}}", self._one),
            ]
        )
        return app

    async def _user_data(self, request: web.Request) -> web.Response:
        return web.Response(text=self._asking(request).user_data)

    async def _everything(self, request: web.Request) -> web.Response:
        return _yaml(facts_about(self._asking(request)))

    async def _one(self, request: web.Request) -> web.Response:
        machine, name = self._asking(request), request.match_info["name"]
        known = {
            "instance-id": str(machine.id),
            "hostname": machine.name,
            "private-networks": yaml.safe_dump(_private_networks(machine), sort_keys=False),
        }
        if name not in known:
            raise web.HTTPNotFound
        return web.Response(text=known[name])

    def _asking(self, request: web.Request) -> Machine:
        machine = self._machines().get(request.remote or "")
        if machine is None:
            raise web.HTTPNotFound
        return machine


def facts_about(machine: Machine) -> dict[str, Any]:
    """What cloud-init reads first."""
    return {
        "hostname": machine.name,
        "instance-id": str(machine.id),
        "public-keys": [],
        "network-config": {"version": 1, "config": []},
        "vendor_data": "",
    }


def _private_networks(machine: Machine) -> list[dict[str, Any]]:
    """The last one first, as nothing promises an order."""
    return [
        {"ip": address, "alias_ips": [], "interface_num": number, "network_id": network}
        for number, (network, address) in reversed(list(enumerate(machine.private.items(), 1)))
    ]


def _yaml(content: Any) -> web.Response:
    return web.Response(text=yaml.safe_dump(content), content_type="text/yaml")
