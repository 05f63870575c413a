"""A workload on a virtual clock: its load, its pods, and an HPA and a VPA that watch it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from sizing.rule.applying import (
    ApplyRules,
    EvictForSize,
    ResizePod,
    ResizeProgress,
    SetReplicas,
    SizedPod,
    SizedWorkload,
)
from sizing.rule.sizing import WorkloadSize
from sizing.rule.workload import (
    HpaReading,
    SizingMemory,
    SizingSight,
    VpaReading,
    size_pass,
)
from tests.sizing.build import MAIN, NOW, rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sizing.rule.amounts import Sized
    from sizing.rule.applying import SizingStep
    from sizing.rule.sizing import SizingRules
    from sizing.rule.workload import SizingPass

PASS = timedelta(minutes=1)
BOOT = 2
"""Passes until a new pod is ready."""
HEADROOM = Fraction(115, 100)


@dataclass
class LivingWorkload:
    """One container of a workload, whose pods share its load evenly."""

    load: Callable[[float], float]
    """CPU in use at a minute, of all pods."""
    by: SizingRules = field(default_factory=rules)
    applying: ApplyRules = field(default_factory=ApplyRules)
    half_life: float = 24 * 60
    """Of the VPA's memory, in minutes."""
    has_hpa: bool = False
    now: datetime = NOW
    replicas: int = 1
    pods: list[SizedPod] = field(default_factory=list)
    memory: SizingMemory = field(default_factory=SizingMemory)
    samples: int = 99
    target: Fraction = Fraction(0)
    """What the VPA recommends for one pod."""
    is_full: bool = False
    """Whether nodes have no room for growing pods."""
    owner_refuses: bool = False
    """Whether somebody else owns the number of replicas."""
    refused_at: datetime | None = None
    is_rolling_out: bool = False
    replicas_over_time: list[int] = field(default_factory=list)
    written: list[tuple[datetime, SizingStep]] = field(default_factory=list)
    tells: SizingPass | None = None
    """The last pass."""
    _made: int = 0
    _size: dict[Sized, int] = field(default_factory=dict)
    """What the webhook gives to new pods."""

    def __post_init__(self) -> None:
        use = self.use / self.replicas
        self.target = self.target or use * HEADROOM
        self._size = self._size or {MAIN: -int(-self.target // 1)}
        self._fill()
        self.pods = [replace(pod, is_ready=True) for pod in self.pods]

    @property
    def minute(self) -> float:
        return (self.now - NOW) / PASS

    @property
    def use(self) -> Fraction:
        return Fraction(round(self.load(self.minute) * 1000))

    @property
    def capacity(self) -> int:
        """CPU of all pods that are ready."""
        return sum(pod.requests[MAIN] for pod in self.pods if pod.is_ready)

    def live(self, minutes: float, *, dies_after: Callable[[], int | None] = lambda: None) -> None:
        """So many minutes; in each pass the process may die after some of its writes."""
        for _ in range(int(minutes)):
            self.one_pass(dies_after())
            self.now += PASS
            self._boot()
            decay = Fraction(0.5 ** (1 / self.half_life)).limit_denominator(10**6)
            self.target = max(self.target * decay, self.use / self.replicas * HEADROOM)
            self.replicas_over_time.append(self.replicas)

    def one_pass(self, survives: int | None = None) -> None:
        self.tells = size_pass(self.by, self.applying, self.sight(), self.memory, self.now)
        # The record is written before anything is done.
        self.memory = self.tells.memory
        if self.memory.intent is not None:
            self._size = dict(self.memory.intent.requests)
        for step in self.tells.next.steps[:survives]:
            self._write(step)

    def sight(self) -> SizingSight:
        totals = {MAIN: self.use / Fraction(8, 10)}
        return SizingSight(
            workload=SizedWorkload(
                replicas=self.replicas,
                pods=tuple(self.pods),
                is_rolling_out=self.is_rolling_out,
                refused_at=self.refused_at,
            ),
            vpa=VpaReading(
                targets={MAIN: self.target},
                conditions={"RecommendationProvided": "True"},
                samples=self.samples,
            ),
            hpa=HpaReading(totals=totals) if self.has_hpa else None,
            used={MAIN: self.use},
        )

    @property
    def changes_of_replicas(self) -> int:
        counts = self.replicas_over_time
        return sum(one != other for one, other in itertools.pairwise(counts))

    def size(self) -> WorkloadSize:
        return WorkloadSize(replicas=self.replicas, requests=self.pods[0].requests, limits={})

    def _write(self, step: SizingStep) -> None:
        self.written.append((self.now, step))
        match step:
            case SetReplicas(count):
                if self.owner_refuses:
                    self.refused_at = self.now
                    return
                self.replicas = count
                self._fill()
                del self.pods[count:]
            case ResizePod(name):
                self.pods = [self._resized(p) if p.name == name else p for p in self.pods]
            case EvictForSize(name):
                self.pods = [pod for pod in self.pods if pod.name != name]
                self._fill()

    def _resized(self, pod: SizedPod) -> SizedPod:
        grows = self._size[MAIN] > pod.requests[MAIN]
        if self.is_full and grows:
            return replace(pod, progress=ResizeProgress.DEFERRED, since=self.now)
        return replace(pod, requests=dict(self._size))

    def _fill(self) -> None:
        while len(self.pods) < self.replicas:
            self._made += 1
            new = SizedPod(name=f"pod-{self._made}", requests=dict(self._size), is_ready=False)
            self.pods.append(replace(new, since=self.now))

    def _boot(self) -> None:
        self.pods = [
            pod if pod.is_ready else replace(pod, is_ready=self._is_booted(pod))
            for pod in self.pods
        ]

    def _is_booted(self, pod: SizedPod) -> bool:
        return pod.since is not None and self.now - pod.since >= BOOT * PASS


def steady(cores: float) -> Callable[[float], float]:
    return lambda _: cores


def stepping(*steps: tuple[float, float]) -> Callable[[float], float]:
    """From each of these minutes on, so many cores."""

    def load(minute: float) -> float:
        return [cores for since, cores in steps if since <= minute][-1]

    return load


def ramp(low: float, high: float, minutes: float) -> Callable[[float], float]:
    """Up from the lowest to the highest load, and down again."""

    def load(minute: float) -> float:
        way = min(minute, 2 * minutes - minute) / minutes
        return low + (high - low) * max(way, 0)

    return load
