"""Additions to a pod as a JSON patch (RFC 6902); nothing is ever replaced, moved or removed.

`add` needs an existing parent, so a path starts at the deepest part that the pod has. New entries
go to the end of lists, so that the indexes of the pod's own entries stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from growth.api.wellknown import POOL_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from growth.scheduling.taints import Taint, Toleration
    from webhooks.pod import AdmittedAffinity

PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
PREFERENCE_WEIGHT: Final = 1
"""The lowest weight: it decides only if the pod has no other preference."""


class Add(msgspec.Struct, frozen=True, gc=False):
    """An `add` operation."""

    path: str
    value: Any
    op: Literal["add"] = "add"


class AddedToleration(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A toleration for exactly one taint."""

    key: str
    operator: Literal["Equal"]
    effect: str
    value: str = ""


def tolerate(taints: Iterable[Taint], *, own: Sequence[Toleration]) -> tuple[Add, ...]:
    """Add a toleration for each taint, after the pod's own."""
    added = [AddedToleration(each.key, "Equal", each.effect, each.value) for each in taints]
    if not added:
        return ()
    if not own:
        return (Add("/spec/tolerations", added),)
    return tuple(Add("/spec/tolerations/-", each) for each in added)


def require_pool(own: Mapping[str, str], pool: str) -> tuple[Add, ...]:
    """Add the pool to the nodeSelector."""
    if not own:
        return (Add("/spec/nodeSelector", {POOL_LABEL: pool}),)
    # A slash in a key separates the parts of a path, unless it is written like this (RFC 6901).
    return (Add(f"/spec/nodeSelector/{POOL_LABEL.replace('/', '~1')}", pool),)


def prefer_pool(own: AdmittedAffinity | None, pool: str) -> tuple[Add, ...]:
    """Add a preference for the pool, after the pod's own."""
    condition = {"key": POOL_LABEL, "operator": "In", "values": [pool]}
    term = {"weight": PREFERENCE_WEIGHT, "preference": {"matchExpressions": [condition]}}
    if own is None:
        return (Add("/spec/affinity", {"nodeAffinity": {PREFERRED: [term]}}),)
    if own.node_affinity is None:
        return (Add("/spec/affinity/nodeAffinity", {PREFERRED: [term]}),)
    if not own.node_affinity.preferred:
        return (Add(f"/spec/affinity/nodeAffinity/{PREFERRED}", [term]),)
    return (Add(f"/spec/affinity/nodeAffinity/{PREFERRED}/-", term),)
