"""Buys one server, after checking that it doesn't exist yet.

A server's name is unique in the project, which makes a second try harmless. If a server with the
name exists, its labels show whose it is. A server of this request is adopted. Otherwise, this
request is refused, and the next request has another name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.hetznernodeclass import HetznerNodeClass, PlacementGroupPolicy
from reconciler.providers.hetzner.calls import CallFailed, decoded_answer
from reconciler.providers.hetzner.failures import ABOUT_NETWORKS
from reconciler.providers.hetzner.inventory import Resolved
from reconciler.providers.hetzner.labels import (
    REQUEST_UID_LABEL,
    ours,
    server_labels,
    subnet_label,
)
from reconciler.providers.hetzner.machines import machine_of_server
from reconciler.providers.hetzner.wire import HetznerServer
from reconciler.providers.port import Accepted, MachineState, Order, ProviderTrouble, refused_create

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.providers.hetzner.failures import Failure
    from reconciler.providers.hetzner.project import HetznerProject
    from reconciler.providers.port import CreateAnswer, Machine


class WantedServer(msgspec.Struct, frozen=True, kw_only=True):
    """An order with everything that the API call needs."""

    order: Order
    node_class: HetznerNodeClass
    resolved: Resolved
    architecture: str
    user_data: str
    token: str
    """The join token in the user data; no error may contain it."""
    cluster: str
    installation: str


async def find_server(
    project: HetznerProject, order: Order, *, now: Instant
) -> CreateAnswer | None:
    """The answer if the server exists or the listing isn't complete; None if it can be bought."""
    listing = await project.servers.listing(younger_than=_needed(project, order, now=now))
    if not listing.is_complete:
        return refused_create(ProviderTrouble.TRANSIENT, reason=f"not bought: {listing.reason}")
    machine = listing.machines.get(order.name)
    return _adopted(machine, order) if machine is not None else None


async def buy(project: HetznerProject, wanted: WantedServer) -> CreateAnswer:
    """Create the server."""
    try:
        server = await _placed(project, wanted)
    except CallFailed as failed:
        return await _after_failure(project, wanted, failed)
    machine = machine_of_server(server, {})
    project.servers.accepted(machine)
    return Accepted(machine_id=machine.machine_id)


def server_body(wanted: WantedServer) -> dict[str, Any]:
    """The body of the POST, without the placement group."""
    spec, resolved, order = wanted.node_class.spec, wanted.resolved, wanted.order
    body = {
        "name": order.name,
        "server_type": order.server_type.canonical,
        "location": order.location,
        "image": resolved.images[wanted.architecture],
        "ssh_keys": list(resolved.ssh_keys),
        "networks": [network.id for network in resolved.networks],
        "firewalls": [{"firewall": firewall} for firewall in resolved.firewalls],
        "public_net": {"enable_ipv4": spec.public_ipv4, "enable_ipv6": spec.public_ipv6},
        "labels": server_labels(
            order, wanted.node_class, cluster=wanted.cluster, installation=wanted.installation
        ),
        "user_data": wanted.user_data,
        "start_after_create": True,
    }
    return body if spec.subnet is None else _waiting_for(spec.subnet, body)


def _waiting_for(subnet: str, body: dict[str, Any]) -> dict[str, Any]:
    """The same body, but the server stays off: its subnet can only be chosen afterwards."""
    first, *others = body["networks"]
    labels = body["labels"] | subnet_label(first, subnet)
    return body | {"networks": others, "labels": labels, "start_after_create": False}


def _needed(project: HetznerProject, order: Order, *, now: Instant) -> float:
    """The earliest moment from which a listing shows the result of earlier tries."""
    intended = now.monotonic
    if order.intended_at is not None:
        intended -= max(0.0, now.seconds_since(order.intended_at))
    tried = project.tries.at(order.name)
    # Strictly after the last try: a listing of the same instant may have been read before it.
    return intended if tried is None else max(intended, math.nextafter(tried, math.inf))


