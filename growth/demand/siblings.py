"""Pods of one owner that are alike to the scheduler: what it says of one holds for all.

The scheduler writes some fifty verdicts a second by default, so a thousand equal pods would become
known as demand over twenty seconds. As soon as one of them is demand, the others that the scheduler
hasn't reached yet are too; when none is demand any more, they wait for their own turn again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape


class Family(NamedTuple):
    """One owner's pods of one shape."""

    owner: str
    shape: Shape


class Members:
    """The two sorts of pods in a family, by uid; in order of arrival, so that answers repeat."""

    __slots__ = ("demanding", "unreached")

    def __init__(self) -> None:
        self.demanding: dict[str, None] = {}
        self.unreached: dict[str, None] = {}


def family_of(pod: Pod) -> Family | None:
    """The family of a pod; one that nobody controls has none."""
    controller = pod.metadata.controller
    return None if controller is None else Family(controller.uid, pod.shape)


class Siblings:
    """All families with a pod that waits.

    Each change answers with the uids of those who are judged anew because of it: the family's
    unreached pods, when its first pod becomes demand and when its last one ceases to be.
    """

    def __init__(self) -> None:
        self._families: dict[Family, Members] = {}

    def __len__(self) -> int:
        return len(self._families)

    def infers(self, family: Family | None) -> bool:
        """Whether the scheduler has given up on one of this family."""
        members = None if family is None else self._families.get(family)
        return members is not None and bool(members.demanding)

    def demands(self, uid: str, family: Family | None) -> Iterable[str]:
        """The scheduler has given up on this one."""
        if family is None:
            return ()
        members = self._families.setdefault(family, Members())
        is_first = not members.demanding
        members.unreached.pop(uid, None)
        members.demanding[uid] = None
        return tuple(members.unreached) if is_first else ()

    def waits(self, uid: str, family: Family | None) -> Iterable[str]:
        """The scheduler hasn't reached this one."""
        if family is None:
            return ()
        touched = self.leaves(uid, family)
        self._families.setdefault(family, Members()).unreached[uid] = None
        return touched

    def leaves(self, uid: str, family: Family | None) -> Iterable[str]:
        """This one is neither, or gone."""
        members = None if family is None else self._families.get(family)
        if family is None or members is None:
            return ()
        members.unreached.pop(uid, None)
        was_demanding = uid in members.demanding
        members.demanding.pop(uid, None)
        if members.demanding:
            return ()
        if not members.unreached:
            del self._families[family]
        return tuple(members.unreached) if was_demanding else ()
