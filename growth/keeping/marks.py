"""Labels, taints and annotations of a node: its pool, its marks, and who has cordoned it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from growth.api.bounds import CURRENCY_PATTERN
from growth.api.wellknown import (
    BOUGHT_AT_ANNOTATION,
    CORDONED_ANNOTATION,
    CURRENCY_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    LEAVING_TAINT,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    POOL_LABEL,
    PRICE_ANNOTATION,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
    UNREGISTERED_TAINT,
)
from growth.api.written import ServerTypeName
from growth.foreign_text import parse_money, time_or_none
from growth.scheduling.moving import KARPENTERS
from growth.scheduling.taints import NO_EXECUTE

if TYPE_CHECKING:
    from datetime import datetime

    from growth.scheduling.node import Node

SCALE_DOWN_DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
VPSIE_PROTECTED: Final = "autoscaler.vpsie.com/protected"
VPSIE_DISABLED: Final = "autoscaler.vpsie.com/scale-down-disabled"
OF_PEERS: Final = (KARPENTERS, SCALE_DOWN_DISABLED, VPSIE_PROTECTED, VPSIE_DISABLED)
"""Annotations of other autoscalers, on nodes of people who come from there."""
LABELS_OF_PEERS: Final = (VPSIE_PROTECTED, VPSIE_DISABLED)
"""Those that are also written as labels."""
_CURRENCY: Final = re.compile(CURRENCY_PATTERN)
OF_THE_CONTROL_PLANE: Final = frozenset(
    {"node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable"}
)
"""Taints that the control plane removes some seconds after a node is Ready."""


def pool_of_node(node: Node) -> str:
    """The pool of a node, by its labels; "" if growth doesn't manage the node."""
    labels = node.labels
    # The pool's label alone isn't enough: people may put it on machines of their own, so that pods
    # of the pool run there.
    return labels.get(POOL_LABEL, "") if labels.get(MANAGED_BY_LABEL) == MANAGED_BY else ""


def type_of_node(node: Node) -> ServerTypeName:
    """The server type of a node, by its label."""
    return ServerTypeName(node.labels.get(INSTANCE_TYPE_LABEL, ""))


def is_marked(node: Node) -> bool:
    """Whether the node has any of our marks."""
    is_dated = SCALE_DOWN_AT_ANNOTATION in node.metadata.annotations
    return is_dated or is_tainted(node) or is_barred(node)


def is_tainted(node: Node) -> bool:
    """Whether the node is marked with the scale-down taint."""
    return SCALE_DOWN_TAINT in node.taint_keys


def is_barred(node: Node) -> bool:
    """Whether the node has the taint of a removal, which pods rarely tolerate."""
    return LEAVING_TAINT in node.taint_keys


def is_unregistered(node: Node) -> bool:
    """Whether the node still has our start-up taint."""
    return UNREGISTERED_TAINT in node.taint_keys


def is_held_back(node: Node) -> bool:
    """Whether the control plane still keeps pods off the node."""
    # The same taint with NoExecute keeps no pod off: each one tolerates it for five minutes, by
    # admission. And while the other effect is removed at once, this one goes in rounds of 5 s.
    return any(
        each.key in OF_THE_CONTROL_PLANE and each.effect != NO_EXECUTE for each in node.spec.taints
    )


def is_cordoned_by_a_person(node: Node) -> bool:
    """Whether a person has cordoned the node, and not growth."""
    return node.spec.unschedulable and CORDONED_ANNOTATION not in node.metadata.annotations


def protection(node: Node) -> str:
    """What protects a node, an annotation or a label, ours or another autoscaler's; "" if nothing.

    Ours protects with any value except `false`, because an unreadable value was meant to say
    something. Those of other autoscalers protect only with the value that counts there.
    """
    annotations = node.metadata.annotations
    if annotations.get(DO_NOT_DISRUPT_ANNOTATION, "false") != "false":
        return f"annotation {DO_NOT_DISRUPT_ANNOTATION}"
    of_peers = (f"annotation {key}" for key in OF_PEERS if annotations.get(key) == "true")
    as_labels = (f"label {key}" for key in LABELS_OF_PEERS if node.labels.get(key) == "true")
    return next(iter((*of_peers, *as_labels)), "")


def scale_down_at(node: Node) -> datetime | None:
    """When the node is removed, by its mark; None if it has no mark or it can't be read."""
    return time_or_none(node.metadata.annotations.get(SCALE_DOWN_AT_ANNOTATION))


def bought_at(node: Node) -> datetime | None:
    """When the node was bought, by its annotation; or else when it joined."""
    metadata = node.metadata
    written = time_or_none(metadata.annotations.get(BOUGHT_AT_ANNOTATION))
    return written or time_or_none(metadata.creation_timestamp)


def price_on(node: Node) -> Decimal:
    """What an hour cost when it was bought, by its annotation; zero if it can't be read."""
    try:
        return parse_money(node.metadata.annotations.get(PRICE_ANNOTATION, "0"))
    except ValueError:
        return Decimal(0)


def currency_on(node: Node) -> str:
    """The currency of that price, by its annotation; empty if it can't be read."""
    written = node.metadata.annotations.get(CURRENCY_ANNOTATION, "")
    return written if _CURRENCY.fullmatch(written) else ""
