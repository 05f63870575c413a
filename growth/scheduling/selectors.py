"""Label selectors.

Null and empty are opposites in Kubernetes: an absent selector selects nothing, an empty one selects
everything. A compiled `Selector` keeps the difference. It is hashable, so that counts for a
selector can be shared by all pods that have it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """A condition on a label. The operator stays text: an unknown one matches nothing."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels match; as in the scheduler, NotIn also matches a missing label."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in (self.values or ())
            case "NotIn":
                return value is None or value not in (self.values or ())
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
            case _:
                return False

    @property
    def text(self) -> str:
        """For people: disk in (ssd, nvme), disk=ssd."""
        values = f"({', '.join(self.values or ())})"
        match self.operator:
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"no {self.key}"
            case "NotIn":
                return f"{self.key} not in {values}"
            case "In" if self.values and len(self.values) == 1:
                return f"{self.key}={self.values[0]}"
            case _:
                return f"{self.key} {self.operator.lower()} {values}"

    def _compares(self, value: str | None) -> bool:
        limits = self.values or ()
        have, limit = integer(value or ""), integer(limits[0]) if len(limits) == 1 else None
        if have is None or limit is None:
            return False
        return have > limit if self.operator == "Gt" else have < limit


KNOWN_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
# The scheduler parses these numbers as int64; a larger one matches nothing.
_INTEGER_LIMIT: Final = 1 << 63
_INTEGER: Final = re.compile("[+-]?[0-9]{1,64}")


def integer(text: str) -> int | None:
    """A 64-bit integer as Go parses it: an optional sign and digits, nothing else."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_INTEGER_LIMIT <= number < _INTEGER_LIMIT else None


class LabelSelector(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A selector as written in an object."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class Selector(msgspec.Struct, frozen=True, gc=False):
    """A compiled selector. `requirements` is None if it selects nothing."""

    requirements: tuple[Requirement, ...] | None

    @property
    def is_everything(self) -> bool:
        """Whether it has no conditions, and so selects everything."""
        return self.requirements == ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the labels match."""
        if self.requirements is None:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def text(self) -> str:
        """For people: all conditions."""
        if self.requirements is None:
            return "labels that no pod has"
        return " and ".join(each.text for each in self.requirements) or "any labels"

    def and_also(self, *more: Requirement) -> Selector:
        """The same with more conditions; a selector of nothing stays the same."""
        if self.requirements is None:
            return self
        new = tuple(each for each in more if each not in self.requirements)
        return Selector((*self.requirements, *new))


EVERYTHING: Final = Selector(())
NOTHING: Final = Selector(None)


def compiled_selector(selector: LabelSelector | None) -> Selector:
    """The compiled selector: null selects nothing, empty selects everything."""
    if selector is None:
        return NOTHING
    labels = exactly(selector.match_labels or {})
    return Selector((*labels, *(selector.match_expressions or ())))


def exactly(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    """The conditions that each label has this value, in a stable order."""
    return tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))


def from_keys(
    keys: tuple[str, ...] | None, labels: Mapping[str, str], *, operator: str
) -> tuple[Requirement, ...]:
    """The conditions that a pod's matchLabelKeys (In) or mismatchLabelKeys (NotIn) mean."""
    return tuple(Requirement(key, operator, (labels[key],)) for key in keys or () if key in labels)
