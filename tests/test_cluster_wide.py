"""Objects that affect a whole cluster are waited for at both ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.cluster_wide import acting, wait_steadily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.live import LiveCluster

POLICY = {"kind": "MutatingAdmissionPolicy", "metadata": {"name": "late"}}


@pytest.fixture(autouse=True)
def nothing_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.live.time.sleep", lambda _: None)


@dataclass
class LateServer:
    """An API server that behaves as before for some checks after each write."""

    late_by: int
    acts: bool = False
    written: bool = False
    looks: int = 0
    told: list[str] = field(default_factory=list)

    def create(self, *objects: dict[str, Any]) -> None:
        self._write("created", is_there=True)

    def kubectl(self, *words: str, input: str = "") -> str:  # noqa: A002 - the word of kubectl
        self._write(words[0], is_there=False)
        return ""

    def _write(self, word: str, *, is_there: bool) -> None:
        self.told.append(word)
        self.written, self.looks = is_there, 0

    def look(self) -> bool:
        self.looks += 1
        if self.looks > self.late_by:
            self.acts = self.written
        return self.acts

    @property
    def cluster(self) -> LiveCluster:
        return cast("LiveCluster", self)


@pytest.mark.parametrize("late_by", [0, 1, 40])
def test_a_block_begins_when_a_policy_acts_and_ends_when_it_acts_no_more(late_by: int) -> None:
    server = LateServer(late_by)

    with acting(server.cluster, POLICY, acts=server.look):
        during = server.acts

    assert (during, server.acts) == (True, False)
    assert server.told == ["created", "delete"]


def test_a_block_that_fails_leaves_nothing_that_acts() -> None:
    server = LateServer(7)

    with pytest.raises(ZeroDivisionError), acting(server.cluster, POLICY, acts=server.look):
        _ = 1 // 0

    assert not server.acts


def test_one_look_that_holds_is_not_enough() -> None:
    looks: Iterator[bool] = iter([True, False, True, True, False, True, True, True])

    wait_steadily(lambda: next(looks), "three in a row")

    assert list(looks) == []


def test_what_never_acts_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    minutes: Iterator[int] = iter(range(0, 6000, 60))
    monkeypatch.setattr("tests.live.time.monotonic", lambda: next(minutes))

    with pytest.raises(AssertionError, match="MutatingAdmissionPolicy late in force: not within"):
        wait_steadily(lambda: False, "MutatingAdmissionPolicy late in force")
