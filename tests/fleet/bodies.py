"""Bodies of reports, as agents send them."""

from __future__ import annotations

import copy
from typing import Any

AMOUNTS = {
    "connections": 0,
    "partitions": 0,
    "ingressEgressThroughputPerSec": "0",
    "dataRetentionSize": "0",
}


def a_body(**known: Any) -> dict[str, Any]:
    body = {
        "conditions": [{"type": "Ready", "status": "True"}],
        "total": dict(AMOUNTS),
        "remaining": dict(AMOUNTS),
        "nodeInfo": {"ceiling": 0, "floor": 0, "current": 0, "currentWorkLoadMinimum": 0},
        "resizeInfo": {"nodeDelta": 0, "delta": dict(AMOUNTS)},
    }
    return copy.deepcopy({**body, **known})


def without(body: dict[str, Any], path: str) -> dict[str, Any]:
    """The body without one of its parts."""
    *folders, name = path.split(".")
    inner = body
    for folder in folders:
        inner = inner[folder]
    del inner[name]
    return body
