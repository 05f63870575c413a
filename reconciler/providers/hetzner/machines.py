"""Converts servers to the port's machines: creating, running, failed or deleting.

If the class names a subnet, the server is created switched off, because Hetzner allows choosing the
subnet only afterwards. A label of the server says that it still needs this step.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from growth.api.wellknown import POOL_LABEL
from reconciler.providers.hetzner.failures import ALREADY_DONE, Failure, without_secrets
from reconciler.providers.hetzner.labels import INSTALLATION_LABEL, REQUEST_UID_LABEL, SUBNET_LABEL
from reconciler.providers.port import SCOPES, Machine, MachineState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.noderequest import UnmetScope
    from reconciler.providers.hetzner.wire import Action, HetznerServer

MAKING: Final = frozenset(
    {"create_server", "start_server", "attach_to_network", "add_to_placement_group"}
)
"""The actions of a server until it runs."""
MADE_WITHIN = timedelta(minutes=15)
"""An action that fails later isn't part of the creation: a person started it."""


def machine_of_server(server: HetznerServer, failed: Mapping[int, Failure]) -> Machine:
    """The machine that a server is."""
    failure = failed.get(server.id)
    if server.status == "deleting":
        return _machine(server, MachineState.DELETING)
    if failure is not None and server.status != "running":
        scope = SCOPES.get(failure.trouble)
        return _machine(server, MachineState.FAILED, reason=failure.reason, scope=scope)
    if server.status in {"initializing", "starting"} or is_unfinished(server):
        return _machine(server, MachineState.CREATING)
    # This includes a server that a person has switched off: it exists and is billed, and its node
    # shows that it is off.
    reason = "" if server.status == "running" else f"the server is {server.status}"
    return _machine(server, MachineState.RUNNING, reason=reason)


def is_unfinished(server: HetznerServer) -> bool:
    """Whether a server needs another step from growth before it can start."""
    return server.status == "off" and SUBNET_LABEL in server.labels


def failures_by_server(
    actions: Iterable[Action], servers: Iterable[HetznerServer], *, secrets: tuple[str, ...]
) -> dict[int, Failure]:
    """Why servers couldn't be created, from their failed actions."""
    created = {server.id: server.created for server in servers}
    found: dict[int, Failure] = {}
    for action in actions:
        if action.error is None or action.command not in MAKING:
            continue
        if action.error.code in ALREADY_DONE:
            continue
        text = without_secrets(f"{action.command}: {action.error.message}", secrets)
        for resource in action.resources:
            began = created.get(resource.id) if resource.type == "server" else None
            if began is not None and action.started <= began + MADE_WITHIN:
                found[resource.id] = Failure(code=action.error.code, text=text)
    return found


def _machine(
    server: HetznerServer,
    state: MachineState,
    *,
    reason: str = "",
    scope: UnmetScope | None = None,
) -> Machine:
    return Machine(
        machine_id=str(server.id),
        name=server.name,
        request_uid=server.labels.get(REQUEST_UID_LABEL, ""),
        pool=server.labels.get(POOL_LABEL, ""),
        state=state,
        reason=reason,
        scope=scope,
        created_at=server.created,
        server_type=server.server_type.name,
        location=(server.location or server.datacenter.location).name,
        installation=server.labels.get(INSTALLATION_LABEL, ""),
    )
