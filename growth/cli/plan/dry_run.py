"""`growth plan hvpa --from-cluster`: what an Hvpa in a file would do now, and why not.

The workload, its pods and the HPA and VPA that watch it are read; nothing is written. What happened
before isn't known: stabilisation has no last change, and a VPA is believed as if the number of
replicas had always been the present one.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import yaml

from growth.cli.cluster.connecting import completed, connected
from growth.cli.plan import dry_run_printing as printing
from growth.clocks import wall_clock
from growth.errors import Misconfigured
from growth.kube.reads import Reads
from growth.scheduling.expansion import WITH_REPLICAS
from growth.scheduling.pod import Pod
from growth.scheduling.resources import CPU, MEMORY, parse_one
from sizing.rule.amounts import Sized
from sizing.rule.blocking import Occasion
from sizing.rule.evidence import reason_to_doubt
from sizing.rule.sizing import (
    PresentSize,
    Recommendation,
    SizeDecision,
    SizeSource,
    size_of_workload,
    vpa_totals,
)
from sizing.rule.sources import hpa_reading, vpa_reading
from sizing.spec import sizing_rules

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from growth.api.hvpa import Hvpa

Json = dict[str, Any]
ENDED: Final = frozenset({"Succeeded", "Failed"})
HPAS: Final = "/apis/autoscaling/v2/namespaces/{}/horizontalpodautoscalers"
VPAS: Final = "/apis/autoscaling.k8s.io/v1/namespaces/{}/verticalpodautoscalers"
CHECKPOINTS: Final = "/apis/autoscaling.k8s.io/v1/namespaces/{}/verticalpodautoscalercheckpoints"


class SeenSizing(NamedTuple):
    """What the cluster has of a workload."""

    workload: Json
    pods: list[Json]
    hpas: list[Json]
    vpas: list[Json]
    checkpoints: list[Json]


class DryRun(NamedTuple):
    """Everything that is printed."""

    hvpa: str
    workload: str
    said: tuple[Recommendation, ...]
    decision: SizeDecision
    present: PresentSize
    remarks: tuple[str, ...]


def print_dry_run(arguments: argparse.Namespace, hvpa: Hvpa, namespace: str) -> int:
    """Print what the Hvpa would do now."""
    seen = completed(_look(arguments, hvpa, namespace))
    report = dry_run(hvpa, namespace, seen, wall_clock())
    match arguments.output:
        case "json":
            print(json.dumps(printing.dry_run_document(report), indent=2))
        case "yaml":
            print(yaml.safe_dump(printing.dry_run_document(report), sort_keys=False), end="")
        case _:
            print("\n".join(printing.dry_run_lines(report)))
    return 0


async def _look(arguments: argparse.Namespace, hvpa: Hvpa, namespace: str) -> SeenSizing:
    async with connected(arguments) as connection:
        return await see_sizing(Reads(connection), hvpa, namespace)


async def see_sizing(reads: Reads, hvpa: Hvpa, namespace: str) -> SeenSizing:
    """Read the workload and what watches it."""
    target = hvpa.spec.target_ref
    if target.kind not in WITH_REPLICAS:
        kinds = ", ".join(sorted(WITH_REPLICAS))
        raise Misconfigured(
            f"growth plan hvpa: {target.kind} {target.name}: only {kinds} have sizes"
        )
    collection = f"/apis/{target.api_version}/namespaces/{namespace}/{target.kind.lower()}s"
    workload = await reads.found(f"{collection}/{target.name}")
    if workload is None:
        raise Misconfigured(
            f"growth plan hvpa: {target.kind} {target.name} isn't in namespace {namespace} of the "
            "cluster: check targetRef and the namespace of the Hvpa"
        )
    selector = {"labelSelector": _selector(workload)}
    return SeenSizing(
        workload=workload,
        pods=await reads.listed(f"/api/v1/namespaces/{namespace}/pods", selector),
        hpas=[
            each
            for each in await reads.listed(HPAS.format(namespace))
            if _is_for(each, "scaleTargetRef", hvpa)
        ],
        vpas=[
            each
            for each in await reads.listed(VPAS.format(namespace))
            if _is_for(each, "targetRef", hvpa)
        ],
        checkpoints=await reads.listed(CHECKPOINTS.format(namespace)),
    )


def _selector(workload: Json) -> str:
    """The pods of a workload; what it selects by expressions is part of its labels, too."""
    labels = workload["spec"]["selector"].get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _is_for(watcher: Json, field: str, hvpa: Hvpa) -> bool:
    reference = (watcher.get("spec") or {}).get(field) or {}
    target = hvpa.spec.target_ref
    return (reference.get("kind"), reference.get("name")) == (target.kind, target.name)


def dry_run(hvpa: Hvpa, namespace: str, seen: SeenSizing, now: datetime) -> DryRun:
    """What the rule decides on what is seen."""
    present = _present(seen)
    said = tuple(_recommendations(hvpa, seen, present))
    containers = {part.container for part in present.requests}
    rules = sizing_rules(hvpa.spec, sorted(containers))
    reference = hvpa.spec.target_ref
    return DryRun(
        hvpa=f"{namespace}/{hvpa.name}",
        workload=f"{reference.kind} {reference.name}",
        said=said,
        decision=size_of_workload(rules, present, said, Occasion(now=now)),
        present=present,
        remarks=tuple(_remarks(seen)),
    )


def _present(seen: SeenSizing) -> PresentSize:
    """The largest of all pods; before there are any, nothing is known."""
    sizes: dict[str, dict[Sized, Fraction]] = {"requests": {}, "limits": {}}
    pods = [msgspec.convert(each, Pod) for each in seen.pods if _runs(each)]
    for container in (one for pod in pods for one in pod.spec.containers):
        for name in (CPU, MEMORY) if container.resources else ():
            for which, found in sizes.items():
                amount = getattr(container.resources, which).get(name)
                if amount is not None:
                    part, exact = Sized(container.name, name), Fraction(parse_one(name, amount))
                    found[part] = max(exact, found.get(part, exact))
    replicas = seen.workload["spec"].get("replicas", 1)
    return PresentSize(replicas=replicas, requests=sizes["requests"], limits=sizes["limits"])


def _runs(pod: Mapping[str, Any]) -> bool:
    is_going = "deletionTimestamp" in pod.get("metadata", {})
    return not is_going and pod.get("status", {}).get("phase") not in ENDED


def _recommendations(
    hvpa: Hvpa, seen: SeenSizing, present: PresentSize
) -> Iterator[Recommendation]:
    if hvpa.spec.hpa.deploy:
        yield _of_hpas(seen.hpas, present)
    if hvpa.spec.vpa.deploy:
        yield _of_vpas(seen, present)


def _of_hpas(hpas: list[Json], present: PresentSize) -> Recommendation:
    if len(hpas) != 1:
        return Recommendation(source=SizeSource.HPA, doubt=_count_doubt(hpas))
    said = hpa_reading(hpas[0], present.requests, present.replicas)
    return Recommendation(source=SizeSource.HPA, totals=said.totals, doubt=said.doubt)


def _of_vpas(seen: SeenSizing, present: PresentSize) -> Recommendation:
    if len(seen.vpas) != 1:
        return Recommendation(source=SizeSource.VPA, doubt=_count_doubt(seen.vpas))
    said = vpa_reading(seen.vpas[0], seen.checkpoints)
    return Recommendation(
        source=SizeSource.VPA,
        totals=vpa_totals(present.replicas, said.targets),
        doubt=reason_to_doubt(said.conditions, said.samples),
    )


def _count_doubt(found: list[Json]) -> str:
    names = ", ".join(str(each["metadata"]["name"]) for each in found)
    return f"{names} scale the same workload" if found else "there is none for this workload"


def _remarks(seen: SeenSizing) -> Iterator[str]:
    """Who else changes the workload now."""
    for each in seen.vpas:
        mode = (each["spec"].get("updatePolicy") or {}).get("updateMode", "Recreate")
        if mode != "Off":
            yield f"VPA {each['metadata']['name']} changes pods itself: its updateMode is {mode}"
    for each in seen.hpas:
        ways = (each["spec"].get("behavior") or {}).values()
        if [way.get("selectPolicy") for way in ways].count("Disabled") < 2:
            yield f"HPA {each['metadata']['name']} changes the number of replicas itself"
