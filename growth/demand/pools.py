"""Which pools a pod may use: those that it selects, or else the pool called `default`.

A pod selects pools with its nodeSelector or its required node affinity on `growth.dev/pool`. An
affinity can select several pools, or exclude some, so the answer is a set. The conditions of a pod
on pools are its wish. Pods have few different wishes, so an answer for a wish is shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.wellknown import DEFAULT_POOL, POOL_LABEL
from growth.kube.cache.contents import ChangeKind
from growth.scheduling.selectors import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool
    from growth.kube.cache.contents import Change
    from growth.scheduling.node_affinity import NodeSelectorTerm
    from growth.scheduling.pod import Pod

Alternative = tuple[Requirement, ...]


class PoolChoice(msgspec.Struct, frozen=True, gc=False):
    """The wish: the nodeSelector, and all conditions of at least one alternative, must match."""

    selected: str | None = None
    alternatives: tuple[Alternative, ...] | None = None
    """None without an affinity. An alternative without conditions doesn't mention pools."""

    @property
    def names_a_pool(self) -> bool:
        """Whether it has any condition on pools."""
        return self.selected is not None or any(self.alternatives or ())

    @property
    def names(self) -> tuple[str, ...]:
        """The pools that it selects by name."""
        named = {
            value
            for alternative in self.alternatives or ()
            for requirement in alternative
            if requirement.operator == "In"
            for value in requirement.values or ()
        }
        return (self.selected,) if self.selected is not None else tuple(sorted(named))

    def admits(self, pool: str) -> bool:
        """Whether pods with this wish may use the pool."""
        if not self.names_a_pool:
            return pool == DEFAULT_POOL
        if self.selected not in {None, pool}:
            return False
        labels = {POOL_LABEL: pool}
        return self.alternatives is None or any(
            all(requirement.matches(labels) for requirement in alternative)
            for alternative in self.alternatives
        )


NOTHING_SAID: Final = PoolChoice()


class UsablePools(msgspec.Struct, frozen=True):
    """The pools that a pod may use; at least one."""

    names: frozenset[str]


class PoolNotFound(msgspec.Struct, frozen=True):
    """The pod may use none of the existing pools."""

    requested: tuple[str, ...]
    """The pools that it selects by name; `default` if it has no condition on pools."""

    @property
    def text(self) -> str:
        """For people: one line with the fix."""
        if self.requested == (DEFAULT_POOL,):
            return f'there is no pool "{DEFAULT_POOL}": create it, or select one with {POOL_LABEL}'
        if not self.requested:
            return f"no pool matches the pod's affinity on {POOL_LABEL}: correct the affinity"
        names = " or ".join(f'"{name}"' for name in self.requested)
        return f"there is no pool {names} that the pod may use: create it, or correct {POOL_LABEL}"


Verdict = UsablePools | PoolNotFound


def wish_of(pod: Pod) -> PoolChoice:
    """The wish of a pod."""
    selected = pod.spec.node_selector.get(POOL_LABEL)
    affinity = pod.wanted_nodes.affinity
    if affinity is None:
        return NOTHING_SAID if selected is None else PoolChoice(selected)
    terms = affinity.node_selector_terms or ()
    wish = PoolChoice(selected, tuple(_about_pools(term) for term in terms if _says_anything(term)))
    return wish if wish.names_a_pool else NOTHING_SAID


def match_pools(wish: PoolChoice, pools: Iterable[str]) -> Verdict:
    """The existing pools that pods with this wish may use."""
    admitted = frozenset(pool for pool in pools if wish.admits(pool))
    if admitted:
        return UsablePools(admitted)
    return PoolNotFound(wish.names if wish.names_a_pool else (DEFAULT_POOL,))


def why_unreadable(wish: PoolChoice, unreadable: Iterable[str]) -> str:
    """A text if a pool that it may use exists but is invalid; else ""."""
    verdict = match_pools(wish, unreadable)
    if not isinstance(verdict, UsablePools):
        return ""
    name = min(verdict.names)
    return f'pool "{name}" can\'t be read: see kubectl describe nodepool {name}'


def pools_of(pod: Pod, pools: Iterable[str]) -> frozenset[str]:
    """The existing pools that the pod may use."""
    verdict = match_pools(wish_of(pod), pools)
    return verdict.names if isinstance(verdict, UsablePools) else frozenset()


def follow_names(names: dict[str, None], changes: Iterable[Change[NodePool]]) -> None:
    """Update the names of existing pools; a pool that can't be read still exists.

    The names are in a dict because its order is the same in each run.
    """
    for change in changes:
        if change.kind is ChangeKind.DELETED:
            names.pop(change.key.name, None)
        else:
            names[change.key.name] = None


def _about_pools(term: NodeSelectorTerm) -> Alternative:
    return tuple(each for each in term.match_expressions or () if each.key == POOL_LABEL)


def _says_anything(term: NodeSelectorTerm) -> bool:
    """Whether a term has conditions; one without matches no node, and so no pool."""
    return bool(term.match_expressions or term.match_fields)
