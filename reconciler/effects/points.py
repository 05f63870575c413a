"""The moments right before and right after each effect: where a process can end.

Every effect is announced on both sides, and tests end the process there, the real one and the
simulated one. Machines are called by chance, so a story that is told twice has other subjects each
time; `Names` calls them by their pool and the order in which its machines appear, and the same
moment has the same name in each telling.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

import msgspec

from reconciler.core.actions import (
    CreateMachine,
    CreateNodeRecord,
    CreateNodeRequest,
    Delete,
    DeleteMachine,
    EmitEvent,
    Evict,
    HoldSeat,
    OpenRemoval,
    PatchStatus,
    SetDeletionCost,
    SetFinalizers,
    SetNode,
    Solve,
    SubjectKind,
)

if TYPE_CHECKING:
    from reconciler.core.actions import Action, Subject


AGAIN: Final = ", try "
_BY_CHANCE: Final = re.compile("(^|-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""The end of a machine's name, or a pod's uid."""


class Side(StrEnum):
    """When an effect is announced."""

    BEFORE = "before"
    AFTER = "after"


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One side of one effect."""

    number: int
    """The number of the effect in this process."""
    step: str
    """The name of the action; for a status, its phase."""
    verb: str
    kind: str
    """The verb and kind, such as `patch` of `NodeRequest/status`."""
    about: SubjectKind
    subject: str
    """The subject of its sequence."""
    side: Side


class ActionTarget(NamedTuple):
    """The verb and kind of an action."""

    verb: str
    kind: str


def target_of(action: Action) -> ActionTarget:
    """The write, or the order, that an action comes to."""
    match action:
        case CreateNodeRequest() | CreateNodeRecord():
            is_request = isinstance(action, CreateNodeRequest)
            target = ActionTarget("create", "NodeRequest" if is_request else "NodeRecord")
        case OpenRemoval():
            target = ActionTarget("create", "NodeRemovalRequest")
        case CreateMachine() | DeleteMachine():
            target = ActionTarget(
                "create" if isinstance(action, CreateMachine) else "delete", "machine"
            )
        case SetNode() | Evict():
            is_node = isinstance(action, SetNode)
            target = (
                ActionTarget("patch", "Node") if is_node else ActionTarget("create", "Eviction")
            )
        case PatchStatus() | HoldSeat():
            kind = action.kind if isinstance(action, PatchStatus) else "Pod"
            target = ActionTarget("patch", f"{kind}/status")
        case SetFinalizers() | SetDeletionCost():
            kind = action.kind if isinstance(action, SetFinalizers) else "Pod"
            target = ActionTarget("patch", kind)
        case Delete(kind=kind):
            target = ActionTarget("delete", kind)
        case EmitEvent():
            target = ActionTarget("create", "Event")
        case Solve():
            target = ActionTarget("solve", "Problem")
        case _:
            assert_never(action)
    return target


def step_of(action: Action) -> str:
    """The decision in a word or two."""
    name = type(action).__name__
    match action:
        case PatchStatus(status={"phase": phase}):
            return f"{name} {phase}"
        case _:
            return name


def point(action: Action, *, number: int, subject: Subject, side: Side) -> Point:
    """The announcement of one side of an effect."""
    verb, kind = target_of(action)
    return Point(
        number=number,
        step=step_of(action),
        verb=verb,
        kind=kind,
        about=subject.kind,
        subject=subject.name,
        side=side,
    )


class Names:
    """Calls the points of one story, in the order of their announcements."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._times: Counter[tuple[str, ...]] = Counter()

    def of(self, point: Point) -> str:
        """Such as `machine 7 of default: PatchStatus Ready (patch NodeRequest/status), before`.

        What is tried again says so: it depends on what others did meanwhile, so other tellings of
        the story may lack it.
        """
        subject = self._called(point)
        effect = subject, point.step, point.kind, point.side
        self._times[effect] += 1
        times = self._times[effect]
        what = f"{subject}: {point.step} ({point.verb} {point.kind}), {point.side}"
        return what if times == 1 else f"{what}{AGAIN}{times}"

    def _called(self, point: Point) -> str:
        if point.about is SubjectKind.POD and "/" in point.subject:
            # Controllers call their pods by chance.
            return self._counted(point, among=point.subject.split("/", 1)[0])
        pool = _BY_CHANCE.sub("", point.subject)
        if pool == point.subject:
            return f"{point.about} {point.subject}"
        return self._counted(point, among=pool)

    def _counted(self, point: Point, *, among: str) -> str:
        known = self._counts[point.about, among]
        called = f"{point.about} {known.setdefault(point.subject, len(known) + 1)}"
        return f"{called} of {among}" if among else called


def is_stable(name: str) -> bool:
    """Whether each telling of the same story has a point of this name."""
    return AGAIN not in name
