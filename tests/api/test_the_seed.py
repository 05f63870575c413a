"""The examples that the product began with are understood, after their group was rewritten."""

from __future__ import annotations

import yaml

from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequestStatus, RemovalPhase
from growth.api.noderequest import NodeRequestStatus, RequestPhase
from growth.api.problems import read_strictly
from growth.api.wellknown import GROUP_VERSION, SEED_GROUP_VERSION
from growth.api.written import ServerTypeName

POOLS = """
apiVersion: growth/v1alpha1
kind: NodePool
metadata:
  name: default
spec:
  serverTypes:
    - name: CAX11
      max: 10
    - name: CAX21
      # MAYBE feature - pre-warm to guarantee 1 even without load
      min: 1
      max: 5
    - name: CAX31
      max: 1
---
apiVersion: growth/v1alpha1
kind: NodePool
metadata:
  name: gpu
spec:
  serverTypes:
    - name: GEX44
      max: 5
"""

REQUEST_STATUS = """
phase: Provisioning  # Pending -> Provisioning -> Ready / Unmet
events:
  - at: 2026-01-01 21:07:52:00Z
    name: nodeRequested
  - at: 2026-01-01 21:08:00:00Z
    name: nodeRequestFailed
    reason: "No capacity"
"""

REMOVAL_STATUS = """
phase: CouldNotRemove  # Pending -> Deprovisioning, CouldNotRemove
events:
  - at: 2026-01-01 21:07:52:00Z
    name: Deletion requested
  - at: 2026-01-01 21:08:00:00Z
    name: Deletion failed
    reason: "Insufficient permission..."
"""


def test_its_pools_are_pools() -> None:
    documents = list(yaml.safe_load_all(POOLS.replace(SEED_GROUP_VERSION, GROUP_VERSION)))

    pools = [read_strictly(document) for document in documents]

    assert all(isinstance(pool, NodePool) for pool in pools)
    default = pools[0]
    assert isinstance(default, NodePool)
    assert [(str(each.name), each.min, each.max) for each in default.spec.server_types] == [
        ("CAX11", 0, 10),
        ("CAX21", 1, 5),
        ("CAX31", 0, 1),
    ]
    assert default.spec.server_types[0].name == ServerTypeName.parse("cax11")
    assert default.spec.locations == ()
    assert default.spec.node_class_ref is None


def test_the_status_of_its_request_is_readable() -> None:
    status = NodeRequestStatus.model_validate(yaml.safe_load(REQUEST_STATUS), extra="forbid")

    assert status.phase is RequestPhase.PROVISIONING
    assert [event.name for event in status.events] == ["nodeRequested", "nodeRequestFailed"]
    assert status.events[1].reason == "No capacity"


def test_its_name_of_the_last_phase_of_a_removal_is_read_and_not_written() -> None:
    status = NodeRemovalRequestStatus.model_validate(yaml.safe_load(REMOVAL_STATUS), extra="forbid")

    assert status.phase is RemovalPhase.REMOVAL_FAILED
    assert status.document()["phase"] == "RemovalFailed"
    assert status.document()["events"][0] == {
        "at": "2026-01-01T21:07:52Z",
        "name": "Deletion requested",
    }