def _adopted(machine: Machine, order: Order) -> CreateAnswer:
    if machine.request_uid != order.request_uid:
        # Not transient: under this name the request would find the same server again and again.
        reason = f"server {order.name} already exists, created for another request"
        return refused_create(ProviderTrouble.STOCKOUT, reason=reason)
    if machine.state is MachineState.DELETING:
        reason = f"server {order.name} is still being deleted"
        return refused_create(ProviderTrouble.TRANSIENT, reason=reason)
    return Accepted(machine_id=machine.machine_id)


async def _placed(project: HetznerProject, wanted: WantedServer) -> HetznerServer:
    """Create it in a placement group as the class says; on failure, in another group or in none."""
    policy = wanted.node_class.spec.placement_group
    if policy is PlacementGroupPolicy.NONE:
        return await _posted(project, wanted)
    try:
        return await _in_group(project, wanted)
    except CallFailed as failed:
        if not failed.failure.is_about_groups:
            raise
    if policy is PlacementGroupPolicy.PREFERRED:
        return await _posted(project, wanted)
    return await _in_group(project, wanted)


async def _in_group(project: HetznerProject, wanted: WantedServer) -> HetznerServer:
    name = wanted.order.name
    group = await project.groups.hold(name, pool=wanted.order.pool)
    try:
        server = await _posted(project, wanted, placement_group=group)
    except CallFailed as failed:
        if failed.failure.code == "not_found":
            project.groups.forget()
        elif failed.failure.is_about_groups:
            project.groups.is_full(group)
        raise
    finally:
        project.groups.release(group, server=name)
    # There is no await between `release` and this, or another purchase could take the place.
    project.groups.bought(group, server_id=server.id)
    return server


async def _posted(project: HetznerProject, wanted: WantedServer, **more: Any) -> HetznerServer:
    body = {**server_body(wanted), **more}
    answer = await project.calls.create("/servers", body, secrets=(wanted.token,))
    return decoded_answer(answer.get("server"), HetznerServer)


async def _after_failure(
    project: HetznerProject, wanted: WantedServer, failed: CallFailed
) -> CreateAnswer:
    failure, name = failed.failure, wanted.order.name
    if failure.code == "uniqueness_error":
        return await _under_the_same_name(project, wanted, failed)
    # A cached id may be outdated, so read the ids again. But do it once for each server, or a class
    # that names a deleted image would be retried forever.
    if failure.code == "not_found" and project.may_look_again(name):
        return refused_create(ProviderTrouble.TRANSIENT, reason=failure.reason)
    if failure.code in ABOUT_NETWORKS:
        # The next check of the class reads the networks again and shows which one is full.
        project.forget_inventory()
        return refused_create(failure.trouble, reason=_with_networks(failure, wanted))
    if failure.trouble is ProviderTrouble.TRANSIENT:
        # The server may exist now, so the next try needs a listing younger than this moment.
        project.tries.add(name)
    return refused_create(failure.trouble, reason=failure.reason, seconds=failure.seconds)


def _with_networks(failure: Failure, wanted: WantedServer) -> str:
    names = ", ".join(network.name for network in wanted.resolved.networks)
    return f"{failure.reason}; networks of the class: {names or 'none'}"


async def _under_the_same_name(
    project: HetznerProject, wanted: WantedServer, failed: CallFailed
) -> CreateAnswer:
    """A server that the listing didn't show has the name: it may be ours from a moment ago."""
    name = wanted.order.name
    # By name and without our labels: names are unique in the project, so the server may be
    # anyone's.
    page = await project.calls.page(
        "/servers", key="servers", kind=HetznerServer, page=1, name=name
    )
    if not page.entries:
        return refused_create(ProviderTrouble.TRANSIENT, reason=failed.failure.reason)
    (server,) = page.entries
    is_ours = ours(server.labels, cluster=wanted.cluster)
    if not is_ours or REQUEST_UID_LABEL not in server.labels:
        reason = f"server {name} already exists and doesn't belong to this cluster"
        return refused_create(ProviderTrouble.STOCKOUT, reason=reason)
    return _adopted(machine_of_server(server, {}), wanted.order)
