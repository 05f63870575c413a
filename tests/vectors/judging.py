"""A row beside the product's answer: passed, failed and why, or waived and why."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    waiver = waiver_of(row)
    if waiver is not None:
        return Judgement(row, Outcome.WAIVED, waiver)
    adapter = adapter_of(row.system, row.kind)
    if adapter is None:
        return Judgement(row, Outcome.FAILED, f'the kind "{row.kind}" has no adapter')
    try:
        answer = adapter(row.given)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is this row's failure
        return Judgement(row, Outcome.FAILED, f"{type(error).__name__}: {error}".split("\n")[0])
    wrong = "; ".join(_differences(row.expected, answer))
    return Judgement(row, Outcome.FAILED if wrong else Outcome.PASSED, wrong)


def _differences(expected: Json, answer: Json) -> list[str]:
    return [
        f"{key}: expected {wanted!r}, got {_answered(key, answer)!r}"
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


def _answered(key: str, answer: Json) -> Any:
    return answer.get(key, answer.get(key.partition("_")[2]))


def _same(wanted: Any, got: Any) -> bool:
    """Figures may differ by what binary fractions lose; True isn't 1."""
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, float) or isinstance(got, float):
        return isinstance(got, int | float) and math.isclose(wanted, got, rel_tol=1e-9)
    return bool(wanted == got)
