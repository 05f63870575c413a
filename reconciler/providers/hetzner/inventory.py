"""Finds what a node class names at Hetzner: images, SSH keys, networks, firewalls.

Names are resolved to ids before the first server is bought. All mistakes then show up in one
condition of the class, instead of in a refusal for each server. Snapshots have no unique names, so
classes name them by id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from reconciler.providers.hetzner.calls import CallFailed, decoded_answer
from reconciler.providers.hetzner.catalogue import SERVERS_IN_NETWORK, image_for
from reconciler.providers.hetzner.wire import HetznerNamed, Image, Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.hetznernodeclass import HetznerNodeClassSpec
    from reconciler.providers.hetzner.calls import Calls


class _Findable(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def name(self) -> str | None: ...


Thing = TypeVar("Thing", bound=_Findable)


class Inventory(msgspec.Struct, frozen=True, kw_only=True):
    """The objects in the project that the class may name."""

    images: tuple[Image, ...]
    ssh_keys: tuple[HetznerNamed, ...]
    networks: tuple[Network, ...]
    firewalls: tuple[HetznerNamed, ...]


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """The ids for the names in a class."""

    images: dict[str, int]
    """By Hetzner's name of the architecture: x86 or arm."""
    ssh_keys: tuple[int, ...]
    networks: tuple[Network, ...]
    firewalls: tuple[int, ...]

    def as_status(self) -> dict[str, Any]:
        """As the status of the class shows it."""
        return {
            "images": {name: str(number) for name, number in self.images.items()},
            "sshKeys": [str(each) for each in self.ssh_keys],
            "networks": [str(each.id) for each in self.networks],
            "firewalls": [str(each) for each in self.firewalls],
        }


class Unresolved(msgspec.Struct, frozen=True, kw_only=True):
    """The problems of the class, each with what, where, and how to fix it."""

    problems: tuple[str, ...]


async def read_inventory(calls: Calls, spec: HetznerNodeClassSpec) -> Inventory:
    """Read only the kinds that the class names, because each listing is a call."""
    firewalls = await _named(calls, "firewalls", wanted=bool(spec.firewalls))
    ssh_keys = await _named(calls, "ssh_keys", wanted=bool(spec.ssh_keys))
    networks: tuple[Network, ...] = ()
    if spec.networks:
        networks = (await calls.pages("/networks", key="networks", kind=Network)).entries
    images = [
        image
        for architecture in ("x86", "arm")
        if (name := image_for(spec, architecture)) is not None
        for image in await _images(calls, name, architecture)
    ]
    return Inventory(
        images=tuple(images), ssh_keys=ssh_keys, networks=networks, firewalls=firewalls
    )


def resolve(spec: HetznerNodeClassSpec, inventory: Inventory) -> Resolved | Unresolved:
    """The ids for all names in the class, or all of its problems."""
    problems: list[str] = []
    images = {
        architecture: image.id
        for architecture in ("x86", "arm")
        if (image := _image(spec, inventory, architecture, problems)) is not None
    }
    ssh_keys = _found("sshKeys", spec.ssh_keys, inventory.ssh_keys, problems)
    networks = _found("networks", spec.networks, inventory.networks, problems)
    firewalls = _found("firewalls", spec.firewalls, inventory.firewalls, problems)
    problems += _network_problems(networks, spec)
    if problems:
        return Unresolved(problems=tuple(problems))
    return Resolved(
        images=images,
        ssh_keys=tuple(each.id for each in ssh_keys),
        networks=networks,
        firewalls=tuple(each.id for each in firewalls),
    )


async def _named(calls: Calls, what: str, *, wanted: bool) -> tuple[HetznerNamed, ...]:
    return (await calls.pages(f"/{what}", key=what, kind=HetznerNamed)).entries if wanted else ()


async def _images(calls: Calls, name: str, architecture: str) -> tuple[Image, ...]:
    """The images with this name, or the one with this id, whatever its architecture."""
    if name.isdecimal():
        return await _image_by_id(calls, int(name))
    found = await calls.pages(
        "/images",
        key="images",
        kind=Image,
        name=name,
        architecture=architecture,
        # Hetzner still creates servers from deprecated images, but doesn't list them unless asked.
        include_deprecated="true",
    )
    return found.entries


async def _image_by_id(calls: Calls, number: int) -> tuple[Image, ...]:
    try:
        answer = await calls.get(f"/images/{number}")
    except CallFailed as failed:
        if failed.failure.code != "not_found":
            raise
        return ()
    return (decoded_answer(answer.get("image"), Image),)


def _image(
    spec: HetznerNodeClassSpec, inventory: Inventory, architecture: str, problems: list[str]
) -> Image | None:
    wanted = image_for(spec, architecture)
    if wanted is None:
        return None
    named = [each for each in inventory.images if _is(each, wanted)]
    fitting = [each for each in named if each.architecture == architecture]
    if fitting and fitting[0].status == "available":
        return fitting[0]
    where = f"spec.images.{architecture}: image {wanted!r}"
    if fitting:
        problems.append(f"{where} is {fitting[0].status}: wait until it is available")
    elif named:
        problems.append(f"{where} is for {named[0].architecture}: name one for {architecture}")
    else:
        problems.append(f"{where} isn't in this project: name one of its images, snapshots by id")
    return None


def _found(
    field: str, wanted: Iterable[str], there: tuple[Thing, ...], problems: list[str]
) -> tuple[Thing, ...]:
    found = []
    for name in wanted:
        thing = next((each for each in there if _is(each, name)), None)
        if thing is None:
            known = ", ".join(sorted(each.name or str(each.id) for each in there)) or "none"
            problems.append(f"spec.{field}: {name!r} isn't in this project, which has: {known}")
        else:
            found.append(thing)
    return tuple(found)


def _is(thing: _Findable, name: str) -> bool:
    return thing.name == name or str(thing.id) == name


def _network_problems(networks: tuple[Network, ...], spec: HetznerNodeClassSpec) -> Iterator[str]:
    for network in networks:
        if not network.subnets:
            yield f"spec.networks: {network.name!r} has no subnet: add one"
        if len(network.servers) >= SERVERS_IN_NETWORK:
            yield (
                f"spec.networks: {network.name!r} has {len(network.servers)} servers, and "
                f"{SERVERS_IN_NETWORK} is the maximum: use another network for this class"
            )
    # The subnet is chosen when the first network is attached; Hetzner chooses those of the others.
    ranges = [each.ip_range for network in networks[:1] for each in network.subnets]
    if spec.subnet is not None and networks and spec.subnet not in ranges:
        known = ", ".join(filter(None, ranges))
        yield (
            f"spec.subnet: {spec.subnet} isn't a subnet of {networks[0].name!r}, which has: {known}"
        )
