"""Finds the subjects on which a rule fails: those without which it doesn't.

First the traceback is asked: the innermost object in it is nearly always the right one. Whatever it
says is proven by asking the rule again. If it says nothing, halves of all subjects are tried. This
takes time only after a failure, and the answer depends only on the world.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reconciler.aside.objects import subject_of_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from reconciler.core.actions import Subject

MOST_SUSPECTS: Final = 8
MOST_BLAMED: Final = 8
"""If more fail at once, the rule is at fault, and not what others write."""
OURS: Final = ("reconciler.", "growth.")


def blamed(
    fails: Callable[[frozenset[Subject]], bool],
    *,
    suspects: Sequence[Subject],
    candidates: Sequence[Subject],
) -> frozenset[Subject]:
    """The subjects to put aside; empty if the rule fails whatever is put aside.

    `fails` asks the rule again with subjects put aside.
    """
    for suspect in suspects[:MOST_SUSPECTS]:
        if not fails(frozenset({suspect})):
            return frozenset({suspect})
    found: frozenset[Subject] = frozenset()
    left = tuple(candidates)
    if fails(frozenset(left)):
        return found
    while fails(found):
        if len(found) == MOST_BLAMED or not left:
            return frozenset()
        last = _shortest(left, fails, known=found)
        found, left = found | {left[last - 1]}, left[: last - 1]
    return found


def _shortest(
    left: Sequence[Subject],
    fails: Callable[[frozenset[Subject]], bool],
    *,
    known: frozenset[Subject],
) -> int:
    """How many of the first have to be put aside; the last of these is needed."""
    low, high = 0, len(left)
    while high - low > 1:
        middle = (low + high) // 2
        if fails(known | frozenset(left[:middle])):
            low = middle
        else:
            high = middle
    return high


def suspects_in(error: BaseException) -> tuple[Subject, ...]:
    """The subjects of objects that functions had in hand, innermost first."""
    found = (
        subject_of_object(value)
        for frame in reversed(list(_frames(error.__traceback__)))
        for value in frame.tb_frame.f_locals.values()
    )
    return tuple(dict.fromkeys(each for each in found if each is not None))


def told_without_values(error: BaseException, *, step: str) -> str:
    """What happened and where; not the text of the error, which may hold what others wrote."""
    where = next(
        (
            f"{frame.tb_frame.f_globals['__name__']}:{frame.tb_lineno}"
            for frame in reversed(list(_frames(error.__traceback__)))
            if frame.tb_frame.f_globals.get("__name__", "").startswith(OURS)
        ),
        "an unknown place",
    )
    return f"{type(error).__name__} in {where} ({step})"


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next
