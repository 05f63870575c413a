"""What the simulated API server makes of growth's patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reconciler.simulation.server import with_metadata

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.node import Node
    from reconciler.core.actions import SetNode


def set_node(node: Node, action: SetNode) -> Node:
    """The node after our patch."""
    spec = node.spec
    if action.taints is not None:
        spec = msgspec.structs.replace(spec, taints=action.taints)
    if action.unschedulable is not None:
        spec = msgspec.structs.replace(spec, unschedulable=action.unschedulable)
    changed = msgspec.structs.replace(node, spec=spec)
    labels = _merged(node.metadata.labels, action.labels)
    annotations = _merged(node.metadata.annotations, action.annotations)
    patched: Node = with_metadata(changed, labels=labels, annotations=annotations)
    return patched


def with_status(obj: Any, patch: Mapping[str, Any]) -> Any:
    """The object after a merge patch of its status."""
    status = type(obj.status).model_validate(_merged(obj.status.document(), patch))
    return obj.model_copy(update={"status": status})


def _merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    together = {**old, **patch}
    return {key: value for key, value in together.items() if value is not None}
