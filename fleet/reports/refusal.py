"""Why a report is refused: one field, and what is wrong with it."""

from __future__ import annotations

from growth.errors import GiveUp


class ReportRefused(GiveUp):
    """The report can't be used, and its agent has to change it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        """The path of the field, such as `nodeInfo.ceiling`."""
