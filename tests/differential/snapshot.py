"""What growth would see at the moment of the offer, and what its rules say about it.

The objects are the API server's own bytes, with all that admission and defaults have made of the
manifests; the rules get them through the decoders that production uses.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import fits, objects
from growth.scheduling.cluster import cluster_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.cluster import Cluster, Object
    from tests.differential.connection import Connection

_STORAGE = "/apis/storage.k8s.io/v1"
DECODERS: dict[str, Callable[[bytes], Object]] = {
    "/api/v1/nodes": objects.decode_node,
    "/api/v1/pods": objects.decode_pod,
    "/api/v1/namespaces": objects.decode_namespace,
    "/api/v1/persistentvolumeclaims": objects.decode_claim,
    "/api/v1/persistentvolumes": objects.decode_volume,
    f"{_STORAGE}/storageclasses": objects.decode_storage_class,
    f"{_STORAGE}/csinodes": objects.decode_csi_node,
    f"{_STORAGE}/csidrivers": objects.decode_csi_driver,
    f"{_STORAGE}/volumeattachments": objects.decode_volume_attachment,
}
"""The lists that a snapshot is made of."""


class Snapshot(msgspec.Struct, frozen=True):
    """Every object of these kinds, as it came."""

    listed: dict[str, list[msgspec.Raw]]


class _Metadata(msgspec.Struct, frozen=True):
    name: str


class _Named(msgspec.Struct, frozen=True):
    metadata: _Metadata


class Answer(msgspec.Struct, frozen=True):
    """What our rules say: where the pod fits, or what they can't judge."""

    nodes: tuple[str, ...]
    unsupported: tuple[str, ...] = ()


async def taken(connection: Connection) -> Snapshot:
    """The cluster as it is now."""
    lists = await asyncio.gather(*(connection.items(path) for path in DECODERS))
    return Snapshot(
        {
            path: [msgspec.Raw(item) for item in items]
            for path, (items, _) in zip(DECODERS, lists, strict=True)
        }
    )


def names(snapshot: Snapshot) -> set[tuple[str, str]]:
    """The objects in it: the last part of the path of their kind, and their name."""
    return {
        (path.rpartition("/")[2], msgspec.json.decode(item, type=_Named).metadata.name)
        for path, items in snapshot.listed.items()
        for item in items
    }


def cluster(snapshot: Snapshot) -> Cluster:
    """The snapshot as our rules look at it."""
    return cluster_of(
        decode(bytes(item))
        for path, decode in DECODERS.items()
        for item in snapshot.listed.get(path, ())
    )


def answer(pod: bytes, seen: Cluster) -> Answer:
    """Our rules' own verdict."""
    decoded = objects.decode_pod(pod)
    nodes = fits.feasible_nodes(decoded, seen)
    return Answer(tuple(node.name for node in nodes), tuple(fits.unsupported(decoded, seen)))
