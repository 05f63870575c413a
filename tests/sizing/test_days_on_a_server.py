"""A load that rises and falls: HPA, VPA, kubelets and the process together, with crashes."""

from __future__ import annotations

import itertools
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import pytest

from sizing.core.world import SizingMode
from tests.sizing.living import ramp, stepping
from tests.sizing.server import PASS, SimulatedSizer, a_story, a_vpa, an_hpa, an_hvpa

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sizing.server import Document

MINUTE: Final = timedelta(minutes=1)
FINE: Final = {"minChange": {"cpu": {"value": "50m"}, "memory": {"value": "50M"}}}
"""With the usual least change, a small load would stay with two replicas."""
HEADROOM: Final = 1.15
"""What a VPA adds to what it sees."""


class Day:
    """A pass each minute under a load in cores. Figures are one pass old, as in a cluster."""

    def __init__(
        self, load: Callable[[float], float], *, half_life: float = 10, has_hpa: bool = True
    ) -> None:
        self.load = load
        self.half_life = half_life
        """Of the VPA's memory, in minutes."""
        self.story: SimulatedSizer = a_story(mode=SizingMode.APPLY)
        self.has_hpa = has_hpa
        self.replicas: list[int] = []
        self.unserved = 0
        """Passes in which the pods that are ready had less than nine tenths of the load."""
        self._target = 0.0
        self._minute = 0.0
        self.story.server.put("hvpas", an_hvpa(hpa={"deploy": has_hpa}, scaleDown=FINE))

    @property
    def pods(self) -> list[Document]:
        return self.story.server.pods

    def cores(self) -> list[float]:
        return [cores_of(pod) for pod in self.pods]

    async def live(self, minutes: float) -> None:
        for _ in range(int(minutes)):
            self._measure()
            await self.story.live()
            self.story.server.now += MINUTE - PASS
            self._minute += 1
            self.replicas.append(len(self.pods))

    def _measure(self) -> None:
        use, count = self.load(self._minute), max(len(self.pods), 1)
        self.unserved += sum(self.cores()) < 0.9 * use
        decay = 0.5 ** (1 / self.half_life)
        self._target = max(self._target * decay, use / count * HEADROOM)
        server = self.story.server
        server.put("verticalpodautoscalers", a_vpa(f"{round(self._target * 1000)}m"))
        if self.has_hpa:
            percent = round(use / max(sum(self.cores()), 0.001) * 100)
            server.put("horizontalpodautoscalers", an_hpa(used=percent))
        each = {"cpu": f"{round(use / count * 1000)}m", "memory": "1Gi"}
        self.story.used = {pod["metadata"]["name"]: each for pod in self.pods}

    @property
    def steps(self) -> list[int]:
        return [count for count, _ in itertools.groupby(self.replicas)]

    @property
    def changes(self) -> int:
        return sum(path.endswith(("/scale", "/resize")) for _, path, _ in self.story.server.writes)


def cores_of(pod: Document) -> float:
    written = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    return float(written.removesuffix("m")) / 1000 if written.endswith("m") else float(written)


@pytest.mark.parametrize("has_hpa", [True, False])
async def test_a_load_takes_the_stairs_and_back(*, has_hpa: bool) -> None:
    day = Day(ramp(0.1, 12, 60), has_hpa=has_hpa)
    await day.live(160)
    assert day.steps == [1, 2, 3, 4, 3, 2, 1]
    # Requests follow a growing load a pass or two later.
    assert day.unserved <= len(day.replicas) // 20


async def test_a_steady_load_is_left_alone_although_the_vpa_remembers_for_a_day() -> None:
    day = Day(stepping((0, 0.3), (10, 0.9)), half_life=24 * 60)
    await day.live(40)
    assert day.steps == [1, 2]
    before = day.changes
    await day.live(60)
    assert day.changes == before


async def test_a_load_that_swings_around_a_boundary_changes_the_replicas_once() -> None:
    day = Day(lambda minute: 1.74 * (1.05 if int(minute) % 2 else 0.95), half_life=1)
    await day.live(60)
    # From the one replica of the beginning, up to where it stays.
    assert day.steps == sorted(day.steps)


async def test_crashes_on_the_way_change_neither_the_way_nor_its_end() -> None:
    chance = random.Random(7)
    calm, dying = (Day(stepping((0, 0.3), (10, 3), (50, 7), (90, 0.1))) for _ in range(2))
    dying.story.server.dies_at = lambda: chance.random() < 0.1
    await calm.live(160)
    await dying.live(160)
    assert dying.steps == calm.steps
    assert calm.unserved <= dying.unserved <= calm.unserved + 10
