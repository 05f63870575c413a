"""Which pods of a plan still share each of its nodes, now that some of them are gone.

A pod that must be near others needs one of them in the plan. If those were bound elsewhere or
deleted while the solver worked, it loses its place and is planned again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reconciler.solver import HOSTNAME, Near

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from growth.scheduling.pod import Pod
    from reconciler.solver import PlannedNode, Problem


class NodeShare(NamedTuple):
    """A node of a plan, and what is left of its pods, by class."""

    node: PlannedNode
    pods: Mapping[str, tuple[Pod, ...]]
    coming: Mapping[str, tuple[Pod, ...]]
    """One pod for each announced pod that will use the node too."""

    def has(self, names: frozenset[str]) -> bool:
        """Whether a pod of these classes is left."""
        return any(self.pods.get(name) or self.coming.get(name) for name in names)


def without_stranded(shares: Sequence[NodeShare], problem: Problem) -> list[NodeShare]:
    """The same without pods that have lost all the pods that they must be near."""
    groups = [group for group in problem.groups if isinstance(group, Near)]
    found = list(shares)
    labels = {offer.name: offer.labels for offer in problem.offers} if groups else {}
    is_settled = not groups
    while not is_settled:
        is_settled = True
        for group in groups:
            domains = [
                _domain(share.node.offer, group, number=number, labels=labels)
                for number, share in enumerate(found)
            ]
            pairs = list(zip(domains, found, strict=True))
            open_to = group.running | {name for name, share in pairs if share.has(group.anchors)}
            for number, (name, share) in enumerate(pairs):
                if name not in open_to and share.has(group.members):
                    found[number] = _lacking(share, group.members)
                    is_settled = False
    return found


def _domain(
    offer: str, group: Near, *, number: int, labels: Mapping[str, Mapping[str, str]]
) -> str:
    if group.key == HOSTNAME:
        # A node that is bought gets its name later; nothing else is in its domain.
        return offer if offer in group.running else f"node {number}"
    return labels[offer].get(group.key, "")


def _lacking(share: NodeShare, names: frozenset[str]) -> NodeShare:
    return share._replace(
        pods={name: pods for name, pods in share.pods.items() if name not in names},
        coming={name: pods for name, pods in share.coming.items() if name not in names},
    )
