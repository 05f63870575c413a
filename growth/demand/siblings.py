"""Siblings: pods of one owner and shape, for which one verdict of the scheduler is enough.

The scheduler writes about fifty verdicts per second by default, so a thousand equal pods would
become demand only over twenty seconds. As soon as one of them is demand, so are the others that the
scheduler hasn't tried yet. When none of them is demand any more, they wait for their own verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.scheduling.pod import Pod
    from growth.scheduling.shape import Shape


class Family(NamedTuple):
    """The pods of one owner with one shape."""

    owner: str
    shape: Shape


class Members:
    """The two kinds of pods in a family by uid, in the order of arrival so that answers repeat."""

    __slots__ = ("demanding", "unreached")

    def __init__(self) -> None:
        self.demanding: dict[str, None] = {}
        self.unreached: dict[str, None] = {}


def family_of(pod: Pod) -> Family | None:
    """The family of a pod; None if it has no controller."""
    controller = pod.metadata.controller
    return None if controller is None else Family(controller.uid, pod.shape)


class Siblings:
    """All families with a waiting pod.

    Each change returns the uids of the pods to judge again: the unreached pods of the family, when
    its first pod becomes demand and when its last one stops being demand.
    """

    def __init__(self) -> None:
        self._families: dict[Family, Members] = {}

    def __len__(self) -> int:
        return len(self._families)

    def infers(self, family: Family | None) -> bool:
        """Whether the scheduler has found no node for one of this family."""
        members = None if family is None else self._families.get(family)
        return members is not None and bool(members.demanding)

    def demands(self, uid: str, family: Family | None) -> Iterable[str]:
        """Note that the scheduler has found no node for this pod."""
        if family is None:
            return ()
        members = self._families.setdefault(family, Members())
        is_first = not members.demanding
        # Before the others are told: the pod itself has a verdict now, and needs no inference.
        members.unreached.pop(uid, None)
        members.demanding[uid] = None
        return tuple(members.unreached) if is_first else ()

    def waits(self, uid: str, family: Family | None) -> Iterable[str]:
        """Note that the scheduler hasn't tried this pod."""
        if family is None:
            return ()
        touched = self.leaves(uid, family)
        self._families.setdefault(family, Members()).unreached[uid] = None
        return touched

    def leaves(self, uid: str, family: Family | None) -> Iterable[str]:
        """Note that this pod is neither, or gone."""
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
