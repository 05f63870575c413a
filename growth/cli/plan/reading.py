"""Turns files, a cluster, or both into the world that `growth plan` plans for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.api import references
from growth.api.files import Mistakes
from growth.api.kinds import NODE_CLASSES
from growth.api.nodeclass import NodeClass
from growth.api.nodepool import NodePool
from growth.api.noderecord import NodeRecord
from growth.api.noderequest import NodeRequest
from growth.api.problems import DocumentProblem
from growth.api.wellknown import DEFAULT_NODE_CLASS
from growth.cli.cluster.connecting import completed
from growth.cli.plan import manifests as plan_manifests
from growth.cli.plan.cluster import SeenCluster, see_cluster
from growth.cli.plan.input import open_bundle
from growth.cli.plan.manifests import PlannedReplicas, WhatRuns
from growth.cli.plan.overlay import overlaid, owners_in, with_files_applied
from growth.cli.plan.prices import Prices, offerings_by_class, prices_from
from growth.cli.terminal import inputs
from growth.clocks import wall_clock
from growth.errors import Misconfigured
from growth.instant import Instant
from growth.keeping.believing import as_believed
from growth.scheduling.expansion import expanded
from growth.scheduling.pod import Pod
from reconciler.core.world import World
from reconciler.paper.consolidated import consolidated
from reconciler.paper.hindering import hindrance
from reconciler.paper.planned import plan_offline, world_of
from reconciler.providers.port import ClassKey
from reconciler.solver import Effort
from reconciler.solver.packing.solving import solve
from reconciler.solver.renewal.renew import renew

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from growth.api.files import Manifests, Mistake
    from growth.api.meta import CustomResource
    from growth.cli.plan.prices import DataKey
    from growth.scheduling.cluster import Object
    from reconciler import solver
    from reconciler.paper.consolidated import RenewalOnPaper as Consolidated
    from reconciler.paper.planned import PlanOnPaper
    from reconciler.solver import Plan, Renewal, Renewed

NO_POOL = (
    "no NodePool in the files or the cluster: add one with another -f (see docs/examples/kwok)"
)
SAFETY_SECONDS = 120.0
NOTHING_SEEN = SeenCluster(objects=(), resources=(), config_maps={}, unreadable=())


class PlanReading(msgspec.Struct, frozen=True, kw_only=True):
    """The world to plan for, and remarks about the input."""

    world: World
    prices: Prices
    now: Instant
    unreadable: tuple[str, ...]
    """Objects of the cluster that were left out."""
    manifests: WhatRuns
    """The objects in the files, and remarks about them."""


def plan_for_world(
    world: World, *, effort: str, now: Instant, watch: Callable[[Plan], None] | None = None
) -> PlanOnPaper:
    """The plan for a world, searched with the given effort."""
    return plan_offline(world, solving(effort, watch=watch), now=now)


def solving(
    effort: str, *, watch: Callable[[Plan], None] | None = None
) -> Callable[[solver.Problem], Plan]:
    """The solver for pods, with this effort."""

    def answer(problem: solver.Problem) -> Plan:
        return solve(problem, Effort[effort.upper()], seconds=SAFETY_SECONDS, watch=watch)

    return answer


def consolidating(world: World, *, effort: str, now: Instant) -> Consolidated:
    """What could be cheaper in a world, or which limits prevent it."""
    solver = _Solver(Effort[effort.upper()])
    paper = consolidated(world, solver, now=now)
    if paper.goes:
        return paper
    # One search for each limit that is set: to name it, a quick one is good enough.
    quick = _Solver(Effort.QUICK)
    return msgspec.structs.replace(paper, hindrance=hindrance(world, quick, now=now))


class _Solver:
    """The solver for both questions, with one effort."""

    def __init__(self, effort: Effort) -> None:
        self._effort = effort

    def search(self, question: Renewal) -> Renewed:
        """Find nodes that can be removed."""
        return renew(question, self._effort, seconds=SAFETY_SECONDS)

    def plan(self, question: solver.Problem) -> Plan:
        """Plan places for their pods."""
        return solve(question, self._effort, seconds=SAFETY_SECONDS)


def plan_reading(
    arguments: argparse.Namespace, *, resized: Callable[[WhatRuns], WhatRuns] | None = None
) -> PlanReading:
    """What files and cluster describe; raises with all mistakes in the files.

    `resized` may give the workloads of the files another size.
    """
    prices = prices_from(arguments.catalogue)
    manifests = inputs.read_inputs(inputs.manifest_texts(arguments.files))
    live, now = _live(arguments)
    files = plan_manifests.what_runs(manifests.others, PlannedReplicas(arguments.replicas))
    left_out = (*files.left_out, *plan_manifests.hvpas_left_out(manifests.resources))
    files = msgspec.structs.replace(files, left_out=left_out)
    files = files if resized is None else resized(files)
    written = _objects(manifests, files, live)
    seen = as_believed(live.objects, live.records)
    return PlanReading(
        world=world(
            overlaid(seen, written, owners_in(body for _, body in files.objects)),
            tuple(with_files_applied(live.resources, (one for _, one in manifests.resources))),
            prices,
            config_maps={**live.config_maps, **dict(_config_maps(manifests))},
            now=now,
        ),
        prices=prices,
        now=now,
        unreadable=live.unreadable,
        manifests=files,
    )


def _live(arguments: argparse.Namespace) -> tuple[SeenCluster, Instant]:
    """The cluster below the files, and the time that is planned for."""
    if arguments.from_bundle:
        return open_bundle(arguments.from_bundle)
    live = completed(see_cluster(arguments)) if arguments.from_cluster else NOTHING_SEEN
    return live, Instant(0.0, wall_clock())


def _objects(manifests: Manifests, files: WhatRuns, live: SeenCluster) -> list[Object]:
    """The objects in the files, if there are no mistakes in them."""
    known = [(each.kind, each.name) for each in live.resources]
    mistakes = list(references.missing_node_classes(manifests, known=known))
    mistakes += [*_without_default(manifests, known), *files.mistakes]
    objects: list[Object] = []
    for found, body in files.objects:
        try:
            objects += _judged(body)
        except (msgspec.ValidationError, ValueError) as error:
            mistakes.append(found.mistake(_problem(error)))
    if mistakes:
        raise inputs.mistakes_of_inputs(Mistakes(mistakes))
    return objects


def _config_maps(manifests: Manifests) -> Iterator[tuple[DataKey, str]]:
    """The data of the files' ConfigMaps; only text counts."""
    for found in manifests.others:
        if found.kind == "ConfigMap":
            metadata, data = found.body.get("metadata") or {}, found.body.get("data") or {}
            for key, text in data.items():
                yield (str(metadata.get("namespace", "default")), found.name, key), str(text)


