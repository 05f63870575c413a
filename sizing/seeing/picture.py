"""From objects to the world that is decided on."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from growth.kube.cache.resource import Key
from growth.scheduling.resources import MEMORY
from sizing.core.world import HvpaInWorld, SightOfTarget, SizingMode, SizingWorld
from sizing.remembering import memory_in
from sizing.rule.applying import SizedPod, SizedWorkload
from sizing.rule.sources import hpa_reading, only_measures, vpa_reading
from sizing.rule.workload import HpaReading, SizingSight, VpaReading
from sizing.seeing.sources import (
    CHECKPOINTS,
    CHECKPOINTS_BY_VPA,
    HPAS,
    HPAS_BY_TARGET,
    HVPAS,
    PODS,
    PODS_BY_LABEL,
    VPAS,
    VPAS_BY_TARGET,
    WORKLOADS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from growth.api.hvpa import Hvpa
    from growth.scheduling.selectors import Requirement, Selector
    from sizing.rule.amounts import Sized
    from sizing.seeing.objects import PodOfWorkload, ScaledWorkload
    from sizing.seeing.sources import Adviser, SizingSources

THROTTLED: Final = Fraction(9, 10)
"""The part of its request above which a container uses it up."""


def sizing_world(
    sources: SizingSources, used: Mapping[Key, Mapping[Sized, int]], mode: SizingMode
) -> SizingWorld:
    """The world of this moment."""
    scene = SceneOfSizing(sources, used)
    hvpas = sources.objects(HVPAS)
    seen = tuple(scene.seen(key, hvpas[key]) for key in sorted(hvpas))
    return SizingWorld(hvpas=seen, mode=mode)


class SceneOfSizing:
    """Finds what belongs to an Hvpa."""

    def __init__(self, sources: SizingSources, used: Mapping[Key, Mapping[Sized, int]]) -> None:
        self._sources = sources
        self._used = used
        self._no_vpas = sources.why_no_vpas()

    def seen(self, key: Key, hvpa: Hvpa) -> HvpaInWorld:
        """An Hvpa with its workload."""
        reference = hvpa.spec.target_ref
        place = Key(key.namespace, reference.name)
        workload = self._workload(reference.kind, place)
        if workload is None:
            return HvpaInWorld(hvpa=hvpa, target=None, is_current=self._shows(HVPAS, key))
        kind = reference.kind
        found = self._pods(key.namespace, workload.selector)
        pods = [pod for pod in found if pod.runs and pod.is_of(kind, workload.metadata)]
        return HvpaInWorld(
            hvpa=hvpa,
            target=self._target(hvpa, workload, pods),
            is_current=self._shows(HVPAS, key)
            and self._shows(WORKLOADS[reference.kind], place)
            and all(self._shows(PODS, _key(pod)) for pod in pods),
        )

    def _workload(self, kind: str, place: Key) -> ScaledWorkload | None:
        if kind not in WORKLOADS:
            return None
        store = self._sources.store(WORKLOADS[kind])
        found: ScaledWorkload | None = store.get(place.name, namespace=place.namespace)
        is_going = found is not None and found.metadata.deletion_timestamp is not None
        return None if is_going else found

    def _shows(self, name: str, key: Key) -> bool:
        """Whether the cache shows our last write of an object."""
        return not self._sources.store(name).own.is_unseen(key)

    def _target(
        self, hvpa: Hvpa, workload: ScaledWorkload, pods: list[PodOfWorkload]
    ) -> SightOfTarget:
        reference, namespace = hvpa.spec.target_ref, hvpa.metadata.namespace
        place = (namespace, reference.kind, reference.name)
        hpas = list(self._sources.store(HPAS).by(HPAS_BY_TARGET, place).values())
        vpas = list(self._sources.store(VPAS).by(VPAS_BY_TARGET, place).values())
        return SightOfTarget(
            sight=self._sight(hvpa, workload, pods, hpas, vpas),
            selector=selector_text(workload.selector),
            containers=tuple(sorted({each.name for pod in pods for each in pod.spec.containers})),
            others=tuple(_others(hpas, vpas)),
        )

    def _pods(self, namespace: str, selector: Selector) -> list[PodOfWorkload]:
        """The pods that a selector finds, by the first label that it names."""
        labels = ((namespace, each.key, *(each.values or ())) for each in _exact(selector))
        found = self._sources.store(PODS).by(PODS_BY_LABEL, next(labels, (namespace,)))
        return [pod for _, pod in sorted(found.items()) if selector.matches(pod.metadata.labels)]

    def _sight(
        self,
        hvpa: Hvpa,
        workload: ScaledWorkload,
        pods: list[PodOfWorkload],
        hpas: list[Adviser],
        vpas: list[Adviser],
    ) -> SizingSight:
        last_scaled = memory_in(hvpa.status).last_scaled
        uses = [(pod, self._used.get(_key(pod), {})) for pod in pods]
        return SizingSight(
            workload=SizedWorkload(
                replicas=workload.replicas,
                pods=tuple(map(_as_sized, pods)),
                is_paused=workload.spec.paused,
                is_rolling_out=workload.is_rolling_out(hvpa.spec.target_ref.kind),
            ),
            vpa=self._of_vpas(vpas) if hvpa.spec.vpa.deploy else None,
            hpa=_of_hpas(hpas, pods, workload.replicas) if hvpa.spec.hpa.deploy else None,
            used=_in_total(uses),
            peaks=_peaks(uses),
            has_run_out=any(pod.ran_out_after(last_scaled) for pod in pods),
            throttled=frozenset(_throttled(uses)),
        )

    def _of_vpas(self, vpas: list[Adviser]) -> VpaReading:
        if self._no_vpas or len(vpas) != 1:
            return VpaReading(doubt=self._no_vpas or _count_doubt(vpas))
        [vpa] = vpas
        place = (vpa.metadata.namespace, vpa.metadata.name)
        checkpoints = self._sources.store(CHECKPOINTS).by(CHECKPOINTS_BY_VPA, place).values()
        return vpa_reading(vpa.document, [each.document for each in checkpoints])


def _of_hpas(hpas: list[Adviser], pods: list[PodOfWorkload], replicas: int) -> HpaReading:
    if len(hpas) != 1:
        return HpaReading(doubt=_count_doubt(hpas))
    requests: dict[Sized, Fraction] = {}
    for pod in pods:
        for part, amount in pod.requests.items():
            requests[part] = max(Fraction(amount), requests.get(part, Fraction(0)))
    return hpa_reading(hpas[0].document, requests, replicas)


def _count_doubt(found: list[Adviser]) -> str:
    names = ", ".join(sorted(each.metadata.name for each in found))
    return f"{names} are for the same workload" if found else "there is none for this workload"


def _others(hpas: Iterable[Adviser], vpas: Iterable[Adviser]) -> Iterator[str]:
    """Who changes the workload besides, and how to end that."""
    for each in hpas:
        if not only_measures(each.document):
            yield (
                f"HPA {each.metadata.name} changes the replicas itself: set selectPolicy: Disabled "
                "in both directions of its behavior"
            )
    for each in vpas:
        mode = _update_mode(each.document)
        if mode != "Off":
            yield f'VPA {each.metadata.name} changes pods itself: set updateMode: "Off"'


def _update_mode(vpa: Mapping[str, Any]) -> str:
    policy = (vpa.get("spec") or {}).get("updatePolicy") or {}
    return str(policy.get("updateMode", "Recreate"))


def _as_sized(pod: PodOfWorkload) -> SizedPod:
    return SizedPod(
        name=pod.metadata.name,
        requests=pod.requests,
        limits=pod.limits,
        is_ready=pod.is_ready,
        is_resizable=pod.tells_its_size,
        progress=pod.progress,
        since=pod.progress_since,
    )


def _key(pod: PodOfWorkload) -> Key:
    return Key(pod.metadata.namespace, pod.metadata.name)


def _in_total(uses: Iterable[tuple[PodOfWorkload, Mapping[Sized, int]]]) -> dict[Sized, Fraction]:
    """The use of all pods, if it is known of all."""
    found: dict[Sized, Fraction] = {}
    for _, used in uses:
        if not used:
            return {}
        for part, amount in used.items():
            found[part] = found.get(part, Fraction(0)) + amount
    return found


def _peaks(uses: Iterable[tuple[PodOfWorkload, Mapping[Sized, int]]]) -> dict[Sized, Fraction]:
    """The use of the pod that uses most. Memory counts only if it is known of all pods."""
    found: dict[Sized, Fraction] = {}
    unknown: set[Sized] = set()
    for pod, used in uses:
        unknown |= {part for part in pod.limits if part.resource == MEMORY and part not in used}
        for part, amount in used.items():
            found[part] = max(Fraction(amount), found.get(part, Fraction(0)))
    return {part: amount for part, amount in found.items() if part not in unknown}


def _throttled(uses: Iterable[tuple[PodOfWorkload, Mapping[Sized, int]]]) -> Iterator[Sized]:
    for pod, used in uses:
        for part, amount in used.items():
            request = pod.requests.get(part, 0)
            if request and amount >= request * THROTTLED:
                yield part


def _exact(selector: Selector) -> Iterator[Requirement]:
    """The labels that have one value."""
    for each in selector.requirements or ():
        if each.operator == "In" and len(each.values or ()) == 1:
            yield each


def selector_text(selector: Selector) -> str:
    """A selector as `kubectl -l` takes it."""
    return ",".join(map(_condition, selector.requirements or ()))


def _condition(each: Requirement) -> str:
    values = ",".join(each.values or ())
    match each.operator:
        case "Exists":
            return each.key
        case "DoesNotExist":
            return f"!{each.key}"
        case "In" if len(each.values or ()) == 1:
            return f"{each.key}={values}"
        case _:
            return f"{each.key} {each.operator.lower()} ({values})"
