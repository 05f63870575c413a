"""What somebody knows who only listens to the changes; it complains about each that can't be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import Key, T

if TYPE_CHECKING:
    from collections.abc import Sequence


class Mirror(Generic[T]):
    """Fails on a change that was lost (it doesn't follow the last) or told twice."""

    def __init__(self) -> None:
        self.objects: dict[Key, T] = {}
        self.told: list[tuple[str, str]] = []

    def take(self, changes: Sequence[Change[T]]) -> None:
        for change in changes:
            self.told.append((change.kind.value, change.key.name))
            assert self.objects.get(change.key) is change.old, change
            match change.kind:
                case ChangeKind.ADDED | ChangeKind.MODIFIED:
                    assert change.new is not None
                    assert (change.old is None) is (change.kind is ChangeKind.ADDED)
                    self.objects[change.key] = change.new
                case ChangeKind.DELETED | ChangeKind.UNREADABLE:
                    assert change.new is None
                    self.objects.pop(change.key, None)
