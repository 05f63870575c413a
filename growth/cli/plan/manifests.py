"""Which pods run after manifests are applied: Helm's hooks are done, autoscalers have acted.

`helm template` also prints what Helm runs beside a release (tests, migrations), marked by an
annotation. A HorizontalPodAutoscaler keeps the replicas between two numbers, whatever its target
says. Objects of unknown kinds may create pods too. They are listed by name, because a plan that
silently ignored them would look like advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from pydantic import ValidationError

from growth.api.bounds import Count
from growth.api.files import FileObject, Mistake
from growth.api.hvpa import Hvpa
from growth.api.model import Model
from growth.api.problems import DocumentProblem, problems_of
from growth.scheduling.expansion import AS_THEY_ARE, WITH_REPLICAS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.meta import CustomResource

HOOK: Final = "helm.sh/hook"
AUTOSCALER: Final = "HorizontalPodAutoscaler"
UNDERSTOOD: Final = AS_THEY_ARE.keys() | WITH_REPLICAS | {"Pod", "Job", "CronJob", AUTOSCALER}
REFERENCES: Final = {"VerticalPodAutoscaler": "targetRef"}
"""Where these kinds name the workload that they scale; a targetRef of other kinds is ignored."""
SCALE_REFERENCE: Final = "scaleTargetRef"
"""The field in which any kind names the workload that it scales."""
Target = tuple[str, str, str]
"""Kind, namespace and name."""


class PlannedReplicas(StrEnum):
    """Which number of replicas of an autoscaler is planned."""

    MIN = "min"
    MAX = "max"


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """An object in the files that isn't part of the plan."""

    object: str
    """Kind and name."""
    reason: str


class Autoscaled(msgspec.Struct, frozen=True, kw_only=True):
    """A workload whose number of replicas an autoscaler sets."""

    workload: str
    replicas: int
    """The number that is planned."""
    minimum: int
    maximum: int


