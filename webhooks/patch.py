"""Additions to a pod as a JSON patch (RFC 6902): nothing is ever replaced, moved or taken away.

`add` needs the parent of what it adds, so a path begins at the deepest part that the pod has. New
entries go to the end of lists: the pod's own keep their places.
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
"""The least there is: it draws a pod that has no other wish, and outweighs no wish that it has."""


class Add(msgspec.Struct, frozen=True, gc=False):
    """One addition."""

    path: str
    value: Any
    op: Literal["add"] = "add"


class AddedToleration(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The consent to one taint and to no other."""

    key: str
    operator: Literal["Equal"]
    effect: str
    value: str = ""


def tolerate(taints: Iterable[Taint], *, own: Sequence[Toleration]) -> tuple[Add, ...]:
    """A toleration for each of these taints, after the pod's own."""
    added = [AddedToleration(each.key, "Equal", each.effect, each.value) for each in taints]
    if not added:
        return ()
    if not own:
        return (Add("/spec/tolerations", added),)
    return tuple(Add("/spec/tolerations/-", each) for each in added)


def require_pool(own: Mapping[str, str], pool: str) -> tuple[Add, ...]:
    """The pool among what the node must have."""
    if not own:
        return (Add("/spec/nodeSelector", {POOL_LABEL: pool}),)
    return (Add(f"/spec/nodeSelector/{POOL_LABEL.replace('/', '~1')}", pool),)


def prefer_pool(own: AdmittedAffinity | None, pool: str) -> tuple[Add, ...]:
    """The pool after what the pod prefers already."""
    condition = {"key": POOL_LABEL, "operator": "In", "values": [pool]}
    term = {"weight": PREFERENCE_WEIGHT, "preference": {"matchExpressions": [condition]}}
    if own is None:
        return (Add("/spec/affinity", {"nodeAffinity": {PREFERRED: [term]}}),)
    if own.node_affinity is None:
        return (Add("/spec/affinity/nodeAffinity", {PREFERRED: [term]}),)
    if not own.node_affinity.preferred:
        return (Add(f"/spec/affinity/nodeAffinity/{PREFERRED}", [term]),)
    return (Add(f"/spec/affinity/nodeAffinity/{PREFERRED}/-", term),)
