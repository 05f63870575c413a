"""The same moment of a story bears the same name in each telling, and each effect has one."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

import msgspec
import pytest

from reconciler.core.actions import (
    Delete,
    PatchStatus,
    SetNode,
    Subject,
    SubjectKind,
    Version,
    machine,
)
from reconciler.effects.announcing import VARIABLE, announcing
from reconciler.effects.points import Names, Point, Side, is_stable, point

if TYPE_CHECKING:
    from pathlib import Path

    from reconciler.core.actions import Action

VERSION = Version(name="any", uid="any", resource_version="1")
READY = PatchStatus(kind="NodeRequest", version=VERSION, status={"phase": "Ready"})
LABEL = SetNode(node=VERSION, labels={"a": "b"})


def at(action: Action, name: str, side: Side = Side.BEFORE) -> Point:
    return point(action, number=1, subject=machine(name), side=side)


def test_the_machines_of_a_pool_are_counted_in_the_order_in_which_they_appear() -> None:
    names = Names()
    one, other = (f"default-00000000-0000-4000-8000-00000000000{digit}" for digit in "12")
    told = [names.of(at(LABEL, name)) for name in (one, other, one)]
    assert told == [
        "machine 1 of default: SetNode (patch Node), before",
        "machine 2 of default: SetNode (patch Node), before",
        "machine 1 of default: SetNode (patch Node), before, try 2",
    ]


def test_what_a_person_has_named_is_called_by_that() -> None:
    here = point(LABEL, number=1, subject=Subject(SubjectKind.POOL, "gpu"), side=Side.BEFORE)
    assert Names().of(here) == "pool gpu: SetNode (patch Node), before"


def test_pods_are_counted_whether_by_their_uid_or_by_their_name() -> None:
    names, uid = Names(), "00000000-0000-4000-8000-000000000001"
    subjects = [Subject(SubjectKind.POD, name) for name in (uid, "shop/web-x1", "shop/web-x2")]
    told = [
        names.of(point(LABEL, number=1, subject=subject, side=Side.BEFORE)).partition(":")[0]
        for subject in subjects
    ]
    assert told == ["pod 1", "pod 1 of shop", "pod 2 of shop"]


def test_what_is_tried_again_is_no_point_of_every_telling() -> None:
    names = Names()
    first, second = (names.of(at(LABEL, "default-a")) for _ in range(2))
    assert is_stable(first)
    assert not is_stable(second)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (READY, "PatchStatus Ready (patch NodeRequest/status), after"),
        (Delete(kind="NodeRequest", version=VERSION), "Delete (delete NodeRequest), after"),
    ],
)
def test_a_name_tells_the_step_the_verb_the_kind_and_the_side(action: Action, said: str) -> None:
    assert Names().of(at(action, "default-a", Side.AFTER)) == f"machine default-a: {said}"


def test_nobody_is_told_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with announcing() as announce:
        announce(at(LABEL, "default-a"))


def test_who_listens_holds_the_process_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[Point] = []
    monkeypatch.setenv(VARIABLE, str(tmp_path / "points"))

    def listen() -> None:
        connection, _ = listener.accept()
        with connection:
            heard.append(msgspec.json.decode(connection.recv(4096), type=Point))
            connection.sendall(b".")

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "points"))
        listener.listen()
        hearing = threading.Thread(target=listen)
        hearing.start()
        with announcing() as announce:
            announce(at(LABEL, "default-a"))
            assert heard == [at(LABEL, "default-a")]
        hearing.join()
