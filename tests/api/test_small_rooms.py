"""Histories stay bounded, names follow from a seed, and the models load little."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.events import NEWEST, RequestEvent, with_event
from growth.api.naming import request_name

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@given(st.integers(1, 100))
def test_a_history_keeps_its_first_entry_and_the_newest(count: int) -> None:
    happened = [
        RequestEvent(at=NOON + timedelta(seconds=n), name=f"event {n}") for n in range(count)
    ]

    history: tuple[RequestEvent, ...] = ()
    for event in happened:
        history = with_event(history, event)

    assert len(history) == min(count, NEWEST + 1)
    assert history[0] == happened[0]
    assert list(history[1:]) == happened[1:][-NEWEST:]


def test_a_name_follows_from_the_generator_and_stays_a_dns_label() -> None:
    def uuids(seed: int) -> random.Random:
        return random.Random(seed)

    def name(generator: random.Random) -> str:
        return request_name("a" * 26, lambda: UUID(int=generator.getrandbits(128), version=4))

    assert name(uuids(1)) == name(uuids(1))
    assert name(uuids(1)) != name(uuids(2))
    assert len(name(uuids(1))) == 63


@pytest.mark.parametrize(
    "module", ["growth.api.kinds", "growth.api.problems", "growth.api.standing"]
)
def test_the_models_load_nothing_but_pydantic(module: str) -> None:
    heavy = {"aiohttp", "kubernetes", "yaml", "msgspec", "structlog", "asyncio", "ssl", "ortools"}
    program = f"import sys, {module}; print(sorted({heavy!r} & sys.modules.keys()))"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert loaded.stdout.decode().strip() == "[]"