class WhatRuns(msgspec.Struct, frozen=True, kw_only=True):
    """The objects that are planned, and remarks about the others."""

    objects: tuple[tuple[FileObject, Mapping[str, Any]], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    autoscaled: tuple[Autoscaled, ...] = ()
    mistakes: tuple[Mistake, ...] = ()


class _TargetReference(Model):
    kind: str
    name: str


class _AutoscalerSpec(Model):
    """The fields that all versions of the kind have."""

    scale_target_ref: _TargetReference
    max_replicas: Count
    min_replicas: Count | None = None

    @property
    def least(self) -> int:
        """The minimum; Kubernetes' default is 1."""
        return 1 if self.min_replicas is None else self.min_replicas


class _Autoscaler(NamedTuple):
    found: FileObject
    spec: _AutoscalerSpec


Scaling = Mapping[Target, _Autoscaler]
"""Autoscalers by their targets."""


def what_runs(found: Iterable[FileObject], replicas: PlannedReplicas) -> WhatRuns:
    """The objects that create pods, with the replicas that they would have."""
    known = list(found)
    stays = [each for each in known if not _hook_of(each)]
    scaling, mistakes = _autoscalers(stays)
    return WhatRuns(
        objects=tuple((each, _scaled(each, scaling, replicas)) for each in stays),
        left_out=(*_hooks(known), *_unknown(stays), *_without_target(scaling, known)),
        autoscaled=tuple(_autoscaled(stays, scaling, replicas)),
        mistakes=tuple(mistakes),
    )


def _autoscalers(found: Iterable[FileObject]) -> tuple[Scaling, list[Mistake]]:
    """The autoscalers by target; raises for those that can't be read."""
    scaling: dict[Target, _Autoscaler] = {}
    mistakes = []
    for each in found:
        if each.kind != AUTOSCALER:
            continue
        try:
            spec = _AutoscalerSpec.model_validate(_mapping(each.body.get("spec")))
        except ValidationError as error:
            wrong = problems_of(error, _AutoscalerSpec)
            mistakes += [each.mistake(replace(one, path=("spec", *one.path))) for one in wrong]
            continue
        reference = spec.scale_target_ref
        scaling[reference.kind, namespace_in_file(each), reference.name] = _Autoscaler(each, spec)
        if spec.least > spec.max_replicas:
            text = f"{spec.least} is above maxReplicas ({spec.max_replicas})"
            mistakes.append(each.mistake(DocumentProblem(path=("spec", "minReplicas"), text=text)))
    return scaling, mistakes


def _scaled(found: FileObject, scaling: Scaling, replicas: PlannedReplicas) -> Mapping[str, Any]:
    """The document with the number of replicas that its autoscaler sets."""
    count = _count(found, scaling, replicas)
    if count is None:
        return found.body
    return {**found.body, "spec": {**_mapping(found.body.get("spec")), "replicas": count}}


def _count(found: FileObject, scaling: Scaling, replicas: PlannedReplicas) -> int | None:
    """The number of replicas that an autoscaler sets; None if the document itself decides."""
    if found.kind not in WITH_REPLICAS or workload_key(found) not in scaling:
        return None
    # Kubernetes: an autoscaler leaves a target alone that is scaled to 0.
    if _mapping(found.body.get("spec")).get("replicas") == 0:
        return None
    spec = scaling[workload_key(found)].spec
    return spec.least if replicas is PlannedReplicas.MIN else spec.max_replicas


def _autoscaled(
    found: Iterable[FileObject], scaling: Scaling, replicas: PlannedReplicas
) -> Iterator[Autoscaled]:
    for each in found:
        if (count := _count(each, scaling, replicas)) is not None:
            spec = scaling[workload_key(each)].spec
            yield Autoscaled(
                workload=_written(each),
                replicas=count,
                minimum=spec.least,
                maximum=spec.max_replicas,
            )


def _hooks(found: Iterable[FileObject]) -> Iterator[LeftOut]:
    for each in found:
        if _makes_pods(each) and (hook := _hook_of(each)):
            yield LeftOut(object=_written(each), reason=f"{HOOK}: {hook}")


def _unknown(found: Iterable[FileObject]) -> Iterator[LeftOut]:
    """Objects of kinds that create or change pods in unknown ways."""
    for each in found:
        if each.kind in UNDERSTOOD:
            continue
        if _makes_pods(each):
            reason = f"growth doesn't know which pods a {each.kind} creates"
            yield LeftOut(object=_written(each), reason=reason)
        elif REFERENCES.get(each.kind, SCALE_REFERENCE) in _mapping(each.body.get("spec")):
            reason = f"growth doesn't know how a {each.kind} changes its target"
            yield LeftOut(object=_written(each), reason=reason)


def hvpas_left_out(found: Iterable[tuple[FileObject, CustomResource]]) -> Iterator[LeftOut]:
    """Hvpas, which have a command of their own."""
    for each, resource in found:
        if isinstance(resource, Hvpa):
            reason = "its workload is planned as it is written; see growth plan hvpa"
            yield LeftOut(object=_written(each), reason=reason)


def _without_target(scaling: Scaling, found: Iterable[FileObject]) -> Iterator[LeftOut]:
    hooks = {workload_key(each): _hook_of(each) for each in found}
    for target, autoscaler in scaling.items():
        hook = hooks.get(target)
        if hook == "":
            continue
        kind, namespace, name = target
        lacks = "isn't in the files" if hook is None else f"is a hook ({HOOK}: {hook})"
        reason = f"its target, {kind} {namespace}/{name}, {lacks}"
        yield LeftOut(object=_written(autoscaler.found), reason=reason)


def _hook_of(found: FileObject) -> str:
    """The hook on which Helm runs it; empty if it belongs to the release."""
    annotations = _mapping(_mapping(found.body.get("metadata")).get("annotations"))
    return str(annotations.get(HOOK, ""))


def _makes_pods(found: FileObject) -> bool:
    """Whether it is a pod, or has a pod template."""
    if found.kind in {"Pod", "CronJob"}:
        return True
    template = _mapping(_mapping(found.body.get("spec")).get("template"))
    return "containers" in _mapping(template.get("spec"))


def workload_key(found: FileObject) -> Target:
    """What an autoscaler names as its target, with the namespace."""
    return found.kind, namespace_in_file(found), found.name


def namespace_in_file(found: FileObject) -> str:
    """The namespace of an object, or the one that kubectl would take."""
    return str(_mapping(found.body.get("metadata")).get("namespace", "default"))


def _written(found: FileObject) -> str:
    return f"{found.kind} {namespace_in_file(found)}/{found.name}"


def _mapping(value: object) -> Mapping[str, Any]:
    """A part of a document as a mapping; if it isn't one, the mistake is reported elsewhere."""
    return value if isinstance(value, Mapping) else {}
