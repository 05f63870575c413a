"""Whether an agent calls itself ready. Agents write booleans as Go reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fleet.reports.refusal import ReportRefused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fleet.core.report import AgentCondition

CONDITION: Final = "Ready"
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}


def agent_is_ready(conditions: Iterable[AgentCondition]) -> bool:
    """Whether the first condition of this type says so. Without one the agent isn't ready."""
    status = next((each.status for each in conditions if each.type == CONDITION), "False")
    if status not in _BOOLEANS:
        raise ReportRefused("conditions", "its condition Ready must be True or False")
    return _BOOLEANS[status]
