"""Deletes a server by its id, and only if it is ours and the right one.

The server with this id must have the machine's name and the request's uid. If the last listing
doesn't show it, growth asks for it by id, because listings lag. It counts as gone only if Hetzner
answers `not_found`, and only with a token with which a complete listing was read: the token of
another project would get `not_found` for every server of ours.
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
    """Delete a machine."""
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
    """The server with the machine's id, if it belongs to our cluster."""
    # The id comes from an object that people can edit, and becomes part of a path.
    if not machine.machine_id.isdecimal():
        return None
    known = project.servers.known(machine.name)
    if known is not None and known.machine_id == machine.machine_id:
        return known
    number = int(machine.machine_id)
    # As a part of the delete, so that it goes on when listings have to wait for the rate limit.
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
        f"Hetzner has no server with id {machine.machine_id} for the current token, and no "
        "complete listing was read with it: if the Secret has the token of another project, put "
        "the right one back"
    )
    return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason)


def _failed(failure: Failure) -> DeleteAnswer:
    reason = failure.reason
    if failure.code == "protected":
        reason = f"{reason}: remove the protection at Hetzner; growth doesn't do it"
    return DeleteAnswer(outcome=DeleteOutcome.FAILED, reason=reason, seconds=failure.seconds)
