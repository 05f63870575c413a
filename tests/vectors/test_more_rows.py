"""Rows of the forms that the reference has, written after the seed's rules: mostly their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.vectors.judging import Judgement, Outcome, judge
from tests.vectors.rows import Row

if TYPE_CHECKING:
    from tests.vectors.rows import Json

NODES: Json = {"nodes": ["a"], "min": 0, "removal_requests": []}
LATE: Json = {"phase": "Provisioning", "age_seconds": 301, "timeout_seconds": 300}
BIG: Json = {"type": "big", "cpu": 4, "mem_mib": 8192, "cost": 0.02, "max": 5}
POD: Json = {"cpu": 2, "mem_mib": 4096}
ROWS: dict[str, list[tuple[Json, Json]]] = {
    "unmet_expired": [
        ({"age_seconds": 119, "ttl_seconds": 120}, {"expired": False}),
        ({"age_seconds": 120, "ttl_seconds": 120}, {"expired": False}),
    ],
    "provisioning_expired": [
        ({"age_seconds": 299, "timeout_seconds": 300}, {"expired": False}),
        ({"age_seconds": 301, "timeout_seconds": 300}, {"expired": True}),
    ],
    "unconfirmed_ttl": [({"age_seconds": 60, "ttl_seconds": 60}, {"kept": 1})],
    "seed_request": [
        (
            {"phase": "Provisioning", "node_ready": True, "wait_over": False},
            {"phase": "Ready", "events": ["nodeProvisioned", "nodeLabelled"]},
        ),
        ({"phase": "Ready", "ttl_over": False}, {"phase": "Ready", "deleted": False}),
        (
            {"phase": "Pending", "provider_create": "accepted"},
            {"event": {"name": "nodeRequested"}, "deleted": False},
        ),
    ],
    "request_step": [
        ({"phase": "Pending", "pool_get": "404"}, {"error": False}),
        (
            LATE | {"provider_status": "Creating", "age_seconds": 300},
            {"phase": "Provisioning", "requeue": True},
        ),
        (LATE | {"provider_status": "Creating"}, {"phase": "Deprovisioning"}),
        (
            LATE | {"provider_status": "NotFound", "age_seconds": 10},
            {"phase": "Unmet", "requeue": False},
        ),
    ],
    "seed_scale_down": [
        ({"pods": 1}, {"removal_request": False}),
        ({"marked": True, "time_reached": False, "pods": 1}, {"taint_removed": True}),
    ],
    "seed_removal": [
        (
            {"phase": "Deprovisioning", "provider": "exists", "retry_due": True, "attempts": 5},
            {"attempts": 6, "terminal": False, "node_still_tainted": True},
        ),
        ({"phase": "RemovalFailed"}, {"provider_delete": False, "terminal": True}),
        ({"phase": "Pending", "pods": 1}, {"provider_delete": False, "cancelled": True}),
    ],
    "removal_cancel": [
        (
            {"pod_scheduled_on_node": True, "fail_step": 1},
            {
                "request_exists": True,
                "candidate_mark_present": True,
                "delete_at_present": True,
                "retry": {"ok": True, "request_exists": False, "marks_present": False},
            },
        )
    ],
    "removal_step": [
        (
            {"phase": "Deprovisioning", "removal_attempts": 4, "max_attempts": 3},
            {"phase": "CouldNotRemove", "provider_deletes": 0},
        ),
        (
            {"phase": "Deprovisioning", "removal_attempts": 2, "max_attempts": 3},
            {"phase": "Deprovisioning", "removal_attempts": 3, "provider_deletes": 1},
        ),
        (
            {"phase": "Pending", "cooling_off_seconds": 0, "idle": False},
            {"request_deleted": True, "provider_deletes": 0},
        ),
    ],
    "seed_backoff": [
        ({"consecutive": 4, "n": 3}, {"state": "backing-off", "in_demand": True}),
        ({"consecutive": 99, "n": 3}, {"state": "BackOff", "in_demand": False}),
        ({"consecutive": 4, "n": 3, "placed": True}, {"consecutive": 0}),
    ],
    "seed_solution": [({"result": "NoDemands"}, {"requests": 0, "events": 0})],
    "idle_nodes": [
        (NODES | {"pods": [{"node": "a", "kind": "daemonset"}]}, {"idle": ["a"]}),
        (NODES | {"pods": [{"node": "a", "kind": "finished"}]}, {"idle": ["a"]}),
    ],
    "pod_loop": [
        ({"loops": 3, "api_lists_request": False}, {"created": [1, 0, 0], "unconfirmed_after": 1}),
        ({"loops": 2, "api_lists_request": "Provisioning"}, {"created": [1, 0]}),
        ({"existing_request": "Unmet", "unmet_ttl_seconds": 120}, {"created": 0}),
        ({"existing_request": "Provisioning"}, {"created": 0}),
        ({"existing_request": "Ready"}, {"created": 1}),
        ({"pools": ["default", None], "pods": 1}, {"created": 1}),
    ],
    "reconcile_demand": [
        (
            {
                "pods": [POD | {"name": "a"}],
                "pools": {"default": {"big": 2}},
                "occupied": {"default": {"big": 2}},
                "offerings": [BIG],
            },
            {"requests": 0},
        )
    ],
    "location_filter": [
        (
            {"locations": None, "offerings": [BIG | {"region": "r", "zone": None}], "pods": []},
            {"allowed": [["r", None]]},
        )
    ],
    "hetzner_server_type": [
        ({"locations": ["fsn1"], "deprecated_locations": ["fsn1"]}, {"count": 0}),
        ({"cores": 8, "disk": 160}, {"cpu": 8, "disk_gib": 160}),
    ],
    "solve": [
        (
            {
                "demands": [
                    POD | {"name": "a"},
                    POD | {"name": "b"},
                    {"name": "c", "cpu": 4, "mem_mib": 8192},
                ],
                "offerings": [BIG],
                "existing": [],
            },
            {
                "nodes": [{"type": "big", "pods": ["c"]}, {"type": "big", "pods": ["a", "b"]}],
                "placed": ["b"],
                "no_memory_overcommit": True,
            },
        )
    ],
}


@pytest.mark.parametrize(
    "row",
    [
        Row(system="growth", name=f"{kind}/{number}", kind=kind, given=given, expected=expected)
        for kind, rows in ROWS.items()
        for number, (given, expected) in enumerate(rows, start=1)
    ],
    ids=lambda row: row.name,
)
def test_the_product_follows_the_rule(row: Row) -> None:
    assert judge(row) == Judgement(row, Outcome.PASSED)
