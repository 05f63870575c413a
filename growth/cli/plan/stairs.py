"""`growth plan hvpa`: the staircase of a workload's size, with nodes and cost of each stair.

The sizes come from the rule of `sizing`. If the files contain the workload and pools, each stair is
planned like any other workload, with the replicas and the size that it has at its largest load.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from copy import deepcopy
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import yaml

from growth.api.files import Mistakes
from growth.api.hvpa import Hvpa
from growth.api.nodepool import NodePool
from growth.api.problems import DocumentProblem
from growth.cli.plan import stairs_printing as printing
from growth.cli.plan.dry_run import print_dry_run
from growth.cli.plan.loads import PlannedLoad, planned_loads
from growth.cli.plan.manifests import namespace_in_file, workload_key
from growth.cli.plan.reading import plan_for_world, plan_reading
from growth.cli.terminal import inputs
from growth.errors import Misconfigured
from growth.scheduling.expansion import WITH_REPLICAS, expanded
from growth.scheduling.pod import Pod
from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.rule.amounts import Sized
from sizing.rule.intervals import IntervalsInvalid
from sizing.rule.sizing import PresentSize
from sizing.rule.staircase import LoadRange, Stair, staircase
from sizing.spec import sizing_rules

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from growth.api.files import FileObject, Manifests
    from growth.cli.plan.manifests import WhatRuns
    from growth.scheduling.containers import Container
    from reconciler.paper.planned import PlanOnPaper
    from sizing.rule.intervals import EffectiveInterval
    from sizing.rule.sizing import WorkloadSize
    from sizing.rule.staircase import Staircase

CONTAINER = "main"
"""The container of a workload that isn't in the files."""


class PlannedStair(NamedTuple):
    """A stair, and the plan of its size at its largest load."""

    stair: Stair
    paper: PlanOnPaper | None
    """None if there is nothing to plan with."""


class StairsReport(NamedTuple):
    """Everything that is printed."""

    hvpa: str
    workload: str
    container: str
    loads: tuple[PlannedLoad, ...]
    intervals: tuple[EffectiveInterval, ...]
    up: tuple[PlannedStair, ...]
    down: tuple[PlannedStair, ...]

    @property
    def all_stairs(self) -> tuple[PlannedStair, ...]:
        """Both ways."""
        return (*self.up, *self.down)


def print_stairs(arguments: argparse.Namespace) -> int:
    """Print the staircase. The exit code is 1 if some pod has no place."""
    _refuse_other_words(arguments)
    if arguments.from_cluster:
        return _print_dry_run(arguments)
    report = _report(arguments)
    match arguments.output:
        case "json":
            print(json.dumps(printing.stairs_document(report), indent=2))
        case "yaml":
            print(yaml.safe_dump(printing.stairs_document(report), sort_keys=False), end="")
        case _:
            print("\n".join(printing.stairs_table(report)))
    papers = [each.paper for each in report.all_stairs if each.paper is not None]
    return int(any(paper.unplaced for paper in papers))


def _refuse_other_words(arguments: argparse.Namespace) -> None:
    for flag in ("from_bundle", "consolidate"):
        if getattr(arguments, flag):
            raise Misconfigured(
                f"growth plan hvpa: --{flag.replace('_', '-')} doesn't go with hvpa"
            )
    if arguments.output == "requests":
        raise Misconfigured("growth plan hvpa: use -o text, json or yaml")
    if not arguments.files:
        raise Misconfigured("growth plan hvpa: use -f FILE with an Hvpa")


def _print_dry_run(arguments: argparse.Namespace) -> int:
    if arguments.load or arguments.container:
        raise Misconfigured(
            "growth plan hvpa: --from-cluster shows what would be done now: leave --load out"
        )
    where, hvpa = _hvpa_of(inputs.read_inputs(inputs.manifest_texts(arguments.files)))
    with _telling_gaps(where):
        return print_dry_run(arguments, hvpa, namespace_in_file(where))


@contextmanager
def _telling_gaps(where: FileObject) -> Iterator[None]:
    """Tell mistakes of the intervals with their line in the file."""
    try:
        yield
    except IntervalsInvalid as error:
        path = ("spec", "scalingIntervals", error.place)
        mistake = where.mistake(DocumentProblem(path=path, text=error.text))
        raise inputs.mistakes_of_inputs(Mistakes([mistake])) from None


def _report(arguments: argparse.Namespace) -> StairsReport:
    manifests = inputs.read_inputs(inputs.manifest_texts(arguments.files))
    where, hvpa = _hvpa_of(manifests)
    workload = _workload_of(where, hvpa, manifests)
    containers = _containers(workload)
    container = _container(arguments.container, containers)
    loads = planned_loads(arguments.load)
    stairs = _staircase(where, hvpa, containers, container, loads)
    plan = _planning(arguments, manifests, workload)
    reference = hvpa.spec.target_ref
    return StairsReport(
        hvpa=f"{namespace_in_file(where)}/{hvpa.name}",
        workload=f"{reference.kind} {reference.name}",
        container=container,
        loads=tuple(loads),
        intervals=stairs.intervals,
        up=_planned(stairs.up, plan),
        down=_planned(stairs.down, plan),
    )


