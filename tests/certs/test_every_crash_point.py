"""The writer is killed before and after each of its writes; the end is as if it were not."""

from __future__ import annotations

import contextlib
import copy
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from certs.wanted import DAY, OWN, POLICY, SCHEDULER
from tests.certs.api import WEBHOOKS, Api, Killed
from tests.certs.build import steps_due, tend_once
from tests.certs.trust import broken_meetings, run_out

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.timeout(240)

MINUTE = timedelta(minutes=1)


def install(api: Api) -> None:
    api.install_webhooks()
    live(api, MINUTE)


def renew(api: Api) -> None:
    live(api, 61 * DAY)


def rotate(api: Api) -> None:
    api.ask_for_rotation(OWN.name)
    for _ in range(3):
        live(api, POLICY.overlap + MINUTE)


def rotate_by_hand(api: Api) -> None:
    for _ in range(2):
        api.ask_for_rotation(SCHEDULER.name)
        live(api, POLICY.overlap + MINUTE)
        live(api, POLICY.overlap + MINUTE)


def lose_the_authority(api: Api) -> None:
    api.remove(OWN.name)
    for _ in range(3):
        live(api, POLICY.overlap + MINUTE)


def lose_the_key(api: Api) -> None:
    api.change(OWN.name, **{"tls.key": b"half a ke"})
    for _ in range(3):
        live(api, POLICY.overlap + MINUTE)


def sleep_for_years(api: Api) -> None:
    api.pass_time(4 * 365 * DAY)
    live(api, MINUTE)
    live(api, POLICY.overlap + MINUTE)


STORIES = [
    pytest.param((install,), 7, id="installed"),
    pytest.param((install, renew), 4, id="renewed"),
    pytest.param((install, rotate), 16, id="rotated"),
    pytest.param((install, rotate_by_hand), 8, id="rotated by hand"),
    pytest.param((install, lose_the_authority), 16, id="without its authority"),
    # After its first step it goes on like the one before.
    pytest.param((install, lose_the_key), 16, id="without its key", marks=pytest.mark.long),
]
"""What happens, and how many writes the last part takes; the parts before are in other stories."""


def live(api: Api, span: timedelta) -> None:
    """Rounds at the beginning and the end of a span; a killed process is started again."""
    for passed in (timedelta(), span):
        api.pass_time(passed)
        with contextlib.suppress(Killed):
            tend_once(api)
            continue
        api.pass_time(MINUTE)
        tend_once(api)


def told(*parts: Callable[[Api], None]) -> Api:
    api = Api()
    for part in parts:
        part(api)
    return api


def killed(api: Api, *, before: int = -1, after: int = -1) -> Api:
    """The same cluster, where the writer is going to be killed at its n-th write from now."""
    fork = copy.deepcopy(api)
    fork.killed_before = before if before < 0 else fork.writes + before
    fork.killed_after = after if after < 0 else fork.writes + after
    return fork


@pytest.mark.parametrize(("parts", "points"), STORIES)
def test_a_story_converges_from_wherever_its_writer_is_killed(
    parts: tuple[Callable[[Api], None], ...], points: int
) -> None:
    *earlier, last = parts
    start, undisturbed = told(*earlier), told(*earlier, last)
    assert broken_meetings(undisturbed) == run_out(undisturbed) == steps_due(undisturbed) == []
    assert undisturbed.writes - start.writes == points
    for point in range(points):
        for api in (killed(start, before=point), killed(start, after=point)):
            last(api)

            assert broken_meetings(api) == run_out(api) == steps_due(api) == [], point
            assert _shape(api) == _shape(undisturbed), point
            # A write that was killed before it happened is done once more, and no other.
            assert api.writes <= undisturbed.writes + 1, point


@pytest.mark.parametrize("point", range(12))
def test_after_years_of_sleep_everything_is_good_again_in_one_round(point: int) -> None:
    awake = told(install)
    api = killed(awake, after=point)
    sleep_for_years(api)

    assert steps_due(api) == []
    assert _shape(api) == _shape(awake)


def _shape(api: Api) -> dict[str, object]:
    """Which objects there are, and what they hold but for keys and times."""
    secrets = {
        path: (sorted(found["data"]), sorted(found["metadata"].get("annotations") or ()))
        for path, found in api.objects.items()
        if path != WEBHOOKS
    }
    trusted = api.bundle.count(b"BEGIN")
    return {**secrets, WEBHOOKS: trusted}
