"""What tests of the simulated world make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reconciler.build import START

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool


def with_removal_held(told: NodePool, reason: str = "TooManyOrphans") -> NodePool:
    """The pool while it says that orphans are held back."""
    condition = {
        "type": "RemovalHeld",
        "status": "True",
        "reason": reason,
        "lastTransitionTime": START,
    }
    status = type(told.status).model_validate({"conditions": [condition]})
    return told.model_copy(update={"status": status})
