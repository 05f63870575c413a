"""What is read from metrics.k8s.io, figure by figure."""

from __future__ import annotations

import asyncio
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.errors import RetryLater
from growth.kube.errors import NotFound
from reconciler.core.measured import Measurements
from reconciler.seeing.measured import UseReader, with_reading
from tests.reconciler.build import START, at
from tests.scheduling import build
from tests.scheduling.build import patient

if TYPE_CHECKING:
    from datetime import datetime

NODES = {"one": build.node("one", cpu="4", memory="8Gi")}
NOW = START.timestamp()
HOUR = 3600.0


def item(name: str = "one", *, cpu: Any = "1", at: datetime = START, **more: Any) -> bytes:
    usage = {"cpu": cpu, "memory": "2Gi"} | more
    stamp = at.isoformat().replace("+00:00", "Z")
    document = {"metadata": {"name": name}, "timestamp": stamp, "usage": usage}
    return json.dumps(document).encode()


def read(*items: bytes, before: Measurements | None = None, now: float = NOW) -> Measurements:
    return with_reading(before or Measurements(), items, NODES, now=now, window=600.0)


def test_a_figure_is_a_share_of_what_the_node_has_for_pods() -> None:
    (sample,) = read(item(cpu="1500m")).of("one").samples
    assert (sample.cpu.percent, sample.memory.percent) == (Fraction(75, 2), Fraction(25))


def test_figures_of_a_node_that_does_not_exist_are_ignored() -> None:
    assert read(item("other")).nodes == {}


def test_the_same_figure_twice_is_one_sample() -> None:
    once = read(item())
    assert read(item(), before=once).of("one").samples == once.of("one").samples


@patient
@given(
    st.binary(max_size=40)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=8,
    ).map(lambda found: json.dumps({"metadata": {"name": "one"}, "usage": found}).encode())
)
def test_nothing_that_can_be_written_is_more_than_a_problem_of_its_node(written: bytes) -> None:
    known = read(written).of("one")
    assert known.samples == ()
    assert known.problem


@pytest.mark.parametrize("cpu", ["1e999999", "NaN", "-1", "", "1 core", None, [], "9" * 200])
def test_amounts_that_cannot_be_true_are_not_taken(cpu: Any) -> None:
    assert read(item(cpu=cpu)).of("one").samples == ()


class Answers:
    """An API server that gives one answer after the other."""

    def __init__(self, *answers: list[bytes] | Exception) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def undecoded(self, _path: str) -> list[bytes]:
        self.asked += 1
        answer = self._answers.pop(0) if self._answers else []
        if isinstance(answer, Exception):
            raise answer
        return answer


def reader(answers: Answers, *, window: float = 600.0) -> UseReader:
    return UseReader(
        reads=answers,  # type: ignore[arg-type]
        nodes=lambda: NODES,
        window=lambda: window,
        now=lambda: at(0),
        changed=lambda: None,
    )


async def of_some_time(reading: UseReader, seconds: float) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await reading.run()


@pytest.mark.looptime
async def test_a_cluster_without_metrics_is_told_and_asked_again() -> None:
    answers = Answers(NotFound("no such path"), RetryLater("the server is busy"), [item()])
    reading = reader(answers)
    await of_some_time(reading, 1.0)
    assert "install metrics-server" in reading.known.problem
    await of_some_time(reading, 1.0)
    assert "busy" in reading.known.problem
    await of_some_time(reading, 1.0)
    assert (reading.known.problem, len(reading.known.of("one").samples)) == ("", 1)


@pytest.mark.looptime
async def test_nothing_is_read_while_no_pool_goes_by_use() -> None:
    answers = Answers()
    await of_some_time(reader(answers, window=0.0), 100.0)
    assert answers.asked == 0
