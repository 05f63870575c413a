"""The pods that a request's machine is for, by workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling.owners import Owner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.noderequest import NodeRequest


def seats_of(request: NodeRequest) -> Mapping[Owner, int]:
    """How many pods of each workload its machine is for, there already or still to come."""
    return {
        Owner(each.kind, each.namespace, each.name): each.pods for each in request.spec.workloads
    }
