"""The table of pods, before and after, as JSON in `cases/`: one file for each set of pools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Document = dict[str, Any]

CASES: Final = Path(__file__).with_name("cases")


@dataclass(frozen=True, kw_only=True)
class Case:
    """One pod that is created while these pools exist."""

    name: str
    pools: str
    by: str
    """Which way of admission does it: webhook, policy or both. Warnings are the webhook's alone."""
    before: Document
    after: Document
    warnings: tuple[str, ...]

    @property
    def is_for_policy(self) -> bool:
        """Whether the policy has to do the same."""
        return self.by in {"both", "policy"}

    @property
    def is_for_webhook(self) -> bool:
        """Whether the webhook has to do the same."""
        return self.by in {"both", "webhook"}


def _case(pools: str, row: Document) -> Case:
    after = row["before"] if row["after"] == "unchanged" else row["after"]
    return Case(
        name=row["name"],
        pools=pools,
        by=row["by"],
        before=row["before"],
        after=after,
        warnings=tuple(row.get("warnings", ())),
    )


_FILES: Final = {path.stem: json.loads(path.read_text()) for path in sorted(CASES.glob("*.json"))}
POOLS: Final[dict[str, list[Document]]] = {name: file["pools"] for name, file in _FILES.items()}
TABLE: Final = tuple(_case(name, row) for name, file in _FILES.items() for row in file["pods"])
