"""Taints keep pods off a node, tolerations let them on.

For placing a pod only NoSchedule and NoExecute count; PreferNoSchedule is a wish. An unknown
operator tolerates nothing, so that a pod is never promised a node that would refuse it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from growth.scheduling.selectors import integer

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
BLOCKING: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})


class Taint(msgspec.Struct, frozen=True, gc=False):
    """A mark on a node that repels pods."""

    key: str
    effect: str
    value: str = ""

    @property
    def text(self) -> str:
        """As kubectl writes it."""
        return f"{self.key}{f'={self.value}' if self.value else ''}:{self.effect}"


# A cordon counts as this taint, whether the node controller has put it on the node yet or not.
UNSCHEDULABLE: Final = Taint("node.kubernetes.io/unschedulable", NO_SCHEDULE)


class Toleration(msgspec.Struct, frozen=True, gc=False):
    """A pod's consent to taints. Empty key and effect stand for every key and effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Whether the taint does not bother this pod."""
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
    """Numeric tolerations allow one spelling of a number: no plus sign, no leading zeros."""
    number = integer(text)
    return number if number is not None and str(number) == text else None


def untolerated(
    taints: tuple[Taint, ...],
    tolerations: tuple[Toleration, ...],
    effects: frozenset[str] = BLOCKING,
) -> Taint | None:
    """The first taint of these effects that no toleration covers."""
    for taint in taints:
        if taint.effect in effects and not any(each.tolerates(taint) for each in tolerations):
            return taint
    return None
