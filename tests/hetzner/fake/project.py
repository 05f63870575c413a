"""One project: what it sells, keeps and refuses. The rules are the API's, the clock is the tests'.

Creating answers at once and goes on in actions, as the real one does: a failure after the answer is
seen there only, and the server stays, is paid for, and keeps its name.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.hetzner.fake.catalogue import PLACES, ServerType, server_types
from tests.hetzner.fake.faults import Faults, Problem
from tests.hetzner.fake.rates import Bucket
from tests.hetzner.fake.records import Action, Image, Network, PlacementGroup, Server

if TYPE_CHECKING:
    from collections.abc import Callable

USER_DATA_LIMIT = 32 * 1024
GROUP_SIZE = 10
GROUPS = 50
NETWORK_SIZE = 100


@dataclass
class Named:
    """Something that is only referred to."""

    id: int
    name: str

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return {"id": self.id, "name": self.name, "labels": {}}


@dataclass(kw_only=True)
class Project:
    """One Hetzner Cloud project."""

    now: float = 0.0
    """Seconds since the start; nothing but `pass_time` moves it, unless there is a clock."""
    types: dict[str, ServerType] = field(default_factory=server_types)
    images: list[Image] = field(default_factory=list)
    ssh_keys: list[Named] = field(default_factory=list)
    firewalls: list[Named] = field(default_factory=list)
    networks: list[Network] = field(default_factory=list)
    servers: dict[int, Server] = field(default_factory=dict)
    groups: dict[int, PlacementGroup] = field(default_factory=dict)
    faults: Faults = field(default_factory=Faults)
    bucket: Bucket = field(default_factory=Bucket)
    calls: Counter[str] = field(default_factory=Counter)
    """How often each call was made, like `POST /servers`."""
    sold_out: set[tuple[str, str]] = field(default_factory=set)
    down: set[str] = field(default_factory=set)
    """Places under maintenance."""
    quota: int = 1000
    failing_actions: list[tuple[str, str, str]] = field(default_factory=list)
    """(command, code, message): each fails one action after its server was accepted."""
    action_seconds: float = 5.0
    listing_lag: float = 0.0
    """Seconds until a new server shows in listings."""
    delete_seconds: float = 2.0
    clock: Callable[[], float] | None = None
    """A clock that goes by itself, for who talks to the project from another process."""
    between_pages: Callable[[], object] = lambda: None
    """What happens while somebody reads a listing, between one page and the next."""

    def __post_init__(self) -> None:
        self._ids = itertools.count(1000)
        self.images += [Image(id=11, name="debian-13"), Image(id=12, name=None)]
        self.images += [Image(id=13, name="debian-13", architecture="arm")]
        self.ssh_keys += [Named(21, "admin")]
        self.firewalls += [Named(31, "nodes")]
        self.networks += [Network(id=41, name="cluster")]

    def pass_time(self, seconds: float) -> None:
        """Let time go by."""
        self.now += seconds
        for server in list(self.servers.values()):
            if server.gone_from is not None and server.gone_from <= self.now:
                self._forget(server)

    def catch_up(self) -> None:
        """Let go by what the clock says has gone by."""
        if self.clock is not None:
            self.pass_time(max(0.0, self.clock() - self.now))

    def visible(self) -> list[Server]:
        """What a listing shows now, in the order of ids."""
        return [each for each in self.servers.values() if each.visible_from <= self.now]

    def create_server(self, body: dict[str, Any]) -> Server:
        """Accept a server, or refuse it."""
        self._check_name(body["name"])
        server_type = self._check_type(body)
        self._check_image(body, server_type)
        self._check_references(body)
        if len(body.get("user_data") or "") > USER_DATA_LIMIT:
            raise _invalid("user_data", "is too long")
        self._check_room(body, server_type)
        return self._make(body)

    def attach(self, server: Server, body: dict[str, Any]) -> Action:
        """Put a server into a network, and in a subnet of it if one is named."""
        self._check_idle(server)
        network = next((each for each in self.networks if each.id == body["network"]), None)
        if network is None:
            raise Problem("not_found", f"network with ID '{body['network']}' not found")
        if any(number == network.id for number, _ in server.attached):
            raise Problem("server_already_attached")
        self._check_network(network)
        server.attached.append((network.id, body.get("ip_range")))
        action = self._action("attach_to_network", server.id, takes=1)
        server.actions.append(action)
        return action

    def power_on(self, server: Server) -> Action:
        """Switch a server on."""
        self._check_idle(server)
        return self._start(server, takes=self.action_seconds)

    def delete_server(self, server: Server) -> Action:
        """Accept a server's end."""
        if server.protected:
            raise Problem("protected", "server deletion is protected")
        if server.gone_from is None:
            server.gone_from = self.now + self.delete_seconds
        return self._action("delete_server", server.id, takes=self.delete_seconds)

    def create_group(self, body: dict[str, Any]) -> PlacementGroup:
        """Make a placement group."""
        if any(each.name == body["name"] for each in self.groups.values()):
            raise Problem("uniqueness_error", "name is already used")
        if len(self.groups) >= GROUPS:
            raise Problem("resource_limit_exceeded", "placement group limit exceeded")
        group = PlacementGroup(
            id=next(self._ids),
            name=body["name"],
            labels=body.get("labels") or {},
            created=self.now,
        )
        self.groups[group.id] = group
        return group

    def add_foreign(self, name: str, **labels: str) -> Server:
        """A server that somebody else has made."""
        body = {"name": name, "server_type": "cx23", "labels": labels}
        server = self._make(body)
        self.pass_time(2 * self.action_seconds)
        return server

    def attached(self, network: int) -> list[int]:
        """The servers in a network."""
        return [
            each.id
            for each in self.servers.values()
            if network in {number for number, _ in each.attached}
        ]

    def _check_name(self, name: str) -> None:
        if any(each.name == name for each in self.servers.values()):
            raise Problem("uniqueness_error", "server name is already used")

    def _check_type(self, body: dict[str, Any]) -> ServerType:
        server_type = self.types.get(body["server_type"])
        if server_type is None:
            raise _invalid("server_type", "unknown server type")
        place = body["location"]
        if place not in PLACES:
            raise _invalid("location", "unknown location")
        if place not in server_type.places or server_type.retired is not None:
            raise Problem("invalid_input", "unsupported location for server type")
        return server_type

    def _check_image(self, body: dict[str, Any], server_type: ServerType) -> None:
        found = [each for each in self.images if str(each.id) == str(body["image"])]
        if not found:
            raise Problem("not_found", f"image with ID '{body['image']}' not found")
        if found[0].architecture != server_type.architecture:
            raise _invalid("image", "image architecture does not match the server type")

    def _check_references(self, body: dict[str, Any]) -> None:
        known = {
            "networks": {each.id for each in self.networks},
            "ssh_keys": {each.id for each in self.ssh_keys},
        }
        for field_name, ids in known.items():
            for each in body.get(field_name, ()):
                if each not in ids:
                    raise Problem("not_found", f"{field_name} with ID '{each}' not found")
        for network in self.networks:
            if network.id in body.get("networks", ()):
                self._check_network(network)
        wanted = {each["firewall"] for each in body.get("firewalls", ())}
        if wanted - {each.id for each in self.firewalls}:
            raise Problem("not_found", "firewall not found")

    def _check_network(self, network: Network) -> None:
        if network.others + len(self.attached(network.id)) >= NETWORK_SIZE:
            raise Problem("no_subnet_available", "no free address in the network")

    def _check_room(self, body: dict[str, Any], server_type: ServerType) -> None:
        place = body["location"]
        if place in self.down:
            raise Problem("maintenance", "the location is under maintenance")
        if (server_type.name, place) in self.sold_out:
            raise Problem("resource_unavailable", "error during placement")
        if len(self.servers) >= self.quota:
            raise Problem("resource_limit_exceeded", "server limit exceeded")
        group = body.get("placement_group")
        if group is not None and group not in self.groups:
            raise Problem("not_found", f"placement group with ID '{group}' not found")
        if group is not None and len(self.groups[group].servers) >= GROUP_SIZE:
            raise Problem("placement_error", "placement group already contains 10 servers")

    def _make(self, body: dict[str, Any]) -> Server:
        server = Server(
            id=next(self._ids),
            body={"networks": [], **body},
            created=self.now,
            visible_from=self.now + self.listing_lag,
            labels=dict(body.get("labels") or {}),
        )
        server.attached += [(network, None) for network in server.body["networks"]]
        server.actions.append(self._action("create_server", server.id, takes=self.action_seconds))
        if body.get("start_after_create", True):
            self._start(server, takes=2 * self.action_seconds)
        else:
            server.power = "off"
        self.servers[server.id] = server
        if body.get("placement_group") is not None:
            self.groups[body["placement_group"]].servers.append(server.id)
        return server

    def _start(self, server: Server, *, takes: float) -> Action:
        server.power = "running"
        server.actions.append(self._action("start_server", server.id, takes=takes))
        return server.actions[-1]

    def _check_idle(self, server: Server) -> None:
        if any(each.status(self.now) == "running" for each in server.actions):
            raise Problem("locked", "the server is locked by another action")

    def _action(self, command: str, server: int, *, takes: float) -> Action:
        failing = next((each for each in self.failing_actions if each[0] == command), None)
        if failing is not None:
            self.failing_actions.remove(failing)
        return Action(
            id=next(self._ids),
            command=command,
            server=server,
            started=self.now,
            finished=self.now + takes,
            error=failing[1:] if failing else None,
        )

    def _forget(self, server: Server) -> None:
        del self.servers[server.id]
        for group in self.groups.values():
            if server.id in group.servers:
                group.servers.remove(server.id)


def _invalid(field_name: str, message: str) -> Problem:
    details = {"fields": [{"name": field_name, "messages": [message]}]}
    return Problem("invalid_input", f"invalid input in field '{field_name}'", details)
