"""Why a node may not be replaced, apart from its pods: the answer of `growth.keeping`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.api.disruption import DisruptionReason
from growth.keeping.besides_pods import kept_besides_pods, kept_though_sick

if TYPE_CHECKING:
    from growth.instant import Instant
    from growth.keeping.scene import KeepingScene
    from growth.keeping.wanting import Keeping
    from growth.scheduling.node import Node


def kept_from(
    reason: DisruptionReason, node: Node, scene: KeepingScene, now: Instant
) -> Keeping | None:
    """Why the node may not be replaced for this reason; None if nothing but pods may prevent it."""
    if reason is DisruptionReason.UNHEALTHY:
        return kept_though_sick(node, scene)
    return kept_besides_pods(node, scene, now)
