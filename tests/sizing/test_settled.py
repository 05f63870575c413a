"""Hvpas about which nothing is new are left out of passes, for a while."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from growth.api.hvpa import Hvpa
from growth.api.hvpa_status import HvpaStatus
from sizing.core.actions import TellStatus
from sizing.core.world import HvpaInWorld, SizingWorld
from sizing.settled import LOOKED_AT_AGAIN, SettledHvpas
from tests.sizing.build import NOW
from tests.sizing.server import an_hvpa


def hvpa(name: str) -> HvpaInWorld:
    metadata = {"name": name, "namespace": "shop", "uid": name}
    return HvpaInWorld(hvpa=Hvpa.model_validate({**an_hvpa(), "metadata": metadata}), target=None)


WORLD = SizingWorld(hvpas=(hvpa("quiet"), hvpa("busy")))
QUIET, BUSY = WORLD.hvpas
SEQUENCE = (TellStatus(BUSY.hvpa, HvpaStatus()),)


def open_names(settled: SettledHvpas, world: SizingWorld = WORLD, seconds: float = 1) -> list[str]:
    found = settled.without(world, NOW + timedelta(seconds=seconds))
    return [each.hvpa.name for each in found.hvpas]


def after_a_pass() -> SettledHvpas:
    settled = SettledHvpas()
    settled.learn(WORLD, WORLD, [SEQUENCE], NOW)
    return settled


def test_one_with_nothing_to_do_is_left_out_and_one_that_acts_is_not() -> None:
    assert open_names(SettledHvpas()) == ["quiet", "busy"]
    assert open_names(after_a_pass()) == ["busy"]


def test_after_a_while_it_is_looked_at_again() -> None:
    seconds = LOOKED_AT_AGAIN.total_seconds()
    assert open_names(after_a_pass(), seconds=seconds) == ["quiet", "busy"]
    assert open_names(after_a_pass(), seconds=-1) == ["quiet", "busy"]


def test_what_has_changed_is_looked_at_at_once() -> None:
    another = replace(WORLD, hvpas=(hvpa("quiet"), BUSY))
    assert open_names(after_a_pass(), another) == ["quiet", "busy"]
    behind = replace(WORLD, hvpas=(replace(QUIET, is_current=False), BUSY))
    assert open_names(after_a_pass(), behind) == ["quiet", "busy"]


def test_one_that_was_left_out_stays_known_and_one_that_is_gone_does_not() -> None:
    settled = after_a_pass()
    settled.learn(WORLD, replace(WORLD, hvpas=(BUSY,)), [], NOW)
    assert open_names(settled) == []
    settled.learn(replace(WORLD, hvpas=(BUSY,)), replace(WORLD, hvpas=()), [], NOW)
    assert open_names(settled) == ["quiet"]
