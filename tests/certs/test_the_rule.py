"""What is due in which situation, as a table; then what is said to people about it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from certs.advice import advice
from certs.making import make_authority
from certs.wanted import DAY, EXTENDER, OWN, POLICY, SCHEDULER, VERBS, WEBHOOKS
from tests.certs.api import WEBHOOKS as CONFIGURATION
from tests.certs.api import Api, secret_path
from tests.certs.build import finish, installed, objects, steps_due, tend_once

if TYPE_CHECKING:
    from collections.abc import Callable

HOUR = timedelta(hours=1)


def rotating(api: Api) -> None:
    """The next authority is trusted by everybody."""
    api.ask_for_rotation(OWN.name)
    tend_once(api)


def rotated(api: Api) -> None:
    rotating(api)
    api.pass_time(POLICY.overlap)
    tend_once(api)


def taken_over(api: Api, name: str) -> None:
    """Somebody else keeps this Secret from now on."""
    found = api.secret(name)
    found["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "somebody"}
    api.put(secret_path(name), found)


def settled(api: Api, written: str) -> None:
    """It is noted that everybody has followed since then."""
    found = api.secret(OWN.name)
    found["metadata"]["annotations"] = {"growth.dev/settled-at": written}
    api.put(secret_path(OWN.name), found)


def run_out(api: Api) -> dict[str, bytes]:
    pair = make_authority(OWN.name, begin=api.now - 2 * DAY, end=api.now - DAY)
    return {"next.crt": pair.certificate.pem, "next.key": pair.key.reveal()}


def asked_in_the_middle(api: Api) -> None:
    rotating(api)
    api.ask_for_rotation(WEBHOOKS.name)


def locked(api: Api) -> None:
    api.ask_for_rotation(OWN.name)
    api.read_only = {CONFIGURATION}
    tend_once(api)


def unseen(api: Api) -> None:
    api.ask_for_rotation(OWN.name)
    api.forbidden = {CONFIGURATION}
    tend_once(api)


SITUATIONS: dict[str, tuple[tuple[Callable[[Api], object], ...], list[str]]] = {
    "all is well": ((), []),
    "the end of a leaf is far": ((lambda api: api.pass_time(59 * DAY),), []),
    "two thirds of the leaves' life are over": (
        (lambda api: api.pass_time(60 * DAY),),
        [f"Issue {name}" for name in ("webhooks", "extender", "reconciler", "extender-verbs")],
    ),
    "a leaf is gone": ((lambda api: api.remove(EXTENDER.name),), ["Issue extender"]),
    "a leaf has lost its key": (
        (lambda api: api.change(EXTENDER.name, **{"tls.key": b""}),),
        ["Issue extender"],
    ),
    "a leaf is shown by another's key": (
        (lambda api: api.change(EXTENDER.name, **_pair(api, VERBS.name)),),
        ["Issue extender"],
    ),
    "a server's leaf is a client's": (
        (lambda api: api.change(EXTENDER.name, **_pair(api, "growth-reconciler-tls")),),
        ["Issue extender"],
    ),
    "a leaf's owner trusts somebody else": (
        (lambda api: api.change(EXTENDER.name, **{"ca.crt": b"somebody"}),),
        ["Spread extender"],
    ),
    "the webhook configuration is applied anew": (
        (Api.install_webhooks,),
        ["Inject growth-webhooks"],
    ),
    "the webhook configuration is deleted": ((lambda api: api.objects.pop(CONFIGURATION),), []),
    "the authority is gone": ((lambda api: api.remove(OWN.name),), ["Make growth-ca"]),
    "the authority has lost its key": (
        (lambda api: api.change(OWN.name, **{"tls.key": b""}),),
        ["Introduce growth-ca"],
    ),
    "the scheduler's authority is worn": (
        (lambda api: api.pass_time(15 * 365 * DAY), tend_once),
        [],
    ),
    "a rotation is asked for": (
        (lambda api: api.ask_for_rotation(OWN.name),),
        ["Introduce growth-ca"],
    ),
    "the next authority isn't trusted for long enough": ((rotating,), []),
    "the next authority is trusted for long enough": (
        (rotating, lambda api: api.pass_time(HOUR)),
        ["Promote growth-ca"],
    ),
    "the next authority has run out before it was promoted": (
        (rotating, lambda api: api.change(OWN.name, **run_out(api))),
        ["Introduce growth-ca"],
    ),
    "it settled at a time that is still to come": (
        (
            rotating,
            lambda api: settled(api, "2027-01-01T00:00:00Z"),
        ),
        ["Settle growth-ca"],
    ),
    "it settled at no time at all": (
        (rotating, lambda api: settled(api, "yesterday")),
        ["Settle growth-ca"],
    ),
    "a leaf is asked for in the middle of a rotation": ((asked_in_the_middle,), ["Issue webhooks"]),
    "one that may not be written doesn't trust the next authority": (
        (locked, lambda api: api.pass_time(HOUR)),
        ["Inject growth-webhooks"],
    ),
    "one that may not be read may not trust the next authority": (
        (unseen, lambda api: api.pass_time(HOUR)),
        [],
    ),
    "the previous authority may still be met": ((rotated,), []),
    "the previous authority can be met no more": (
        (rotated, lambda api: api.pass_time(HOUR)),
        ["Retire growth-ca"],
    ),
    "somebody else keeps a leaf": (
        (
            lambda api: taken_over(api, WEBHOOKS.name),
            lambda api: api.change(WEBHOOKS.name, **{"tls.key": b""}),
            Api.install_webhooks,
        ),
        [],
    ),
    "somebody else keeps the authority, and a leaf is gone": (
        (lambda api: taken_over(api, OWN.name), lambda api: api.remove(EXTENDER.name)),
        ["Issue extender"],
    ),
    "somebody else keeps the authority, and it holds nothing": (
        (
            lambda api: taken_over(api, OWN.name),
            lambda api: api.change(OWN.name, **{"tls.crt": b"", "tls.key": b""}),
        ),
        [],
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_due_when(name: str) -> None:
    happened, expected = SITUATIONS[name]
    api = installed()

    for each in happened:
        each(api)

    assert steps_due(api) == [_full(step) for step in expected]


def test_at_first_authorities_are_made_and_then_what_depends_on_them() -> None:
    api = Api()
    api.install_webhooks()

    assert steps_due(api) == ["Make secret/growth-ca", "Make secret/growth-scheduler-ca"]
    done = tend_once(api)

    assert len(done.written) == 7
    assert done.problems == ()


def test_without_its_leaves_an_authority_that_is_deleted_is_trusted_no_more() -> None:
    api = installed()
    stolen = api.bundle
    for name in (OWN.name, *(leaf.name for leaf in OWN.leaves)):
        api.remove(name)

    done = tend_once(api)

    assert done.problems == ()
    assert api.bundle.count(b"BEGIN") == 1
    assert api.bundle != stolen
    assert api.content(WEBHOOKS.name)["ca.crt"] == api.bundle
    assert steps_due(api) == []


def test_near_the_end_of_its_authority_a_leaf_is_not_renewed_again_and_again() -> None:
    api = installed()
    taken_over(api, OWN.name)
    api.pass_time(3 * 365 * DAY - DAY)
    tend_once(api)
    api.pass_time(20 * HOUR)

    assert steps_due(api) == []


def test_the_keys_of_authorities_lie_in_no_leaf_and_no_text() -> None:
    api = installed()
    rotating(api)
    kept = finish(objects(api).read())

    keys = {api.content(OWN.name)[name] for name in ("tls.key", "next.key")}

    assert b"" not in keys
    assert not any(key.decode() in repr(kept) or b"PRIVATE" in repr(kept).encode() for key in keys)
    for leaf in OWN.leaves:
        assert not keys & set(api.content(leaf.name).values())


TOLD: dict[str, tuple[tuple[Callable[[Api], object], ...], tuple[str, ...]]] = {
    "nothing": ((), ()),
    "a next authority of the scheduler": (
        (lambda api: api.ask_for_rotation(SCHEDULER.name), tend_once),
        (
            (
                "Secret growth-scheduler-ca: the next authority is ready; copy it to the scheduler"
                " (growth certs export growth-scheduler-ca),"
                " then run: growth certs rotate growth-scheduler-ca"
            ),
        ),
    ),
    "a worn authority of the scheduler": (
        (lambda api: api.pass_time(15 * 365 * DAY), tend_once),
        (
            (
                "Secret growth-scheduler-ca: it must be replaced manually; run:"
                " growth certs rotate growth-scheduler-ca"
            ),
        ),
    ),
    "a configuration that may not be read": (
        (unseen,),
        (("webhook configuration growth-webhooks: no permission; add get and patch to the role"),),
    ),
    "somebody else's leaf that is broken": (
        (
            lambda api: taken_over(api, WEBHOOKS.name),
            lambda api: api.change(WEBHOOKS.name, **{"tls.key": b""}),
        ),
        ("Secret growth-webhooks-tls: growth doesn't manage it, and it can't be used",),
    ),
    "somebody else's authority that is broken, and a leaf that it can't sign": (
        (
            lambda api: taken_over(api, OWN.name),
            lambda api: api.change(OWN.name, **{"tls.key": b""}),
            lambda api: api.change(EXTENDER.name, **{"tls.key": b""}),
        ),
        (
            "Secret growth-ca: growth doesn't manage it, and it has no usable authority",
            "Secret growth-extender-tls: it can't be used, and no authority can sign it",
        ),
    ),
}


@pytest.mark.parametrize("name", TOLD)
def test_what_a_person_is_told(name: str) -> None:
    happened, expected = TOLD[name]
    api = installed()

    for each in happened:
        each(api)

    found = finish(objects(api).read())
    assert advice(found.state, policy=POLICY, now=found.now) == expected


def _pair(api: Api, name: str) -> dict[str, bytes]:
    content = api.content(name)
    return {key: content[key] for key in ("tls.crt", "tls.key")}


def _full(step: str) -> str:
    """The step with the whole name of its object."""
    write, name = step.split()
    if write == "Inject":
        return f"Inject mutatingwebhookconfiguration/{name}"
    return f"{write} secret/{name if name.endswith('-ca') else f'growth-{name}-tls'}"
