"""What a node class says of itself, and that it stays for as long as machines need it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.wellknown import (
    MANAGED_BY,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    PROVIDER_CLEANUP_FINALIZER,
)
from reconciler.core.actions import PatchStatus, SetFinalizers
from reconciler.pools import node_classes
from reconciler.providers.port import Checked, ClassKey, FailureClass, Listing, Sight
from tests.clouds.stub import machine
from tests.hetzner import build as hetzner
from tests.reconciler.build import at, pool, request, world
from tests.scheduling import build

if TYPE_CHECKING:
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.providers.port import Machine

KEY = ClassKey("HetznerNodeClass", "default")
FOUND = {"images": {"x86": "11"}, "sshKeys": ["21"], "placementGroups": []}
GOOD = Checked(at=0.0, generation=2, found=FOUND)
OURS = {MANAGED_BY_LABEL: MANAGED_BY, POOL_LABEL: "default"}
"""The labels of a node of growth's own."""
THERE = "2026-01-01T00:00:00Z"


def node_class(**metadata: Any) -> HetznerNodeClass:
    document = hetzner.node_class().document()
    document["metadata"] |= {"generation": 2, "resourceVersion": "5", **metadata}
    return HetznerNodeClass.model_validate(document)


def listed(*machines: Machine) -> Sight:
    shown = {each.name: each for each in machines}
    return Sight(listing=Listing(at=at(0), is_complete=True, machines=shown))


def seen(
    *objects: Any,
    node_class: HetznerNodeClass,
    checked: Checked = GOOD,
    sight: Sight | None = None,
    **changes: Any,
) -> World:
    known = world(*objects, node_classes={KEY: node_class}, checks={KEY: checked}, **changes)
    return msgspec.structs.replace(known, clouds={} if sight is None else {KEY: sight})


def step(known: World) -> Action | None:
    """The one thing that is done with the class."""
    sequences = node_classes.decide(known, at(100)).sequences
    steps = [step for sequence in sequences for step in sequence.steps]
    assert len(steps) <= 1
    return steps[0] if steps else None


def status(known: World) -> dict[str, Any]:
    patched = step(known)
    assert isinstance(patched, PatchStatus)
    return dict(patched.status)


def condition(told: dict[str, Any], name: str) -> tuple[str, str, str]:
    found = next(each for each in told["conditions"] if each["type"] == name)
    return found["status"], found["reason"], found["message"]


def told_already(known: World) -> World:
    """The same world, after the status was written."""
    written = known.node_classes[KEY].document() | {"status": status(known)}
    after = HetznerNodeClass.model_validate(written)
    return msgspec.structs.replace(known, node_classes={KEY: after})


def test_a_class_that_machines_can_be_made_with_tells_the_ids_behind_its_names() -> None:
    told = status(seen(node_class=node_class()))

    assert told["images"] == {"x86": "11", "arm": None}
    assert told["sshKeys"] == ["21"]
    assert told["observedGeneration"] == 2
    assert told["blocked"] is None
    assert condition(told, "Ready") == ("True", "Usable", "Machines can be created.")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(FailureClass.TEMPLATE, "ClassRefused"), (FailureClass.FATAL, "AccessRefused")],
)
def test_a_class_that_is_blocked_says_everything_that_is_wrong(
    failure: FailureClass, reason: str
) -> None:
    checked = Checked(at=0.0, generation=2, failure=failure, problems=("this", "and that"))

    told = status(seen(node_class=node_class(), checked=checked))

    assert told["blocked"] == {"reason": reason, "message": "this; and that"}
    assert condition(told, "Stalled") == ("True", reason, "this; and that")


def test_a_text_that_is_too_long_for_the_status_is_cut() -> None:
    checked = Checked(at=0.0, generation=2, failure=FailureClass.TEMPLATE, problems=("x" * 5000,))

    told = status(seen(node_class=node_class(), checked=checked))

    assert len(told["blocked"]["message"]) == 1024


def test_what_is_written_already_is_not_written_again() -> None:
    known = told_already(seen(node_class=node_class(finalizers=[PROVIDER_CLEANUP_FINALIZER])))

    assert step(known) is None


def test_what_was_found_out_of_an_older_spec_is_not_told_of_the_new_one() -> None:
    held = node_class(generation=3, finalizers=[PROVIDER_CLEANUP_FINALIZER])

    assert step(seen(node_class=held)) is None


def test_prices_that_are_not_believed_are_told_until_they_are_mended() -> None:
    doubted = msgspec.structs.replace(GOOD, doubts=("cx23 in nbg1: it costs nothing",))
    known = seen(node_class=node_class(), checked=doubted)
    told = status(known)
    assert condition(told, "Ready")[0] == "True"
    doubt = ("False", "Implausible", "cx23 in nbg1: it costs nothing")
    assert condition(told, "PricesBelieved") == doubt

    mended = msgspec.structs.replace(told_already(known), checks={KEY: GOOD})

    assert condition(status(mended), "PricesBelieved") == ("True", "Plausible", "")


def test_a_class_that_was_asked_about_is_held() -> None:
    known = told_already(seen(node_class=node_class(finalizers=["somebody.else/holds"])))

    held = step(known)

    assert isinstance(held, SetFinalizers)
    assert held.finalizers == ("somebody.else/holds", PROVIDER_CLEANUP_FINALIZER)


def test_a_class_that_nobody_was_asked_about_is_left_alone() -> None:
    known = seen(node_class=node_class())

    assert step(msgspec.structs.replace(known, checks={})) is None


def leaving(*objects: Any, **more: Any) -> World:
    """A class that somebody has deleted, in a cluster with its pool."""
    going = node_class(
        deletionTimestamp=THERE, finalizers=["somebody.else/holds", PROVIDER_CLEANUP_FINALIZER]
    )
    return told_already(seen(*objects, node_class=going, **more))


def test_a_class_that_no_machine_needs_may_go() -> None:
    freed = step(leaving(pool(), sight=listed()))

    assert isinstance(freed, SetFinalizers)
    assert freed.finalizers == ("somebody.else/holds",)


@pytest.mark.parametrize(
    ("objects", "sight"),
    [
        ((pool(), request()), listed()),
        ((pool(), build.node("default-1", labels=OURS)), listed()),
        ((pool(),), listed(machine())),
        ((), listed(machine(pool="gone"))),
        ((pool(),), None),
        ((pool(),), Sight(blind_since=1.0, problem="away")),
        ((pool(),), msgspec.structs.replace(listed(), blind_since=1.0)),
    ],
    ids=[
        "a request",
        "a node",
        "a machine",
        "a machine of a pool that is gone",
        "never listed",
        "blind from the start",
        "blind by now",
    ],
)
def test_a_class_that_a_machine_may_need_stays(objects: tuple[Any, ...], sight: Sight) -> None:
    assert step(leaving(*objects, sight=sight)) is None


def test_another_class_s_machines_hold_nobody() -> None:
    reference = {"kind": "KwokNodeClass", "name": "small"}
    theirs = pool("theirs", nodeClassRef=reference)
    machines = listed(machine("theirs-1", pool="theirs"))
    known = leaving(theirs, request("theirs-1", pool="theirs"), sight=machines)

    assert isinstance(step(known), SetFinalizers)


def test_nothing_is_bought_for_a_class_that_is_blocked_or_going() -> None:
    blocked = Checked(at=0.0, failure=FailureClass.FATAL, problems=("no token",))
    assert seen(node_class=node_class(), checked=blocked).is_blocked(KEY)
    assert leaving(pool()).is_blocked(KEY)
    assert not seen(node_class=node_class()).is_blocked(KEY)
