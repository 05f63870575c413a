"""Heartbeats of nodes: changes that no rule can notice.

A kubelet writes its Node's status every few minutes even if nothing has changed. Of that only the
version reaches growth. With 5,000 nodes there are 17 such writes a second, and a pass for each
would look at all nodes again for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from growth.kube.cache.contents import ChangeKind
from growth.scheduling.node import Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from growth.kube.cache.contents import Change


def are_heartbeats(changes: Sequence[Change[Any]]) -> bool:
    """Whether these are changes of Nodes, and nothing but their versions has changed.

    No change at all means that a write of growth's was seen, which is no heartbeat.
    """
    return bool(changes) and all(map(_is_heartbeat, changes))


def _is_heartbeat(change: Change[Any]) -> bool:
    old, new = change.old, change.new
    if change.kind is not ChangeKind.MODIFIED or not isinstance(new, Node):
        return False
    if not isinstance(old, Node) or (old.spec, old.status) != (new.spec, new.status):
        return False
    version = new.metadata.resource_version
    return msgspec.structs.replace(old.metadata, resource_version=version) == new.metadata