def _hvpa_of(manifests: Manifests) -> tuple[FileObject, Hvpa]:
    found = [(where, one) for where, one in manifests.resources if isinstance(one, Hvpa)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.name for _, one in found)
        raise Misconfigured(f"growth plan hvpa: the files have {names}: pass the file of one")
    raise Misconfigured("growth plan hvpa: no Hvpa in the files (see docs/examples/sizing)")


def _workload_of(where: FileObject, hvpa: Hvpa, manifests: Manifests) -> FileObject | None:
    reference = hvpa.spec.target_ref
    wanted = (reference.kind, namespace_in_file(where), reference.name)
    return next((each for each in manifests.others if workload_key(each) == wanted), None)


def _containers(workload: FileObject | None) -> dict[str, Container]:
    """The containers of the workload's pods, by name."""
    if workload is None:
        return {}
    one = workload.body | {"spec": {**(workload.body.get("spec") or {}), "replicas": 1}}
    try:
        pods = [each for each in expanded(one) if isinstance(each, Pod)]
    except (msgspec.ValidationError, ValueError) as error:
        problem = workload.mistake(DocumentProblem(path=(), text=str(error)))
        raise inputs.mistakes_of_inputs(Mistakes([problem])) from None
    if workload.kind not in WITH_REPLICAS or not pods:
        kinds = ", ".join(sorted(WITH_REPLICAS))
        raise Misconfigured(f"growth plan hvpa: {workload.title}: only {kinds} have sizes")
    return {each.name: each for each in pods[0].spec.containers}


def _container(wanted: str | None, containers: Mapping[str, Container]) -> str:
    """The container whose load is planned: the first one, unless another is named."""
    known = list(containers) or [wanted or CONTAINER]
    if wanted is not None and wanted not in known:
        raise Misconfigured(f"--container {wanted}: the workload has {', '.join(known)}")
    return wanted or known[0]


def _staircase(
    where: FileObject,
    hvpa: Hvpa,
    containers: Mapping[str, Container],
    container: str,
    loads: Sequence[PlannedLoad],
) -> Staircase:
    with _telling_gaps(where):
        rules = sizing_rules(hvpa.spec, [*containers, container])
    load = LoadRange(
        container=container,
        lowest={each.resource: Fraction(each.lowest) for each in loads},
        highest={each.resource: Fraction(each.highest) for each in loads},
    )
    return staircase(rules, _present(containers, load), load)


def _present(containers: Mapping[str, Container], load: LoadRange) -> PresentSize:
    """One pod with the requests of the workload; what has a load begins with the lowest."""
    sizes: dict[str, dict[Sized, Fraction]] = {"requests": {}, "limits": {}}
    for each in containers.values():
        for name in (CPU, MEMORY) if each.resources else ():
            for which, found in sizes.items():
                amount = getattr(each.resources, which).get(name)
                if amount is not None:
                    found[Sized(each.name, name)] = Fraction(parse_one(name, amount))
    begun = {Sized(load.container, name): amount for name, amount in load.lowest.items()}
    return PresentSize(replicas=1, requests=sizes["requests"] | begun, limits=sizes["limits"])


def _planned(
    stairs: Iterable[Stair], plan: Callable[[WorkloadSize], PlanOnPaper] | None
) -> tuple[PlannedStair, ...]:
    """Each stair with the plan of its size at its largest load."""
    return tuple(PlannedStair(each, plan and plan(each.largest.size)) for each in stairs)


def _planning(
    arguments: argparse.Namespace, manifests: Manifests, workload: FileObject | None
) -> Callable[[WorkloadSize], PlanOnPaper] | None:
    """What plans one size, each once; None without a workload and pools to plan with."""
    if workload is None or not any(isinstance(one, NodePool) for _, one in manifests.resources):
        return None
    known: dict[str, PlanOnPaper] = {}

    def plan(size: WorkloadSize) -> PlanOnPaper:
        if repr(size) not in known:
            read = plan_reading(arguments, resized=partial(_resized, workload, size))
            known[repr(size)] = plan_for_world(read.world, effort=arguments.effort, now=read.now)
        return known[repr(size)]

    return plan


def _resized(workload: FileObject, size: WorkloadSize, files: WhatRuns) -> WhatRuns:
    """The files with the workload in this size, whatever an autoscaler in them says."""
    return msgspec.structs.replace(
        files,
        objects=tuple(
            (
                found,
                _with_size(body, size) if workload_key(found) == workload_key(workload) else body,
            )
            for found, body in files.objects
        ),
    )


def _with_size(body: Mapping[str, Any], size: WorkloadSize) -> dict[str, Any]:
    whole = deepcopy(dict(body))
    whole["spec"]["replicas"] = size.replicas
    for each in whole["spec"]["template"]["spec"]["containers"]:
        for which, amounts in (("requests", size.requests), ("limits", size.limits)):
            written = {
                part.resource: f"{amount}m" if part.resource == CPU else str(amount)
                for part, amount in amounts.items()
                if part.container == each["name"]
            }
            resources = each.setdefault("resources", {})
            resources[which] = (resources.get(which) or {}) | written
    return whole
