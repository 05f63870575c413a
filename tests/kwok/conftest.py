"""What the tests of the local control plane share."""

from __future__ import annotations

import itertools

import pytest


@pytest.fixture
def each_look_takes_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of waits moves by a minute each time that it is read, and nothing sleeps."""
    _move_by(60, monkeypatch)


@pytest.fixture
def each_look_takes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same by a second."""
    _move_by(1, monkeypatch)


def _move_by(seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = itertools.count(step=seconds)
    monkeypatch.setattr("kwok.waiting._now", lambda: float(next(moments)))
    monkeypatch.setattr("kwok.waiting.time.sleep", lambda _: None)
