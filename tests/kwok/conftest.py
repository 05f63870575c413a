"""What the tests of the local control plane share."""

from __future__ import annotations

import itertools

import pytest


@pytest.fixture
def each_look_takes_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of waits moves by a minute each time that it is read, and nothing sleeps."""
    minutes = itertools.count()
    monkeypatch.setattr("kwok.waiting._now", lambda: 60.0 * next(minutes))
    monkeypatch.setattr("kwok.waiting.time.sleep", lambda _: None)
