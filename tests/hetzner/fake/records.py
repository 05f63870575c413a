"""What a project keeps, and how the API tells it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 1, 1, tzinfo=UTC)


def written(seconds: float) -> str:
    """A second of the project's clock as the API writes it."""
    return (START + timedelta(seconds=seconds)).isoformat()


@dataclass(kw_only=True)
class Action:
    """Something that takes its time, and may fail in the end."""

    id: int
    command: str
    server: int
    started: float
    finished: float
    error: tuple[str, str] | None = None

    def status(self, now: float) -> str:
        """running, success or error."""
        if now < self.finished:
            return "running"
        return "success" if self.error is None else "error"

    def as_json(self, now: float) -> dict[str, Any]:
        """As the API tells it."""
        status = self.status(now)
        error = {"code": self.error[0], "message": self.error[1]} if self.error else None
        return {
            "id": self.id,
            "command": self.command,
            "status": status,
            "progress": 100 if status == "success" else 50,
            "started": written(self.started),
            "finished": None if status == "running" else written(self.finished),
            "resources": [{"id": self.server, "type": "server"}],
            "error": error if status == "error" else None,
        }


@dataclass(kw_only=True)
class Server:
    """One server, from the answer to its creation until it is gone."""

    id: int
    body: dict[str, Any]
    """What was asked for."""
    created: float
    visible_from: float
    """When listings show it."""
    labels: dict[str, str]
    actions: list[Action] = field(default_factory=list)
    protected: bool = False
    power: str = "running"
    """What it is once it has been made and started."""
    gone_from: float | None = None
    attached: list[tuple[int, str | None]] = field(default_factory=list)
    """Networks that it is in, and the subnet that was chosen, if one was."""
    private_address: str = "10.0.0.7"
    """Its address in each of them."""

    @property
    def name(self) -> str:
        """Its name, unique in the project."""
        return str(self.body["name"])

    def status(self, now: float) -> str:
        """Where it stands; a create that failed leaves it off."""
        if self.gone_from is not None:
            return "deleting"
        if any(each.status(now) == "error" for each in self.actions):
            return "off"
        made, *_ = self.actions
        if made.status(now) == "running":
            return "initializing"
        starts = [each for each in self.actions if each.command == "start_server"]
        return "starting" if any(it.status(now) == "running" for it in starts) else self.power

    def as_json(self, now: float, *, server_type: dict[str, Any]) -> dict[str, Any]:
        """As the API tells it."""
        group = self.body.get("placement_group")
        place = self.body.get("location", "nbg1")
        return {
            "id": self.id,
            "name": self.name,
            "status": self.status(now),
            "created": written(self.created),
            "labels": dict(self.labels),
            "server_type": server_type,
            "location": {"id": 1, "name": place, "network_zone": "eu-central"},
            "locked": any(action.status(now) == "running" for action in self.actions),
            "protection": {"delete": self.protected, "rebuild": self.protected},
            "placement_group": {"id": group} if group is not None else None,
            "public_net": {"ipv4": None, "ipv6": None, "floating_ips": [], "firewalls": []},
            "private_net": [
                {"network": network, "ip": self.private_address} for network, _ in self.attached
            ],
            "image": None,
            "volumes": [],
        }


@dataclass(kw_only=True)
class PlacementGroup:
    """Servers that are kept on different hosts."""

    id: int
    name: str
    labels: dict[str, str]
    created: float
    servers: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "id": self.id,
            "name": self.name,
            "labels": self.labels,
            "type": "spread",
            "servers": list(self.servers),
            "created": written(self.created),
        }


@dataclass(kw_only=True)
class Image:
    """What a server boots; names of snapshots are not unique."""

    id: int
    name: str | None
    architecture: str = "x86"
    status: str = "available"

    def as_json(self) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "id": self.id,
            "name": self.name,
            "architecture": self.architecture,
            "status": self.status,
            "type": "system" if self.name else "snapshot",
            "description": self.name or f"snapshot {self.id}",
            "deprecated": None,
        }


@dataclass(kw_only=True)
class Network:
    """A private network and what is attached to it."""

    id: int
    name: str
    ip_range: str = "10.0.0.0/16"
    zone: str = "eu-central"
    others: int = 0
    """Servers attached to it that aren't ours."""

    def as_json(self, servers: list[int]) -> dict[str, Any]:
        """As the API tells it."""
        return {
            "id": self.id,
            "name": self.name,
            "ip_range": self.ip_range,
            "subnets": [
                {"type": "cloud", "ip_range": "10.0.0.0/24", "network_zone": self.zone},
            ],
            "servers": [*servers, *range(900_000, 900_000 + self.others)],
        }
