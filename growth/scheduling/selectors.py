"""Label selectors: which labels somebody means.

Null and empty are opposites in Kubernetes: a selector that is absent selects nothing, one that is
there but empty selects everything. A compiled `Selector` keeps them apart, and is hashable, so
that counts made for one selector serve every pod that has the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping


class Requirement(msgspec.Struct, frozen=True, gc=False):
    """One condition on one label. Operators stay text: one that is new to us selects nothing."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """As the scheduler decides it; NotIn is also true where the label is missing."""
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
# Go reads these numbers into 64 bits; a larger one compares with nothing.
_INTEGER_LIMIT: Final = 1 << 63


def integer(text: str) -> int | None:
    """A 64-bit integer as Go reads it: an optional sign and digits, nothing else."""
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text)
    return number if -_INTEGER_LIMIT <= number < _INTEGER_LIMIT else None


class LabelSelector(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A selector as it is written in an object."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class Selector(msgspec.Struct, frozen=True, gc=False):
    """A selector ready to be asked. `requirements` is None where it selects nothing at all."""

    requirements: tuple[Requirement, ...] | None

    @property
    def is_everything(self) -> bool:
        """Whether no condition is left."""
        return self.requirements == ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are meant."""
        if self.requirements is None:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def text(self) -> str:
        """For people: what holds together."""
        if self.requirements is None:
            return "labels that no pod has"
        return " and ".join(each.text for each in self.requirements) or "any labels"

    def and_also(self, *more: Requirement) -> Selector:
        """The same with more conditions; nothing stays nothing."""
        if self.requirements is None:
            return self
        new = tuple(each for each in more if each not in self.requirements)
        return Selector((*self.requirements, *new))


EVERYTHING: Final = Selector(())
NOTHING: Final = Selector(None)


def compiled_selector(selector: LabelSelector | None) -> Selector:
    """Null selects nothing, empty everything."""
    if selector is None:
        return NOTHING
    labels = exactly(selector.match_labels or {})
    return Selector((*labels, *(selector.match_expressions or ())))


def exactly(labels: Mapping[str, str]) -> tuple[Requirement, ...]:
    """The conditions that each of these labels is there with this value, in a stable order."""
    return tuple(Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))


def from_keys(
    keys: tuple[str, ...] | None, labels: Mapping[str, str], *, operator: str
) -> tuple[Requirement, ...]:
    """The conditions that matchLabelKeys (In) or mismatchLabelKeys (NotIn) of a pod stand for."""
    return tuple(Requirement(key, operator, (labels[key],)) for key in keys or () if key in labels)
