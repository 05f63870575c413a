"""A row beside the product's answer: passed, failed and why, or waived and why."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from tests.vectors.registry import adapter_of
from tests.vectors.waivers import waiver_of

if TYPE_CHECKING:
    from tests.vectors.rows import Json, Row


class Outcome(enum.Enum):
    """What has become of a row."""

    PASSED = "passed"
    FAILED = "failed"
    WAIVED = "waived"


@dataclass(frozen=True)
class Judgement:
    """One row, judged."""

    row: Row
    outcome: Outcome
    reason: str = ""

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.outcome.value}: {self.row.system}: {self.row.name}: {self.reason}"


def judge(row: Row) -> Judgement:
    """Runs a row."""
    wrong = row.flaw or _wrong(row)
    if not wrong:
        return Judgement(row, Outcome.PASSED)
    waiver = waiver_of(row)
    if waiver is not None:
        return Judgement(row, Outcome.WAIVED, waiver)
    return Judgement(row, Outcome.FAILED, wrong)


def _wrong(row: Row) -> str:
    """What is different from the row, in one line; empty if nothing is."""
    adapter = adapter_of(row.system, row.kind)
    if adapter is None:
        return f'the kind "{row.kind}" has no adapter'
    given = Heard(row.given)
    try:
        wrong = "; ".join(_differences(row.expected, adapter(given)))
    except KeyError as error:
        wrong = f"the adapter of {row.kind} finds nothing under {error}"
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is this row's failure
        wrong = f"{type(error).__name__}: {error}".split("\n")[0]
    unread = ", ".join(sorted(set(given) - given.read))
    return f"{wrong} (its adapter doesn't read: {unread})" if wrong and unread else wrong


class Heard(dict[str, Any]):
    """A row's input, which knows what was read of it: what wasn't may be why a row fails."""

    def __init__(self, given: Json) -> None:
        super().__init__(given)
        self.read: set[str] = set()

    @override
    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    @override
    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)

    @override
    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


def _differences(expected: Json, answer: Json) -> list[str]:
    return [
        f"{key}: expected {wanted!r}, {_answered(key, answer)}"
        for key, wanted in expected.items()
        if not _holds(key, wanted, answer)
    ]


def _holds(key: str, wanted: Any, answer: Json) -> bool:
    """A row can also say how much at most, or at least, as max_cost and min_cost."""
    if key in answer:
        return _same(wanted, answer[key])
    bound, _, name = key.partition("_")
    if name not in answer:
        return False
    low, high = (answer[name], wanted) if bound == "max" else (wanted, answer[name])
    return bound in {"max", "min"} and (low <= high or _same(low, high))


def _answered(key: str, answer: Json) -> str:
    for name in (key, key.partition("_")[2]):
        if name in answer:
            return f"got {answer[name]!r}"
    return "and nothing answers that"


def _same(wanted: Any, got: Any) -> bool:
    """Figures may differ by what binary fractions lose; True isn't 1."""
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, float) or isinstance(got, float):
        return isinstance(got, int | float) and math.isclose(wanted, got, rel_tol=1e-9)
    return bool(wanted == got)
