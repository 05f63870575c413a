"""What is written on a node: whose it is, that it is about to go, and who has cordoned it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    CORDONED_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    LEAVING_TAINT,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
    UNREGISTERED_TAINT,
)
from growth.api.written import ServerTypeName, parse_time
from growth.scheduling.moving import KARPENTERS

if TYPE_CHECKING:
    from datetime import datetime

    from growth.scheduling.node import Node

SCALE_DOWN_DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
OF_PEERS: Final = (KARPENTERS, SCALE_DOWN_DISABLED)
"""What others read on a node; who comes from them has written it there."""
OF_THE_CONTROL_PLANE: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"}
)
"""Taints that it takes off in rounds, some seconds after a node was Ready."""


def pool_of_node(node: Node) -> str:
    """The pool that a node was bought for, by its labels; empty for what isn't ours."""
    labels = node.labels
    return labels.get(POOL_LABEL, "") if labels.get(MANAGED_BY_LABEL) == MANAGED_BY else ""


def type_of_node(node: Node) -> ServerTypeName:
    """Its server type, by its label."""
    return ServerTypeName(node.labels.get(INSTANCE_TYPE_LABEL, ""))


def is_marked(node: Node) -> bool:
    """Whether the node bears any of our marks."""
    is_dated = SCALE_DOWN_AT_ANNOTATION in node.metadata.annotations
    return is_dated or is_tainted(node) or is_barred(node)


def is_tainted(node: Node) -> bool:
    """Whether pods are kept away from it because it is about to go."""
    return SCALE_DOWN_TAINT in node.taint_keys


def is_barred(node: Node) -> bool:
    """Whether its machine is given back, so that nobody who tolerates the mark comes either."""
    return LEAVING_TAINT in node.taint_keys


def is_unregistered(node: Node) -> bool:
    """Whether it doesn't serve yet, as we see it."""
    return UNREGISTERED_TAINT in node.taint_keys


def is_held_back(node: Node) -> bool:
    """Whether the control plane keeps pods off it still."""
    return not node.taint_keys.isdisjoint(OF_THE_CONTROL_PLANE)


def is_cordoned_by_a_person(node: Node) -> bool:
    """Whether somebody wants to have this node for themselves."""
    return node.spec.unschedulable and CORDONED_ANNOTATION not in node.metadata.annotations


def protection(node: Node) -> str:
    """The annotation for which a node is left alone, ours or a peer's; empty if it bears none.

    Ours holds with whatever value but `false`, as somebody meant something by it; a peer's with the
    one value that it has there.
    """
    annotations = node.metadata.annotations
    if annotations.get(DO_NOT_DISRUPT_ANNOTATION, "false") != "false":
        return DO_NOT_DISRUPT_ANNOTATION
    return next((key for key in OF_PEERS if annotations.get(key) == "true"), "")


def scale_down_at(node: Node) -> datetime | None:
    """When the node goes, by its mark; None if that isn't there or can't be read."""
    return _time(node.metadata.annotations.get(SCALE_DOWN_AT_ANNOTATION))


def bought_at(node: Node) -> datetime | None:
    """By its annotation, else when it joined."""
    metadata = node.metadata
    return _time(metadata.annotations.get(BOUGHT_AT_ANNOTATION)) or _time(
        metadata.creation_timestamp
    )


def _time(text: str | None) -> datetime | None:
    try:
        return parse_time(text or "")
    except ValueError:
        return None
