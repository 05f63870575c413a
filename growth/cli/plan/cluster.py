"""Reads a cluster for `growth plan --from-cluster`: each list once, and without writing anything.

A cluster without growth has none of growth's objects. That isn't an error, because pools and
classes may come from files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.kinds import NODE_CLASSES
from growth.api.nodeclass import NodeClass
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderequest import NodeRequest
from growth.cli.cluster.lists import NotInstalled, reading_lists, together
from growth.cli.plan.prices import DataKey
from growth.kube.reads import Reads
from growth.scheduling.cluster import Object
from reconciler.seeing.sources import BUILT_IN

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterable

    from growth.cli.cluster.lists import Lists

Ours = NodePool | NodeRequest | NodeRecord | NodeClass
OURS: Final[tuple[type[Ours], ...]] = (
    NodePool,
    NodeRequest,
    NodeRecord,
    *NODE_CLASSES.values(),
)


class SeenCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster at one moment."""

    objects: tuple[Object, ...]
    """Objects of Kubernetes' own kinds, as they are written."""
    resources: tuple[Ours, ...]
    """Objects of growth's kinds."""
    config_maps: Mapping[DataKey, str]
    """The ConfigMaps with the catalogues of node classes."""
    unreadable: tuple[str, ...]
    """Objects that were left out: kind and name."""

    @property
    def records(self) -> Mapping[str, NodeRecord]:
        """What growth knows of each machine, by its name."""
        return {each.name: each for each in self.resources if isinstance(each, NodeRecord)}


async def see_cluster(arguments: argparse.Namespace) -> SeenCluster:
    """Read everything that a plan depends on."""
    async with reading_lists(arguments) as lists:
        return await seen_by(lists)


async def seen_by(lists: Lists) -> SeenCluster:
    """The same, from lists that are already being read."""
    built_in = [lists.all_of(path, decode) for path, decode in BUILT_IN.values()]
    objects = await together(built_in)
    resources = await together(_if_known(lists, kind) for kind in OURS)
    ours = tuple(each for several in resources for each in several)
    config_maps = {key: text async for key, text in _catalogues(Reads(lists.connection), ours)}
    return SeenCluster(
        objects=tuple(each for several in objects for each in several),
        resources=ours,
        config_maps=config_maps,
        unreadable=lists.unreadable,
    )


async def _if_known(lists: Lists, kind: type[Ours]) -> tuple[Ours, ...]:
    try:
        return await lists.ours(kind)
    except NotInstalled:
        return ()


async def _catalogues(
    reads: Reads, resources: Iterable[Ours]
) -> AsyncIterator[tuple[DataKey, str]]:
    """The catalogues in ConfigMaps. A missing one is reported when a plan needs it."""
    for each in resources:
        reference = each.catalogue_reference if isinstance(each, NodeClass) else None
        if reference is None:
            continue
        path = f"/api/v1/namespaces/{reference.namespace}/configmaps/{reference.name}"
        found = (await reads.found(path) or {}).get("data") or {}
        if reference.key in found:
            yield (reference.namespace, reference.name, reference.key), found[reference.key]
