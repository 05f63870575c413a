"""The end of a server: by its id, and only if it is ours and the one that was meant.

What the last listing shows under the id must bear the name and the request's uid of the machine.
One that isn't in it is asked for by its id, as listings lag: only Hetzner's own word makes it gone,
and only under a token that a listing was read with. Another project knows nothing of our servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.providers.hetzner.calls import CallFailed, decoded_answer
from reconciler.providers.hetzner.labels import ours
from reconciler.providers.hetzner.machines import machine_of_server
from reconciler.providers.hetzner.rates import Purpose
from reconciler.providers.hetzner.wire import HetznerServer
from reconciler.providers.port import DeleteAnswer, DeleteOutcome

if TYPE_CHECKING:
    from reconciler.providers.hetzner.failures import Failure
    from reconciler.providers.hetzner.project import HetznerProject
    from reconciler.providers.port import Machine

GONE = DeleteAnswer(outcome=DeleteOutcome.GONE)


async def give_back(project: HetznerProject, machine: Machine, *, cluster: str) -> DeleteAnswer:
    """Ask for the end of a machine."""
    try:
        known = await _known(project, machine, cluster=cluster)
        if known is None or not _is_meant(known, machine):
            return _not_ours(machine)
        await project.calls.delete(f"/servers/{int(machine.machine_id)}")
    except CallFailed as failed:
        if failed.failure.code != "not_found":
            return _failed(failed.failure)
        if not project.servers.is_of_this_token:
            return _not_seen(machine)
        project.servers.deleted(machine)
        return GONE
    project.servers.deleted(machine)
    return DeleteAnswer(outcome=DeleteOutcome.ACCEPTED)


async def _known(project: HetznerProject, machine: Machine, *, cluster: str) -> Machine | None:
    """What Hetzner has under the machine's id, if that is our cluster's."""
    if not machine.machine_id.isdecimal():
        return None
    known = project.servers.known(machine.name)
    if known is not None and known.machine_id == machine.machine_id:
        return known
    number = int(machine.machine_id)
    answer = await project.calls.get(f"/servers/{number}", purpose=Purpose.DELETE)
    server = decoded_answer(answer.get("server"), HetznerServer)
    return machine_of_server(server, {}) if ours(server.labels, cluster=cluster) else None


def _is_meant(known: Machine, machine: Machine) -> bool:
    return (known.name, known.request_uid) == (machine.name, machine.request_uid)


def _not_ours(machine: Machine) -> DeleteAnswer:
    reason = f"the server with id {machine.machine_id} isn't {machine.name} of this cluster"
    return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason)


def _not_seen(machine: Machine) -> DeleteAnswer:
    reason = (
        f"Hetzner has no server with id {machine.machine_id} under the present token, and no "
        "complete listing was read with it: if the Secret holds the token of another project, put "
        "the right one back"
    )
    return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason)


def _failed(failure: Failure) -> DeleteAnswer:
    reason = failure.reason
    if failure.code == "protected":
        reason = f"{reason}: take the protection off at Hetzner, growth doesn't"
    return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason, seconds=failure.seconds)
