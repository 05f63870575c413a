"""What `growth certs show` says of each object, while all sorts of things happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from certs.showing import rows
from certs.wanted import DAY, EXTENDER, OWN, POLICY, SCHEDULER, WEBHOOKS
from tests.certs.api import Api
from tests.certs.build import finish, installed, objects, tend_once

if TYPE_CHECKING:
    from collections.abc import Callable

HAPPENINGS: dict[str, tuple[Callable[[Api], object], str, bool, str]] = {
    "nothing": (lambda _: None, OWN.name, True, ""),
    "a rotation is asked for": (
        lambda api: api.ask_for_rotation(OWN.name),
        OWN.name,
        True,
        "rotation requested",
    ),
    "the key is lost": (
        lambda api: api.change(OWN.name, **{"tls.key": b""}),
        OWN.name,
        False,
        "its key is lost",
    ),
    "a leaf is asked for": (
        lambda api: api.ask_for_rotation(EXTENDER.name),
        EXTENDER.name,
        True,
        "renewal requested",
    ),
    "a leaf has run out": (lambda api: api.pass_time(91 * DAY), EXTENDER.name, False, ""),
    "a leaf is gone": (
        lambda api: api.remove(EXTENDER.name),
        EXTENDER.name,
        False,
        "doesn't exist yet",
    ),
    "the configuration is applied anew": (
        Api.install_webhooks,
        WEBHOOKS.configuration,
        False,
        "trusts another authority",
    ),
}


@pytest.mark.parametrize("name", HAPPENINGS)
def test_what_is_shown_when(name: str) -> None:
    happens, shown, good, standing = HAPPENINGS[name]
    api = installed()

    happens(api)

    assert row(api, shown) == (good, standing)


def test_each_step_of_a_rotation_is_shown_with_its_time() -> None:
    api = installed()
    api.ask_for_rotation(OWN.name)
    tend_once(api)
    assert row(api, OWN.name) == (True, "the next one signs at 01:00")
    api.pass_time(POLICY.overlap)
    tend_once(api)
    assert row(api, OWN.name) == (True, "the previous one is removed at 02:00")
    api.pass_time(POLICY.overlap)
    tend_once(api)
    assert row(api, OWN.name) == (True, "")


def test_the_schedulers_next_authority_is_shown_to_wait_for_a_person() -> None:
    api = installed()
    api.ask_for_rotation(SCHEDULER.name)
    tend_once(api)

    assert row(api, SCHEDULER.name) == (True, "the next one waits for a request")


def row(api: Api, name: str) -> tuple[bool, str]:
    found = finish(objects(api).read())
    listed = rows(found.state, policy=POLICY, now=found.now)
    return next((each.good, each.standing) for each in listed if each.name == name)
