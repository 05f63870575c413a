"""When a wave of pods is complete: it lasts longer for those whom the scheduler hasn't judged."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.planning.commit import BUSY_GAP, FOLLOWING_GAP, GAP, LONGEST, Missing, WaveWindow
from reconciler.planning.demand import unjudged
from tests.reconciler.build import at, waiting, world
from tests.scheduling import build

JUST_NOW = at(0).wall.isoformat()
LONG_AGO = at(-60).wall.isoformat()
OWNER = {"uid": "web", "kind": "ReplicaSet", "name": "web", "controller": True}


def pod(name: str, *, created: str = LONG_AGO, **metadata: Any) -> Any:
    return build.pod(
        name, status={"phase": "Pending"}, metadata={"creationTimestamp": created, **metadata}
    )


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), Missing.NONE),
        ((pod("a-stranger"),), Missing.NONE),
        ((pod("web-1", ownerReferences=[OWNER]),), Missing.SIBLINGS),
        ((pod("somebody-new", created=JUST_NOW),), Missing.NEWCOMERS),
        ((pod("it-ends", created=JUST_NOW, deletionTimestamp=JUST_NOW),), Missing.NONE),
    ],
)
def test_whom_a_wave_waits_for(others: tuple[Any, ...], expected: Missing) -> None:
    first = waiting("web-0", metadata={"ownerReferences": [OWNER]})
    known = world(first, *others)
    assert unjudged({first.metadata.uid: first}, known, at(0)) is expected


@pytest.mark.parametrize(
    ("missing", "grew_at", "closes_at"),
    [
        (Missing.NONE, 0.0, GAP),
        (Missing.SIBLINGS, 0.0, 2 * GAP),
        (Missing.NEWCOMERS, 0.0, BUSY_GAP),
        (Missing.NEWCOMERS, 0.95, LONGEST),
    ],
)
def test_a_wave_lasts_a_gap_after_the_last_pod_and_never_longer_than_a_second(
    missing: Missing, grew_at: float, closes_at: float
) -> None:
    wave = WaveWindow(uids=frozenset({"web-0"}), opened_at=0.0, grew_at=grew_at)
    assert wave.closes_at(missing, asked_at=-10.0) == pytest.approx(closes_at)


@pytest.mark.parametrize(
    ("asked_at", "missing", "closes_at"),
    [
        (-0.2, Missing.NONE, FOLLOWING_GAP),
        (-0.2, Missing.NEWCOMERS, BUSY_GAP),
        (-0.3, Missing.NONE, GAP),
    ],
)
def test_a_wave_that_follows_on_the_heels_of_a_question_lasts_longer(
    asked_at: float, missing: Missing, closes_at: float
) -> None:
    wave = WaveWindow(uids=frozenset({"web-0"}), opened_at=0.0, grew_at=0.0)
    assert wave.closes_at(missing, asked_at=asked_at) == pytest.approx(closes_at)
