"""Taints and tolerations.

Only NoSchedule and NoExecute count here; PreferNoSchedule is a preference. An unknown operator
tolerates nothing, so that no node is bought for a pod that the node would reject.
"""

from __future__ import annotations

from typing import Final

import msgspec

from growth.scheduling.selectors import integer

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
BLOCKING: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})


class Taint(msgspec.Struct, frozen=True, gc=False):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""

    @property
    def text(self) -> str:
        """The taint as kubectl prints it."""
        return f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"


# A cordon counts as this taint, even before the node controller has added it to the node.
UNSCHEDULABLE: Final = Taint("node.kubernetes.io/unschedulable", NO_SCHEDULE)


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A toleration of a pod. An empty key or effect matches all keys or effects."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Whether it tolerates the taint."""
        if self.effect not in {"", taint.effect} or self.key not in {"", taint.key}:
            return False
        match self.operator or "Equal":
            case "Exists":
                return True
            case "Equal":
                return self.value == taint.value
            case "Lt" | "Gt":
                return self._compares(taint)
            case _:
                return False

    def _compares(self, taint: Taint) -> bool:
        limit, value = _plain_integer(self.value), _plain_integer(taint.value)
        if limit is None or value is None:
            return False
        return value < limit if self.operator == "Lt" else value > limit


KNOWN_OPERATORS: Final = frozenset({"", "Exists", "Equal", "Lt", "Gt"})


def _plain_integer(text: str) -> int | None:
    """A number in the only form that numeric tolerations allow: no plus sign, no leading zeros."""
    number = integer(text)
    return number if number is not None and str(number) == text else None


def untolerated(
    taints: tuple[Taint, ...],
    tolerations: tuple[Toleration, ...],
    effects: frozenset[str] = BLOCKING,
) -> Taint | None:
    """The first taint with one of these effects that isn't tolerated."""
    for taint in taints:
        if taint.effect in effects and not any(each.tolerates(taint) for each in tolerations):
            return taint
    return None