def _without_default(manifests: Manifests, known: Sequence[tuple[str, str]]) -> Iterator[Mistake]:
    """Mistakes of pools that name no class, if there is no single default class."""
    own = {(found.kind, found.name) for found, _ in manifests.resources}
    there = [kind for kind in NODE_CLASSES if (kind, DEFAULT_NODE_CLASS) in own | set(known)]
    if len(there) == 1:
        return
    problem = (
        'several node classes are called "default": set nodeClassRef'
        if there
        else 'no node class is called "default": add its file (see docs/examples), or set '
        "nodeClassRef"
    )
    for found, one in manifests.resources:
        if isinstance(one, NodePool) and one.spec.node_class_ref is None:
            yield found.mistake(DocumentProblem(path=("spec",), text=problem))


def _judged(document: Mapping[str, Any]) -> Iterator[Object]:
    """The objects, each read as the plan reads it, so that invalid quantities are found here."""
    for each in expanded(document):
        if isinstance(each, Pod):
            _ = each.shape
        yield each


def _problem(error: Exception) -> DocumentProblem:
    text, _, where = str(error).partition(" - at `$")
    steps = where.rstrip("`").replace("[...]", "").strip(".").split(".") if where else []
    return DocumentProblem(path=tuple(step for step in steps if step), text=text)


def world(
    objects: Iterable[Object],
    resources: Sequence[CustomResource],
    prices: Prices,
    *,
    config_maps: Mapping[DataKey, str],
    now: Instant,
) -> World:
    """The world of these objects: those of the scheduler, and growth's own."""
    known = tuple(objects)
    pools = [one for one in resources if isinstance(one, NodePool)]
    classes = {ClassKey(one.kind, one.name): one for one in resources if isinstance(one, NodeClass)}
    if not pools:
        raise Misconfigured(NO_POOL)
    return world_of(
        known,
        pools=pools,
        node_classes=dict(classes),
        offerings=offerings_by_class(dict(classes), prices, config_maps=config_maps, now=now.wall),
        requests=[one for one in resources if isinstance(one, NodeRequest)],
        records=[one for one in resources if isinstance(one, NodeRecord)],
    )
