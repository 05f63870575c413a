"""Reads what pods really use from metrics.k8s.io, while there is an Hvpa.

It only checks what is decided by HPAs and VPAs: a memory limit stays above the use, a container
that uses up its request may grow by less than minChange, and a load that grows after a change of
replicas is seen here first. Without it, memory limits aren't lowered.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec
import structlog

from growth.errors import GrowthError
from growth.foreign_text import time_or_none
from growth.kube.cache.resource import Key
from growth.scheduling.quantity import Amount
from growth.scheduling.resources import parse_one
from sizing.rule.amounts import Sized
from sizing.seeing.objects import RESIZED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from growth.kube.reads import Reads

_log = structlog.get_logger(__name__)

PATH: Final = "/apis/metrics.k8s.io/v1beta1/pods"
READ_EVERY: Final = 30.0
OLDEST: Final = timedelta(minutes=3)
"""An older figure says nothing any more."""


class UsedPlace(msgspec.Struct, frozen=True, gc=False):
    """The name of a pod."""

    name: str
    namespace: str


class UsedByContainer(msgspec.Struct, frozen=True, gc=False):
    """What a container uses."""

    name: str
    usage: dict[str, Amount] = {}


class UsedByPod(msgspec.Struct, frozen=True, gc=False):
    """One entry of the list."""

    metadata: UsedPlace
    timestamp: str = ""
    containers: tuple[UsedByContainer, ...] = ()


def used_by_pods(items: Iterable[bytes], now: datetime) -> dict[Key, dict[Sized, int]]:
    """What each pod uses; what can't be read or is too old is left out."""
    found: dict[Key, dict[Sized, int]] = {}
    for item in items:
        try:
            pod = msgspec.json.decode(item, type=UsedByPod)
            amounts = dict(_amounts_used(pod))
        except (msgspec.MsgspecError, ValueError):
            continue
        at = time_or_none(pod.timestamp)
        if at is not None and abs(now - at) < OLDEST:
            found[Key(pod.metadata.namespace, pod.metadata.name)] = amounts
    return found


def _amounts_used(pod: UsedByPod) -> Iterator[tuple[Sized, int]]:
    for container in pod.containers:
        for name in RESIZED:
            if name in container.usage:
                amount = parse_one(name, container.usage[name])
                if amount < 0:
                    raise ValueError(f"{name} is negative")
                yield Sized(container.name, name), amount


@dataclass(kw_only=True)
class PodUseReader:
    """Keeps the use current."""

    reads: Reads
    wanted: Callable[[], bool]
    """Whether anything is sized at all."""
    now: Callable[[], datetime]
    known: Mapping[Key, Mapping[Sized, int]] = field(default_factory=dict)
    problem: str = ""
    """Why nothing is known."""

    async def run(self) -> None:
        """Read again and again until cancelled."""
        while True:
            if self.wanted():
                await self.read()
            await asyncio.sleep(READ_EVERY)

    async def read(self) -> None:
        """Read once. What was known before a failure isn't true any more."""
        try:
            items = await self.reads.undecoded(PATH)
        except GrowthError as error:
            if not self.problem:
                _log.warning("the use of pods isn't known", reason=str(error))
            self.known, self.problem = {}, str(error)
            return
        self.known, self.problem = used_by_pods(items, self.now()), ""
