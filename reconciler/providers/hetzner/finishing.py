"""Finishes a server that was created switched off: attaches it to a subnet, then powers it on.

Each listing takes the next step for each server. Nothing waits here, and a restart loses nothing,
because the server itself shows which step is next. Old servers are left alone: if one of them is
off, a person has switched it off.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from growth.errors import GiveUp
from reconciler.providers.hetzner.calls import CallFailed
from reconciler.providers.hetzner.failures import ALREADY_DONE, LABEL_EDITED, Failure
from reconciler.providers.hetzner.labels import subnet_of
from reconciler.providers.hetzner.machines import MADE_WITHIN
from reconciler.providers.port import ProviderTrouble

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.providers.hetzner.project import HetznerProject
    from reconciler.providers.hetzner.wire import HetznerServer


async def finish(project: HetznerProject, *, now: Instant) -> None:
    """Take the next step for every server that isn't finished."""
    young = [each for each in project.servers.unfinished if now.wall - each.created < MADE_WITHIN]
    await asyncio.gather(*(_step(project, server) for server in young))


async def _step(project: HetznerProject, server: HetznerServer) -> None:
    actions = f"/servers/{server.id}/actions"
    try:
        network, ip_range = subnet_of(server.labels)
        if any(each.network == network for each in server.private_net):
            await project.calls.create(f"{actions}/poweron", {})
        else:
            body = {"network": network, "ip_range": ip_range}
            await project.calls.create(f"{actions}/attach_to_network", body)
    except GiveUp as edited:
        project.servers.set_back(server.id, Failure(code=LABEL_EDITED, text=str(edited)))
    except CallFailed as failed:
        failure = failed.failure
        passes = failure.trouble in {ProviderTrouble.TRANSIENT, ProviderTrouble.THROTTLED}
        if not passes and failure.code not in ALREADY_DONE:
            project.servers.set_back(server.id, failure)
