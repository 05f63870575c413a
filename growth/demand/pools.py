"""Which pools a pod may use: those that it names, else the pool called `default`.

A pod names pools by its nodeSelector or its required node affinity on `growth.dev/pool`; an
affinity can name several, or all but some, so the answer is a set. What a pod says about pools is a
value of its own, the wish: pods have few different ones, so an answer for a wish serves them all.
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
    """What a pod says about pools: all conditions of one alternative, and the selector, hold."""

    selected: str | None = None
    alternatives: tuple[Alternative, ...] | None = None
    """None: it has no affinity. An alternative without conditions is one that isn't about pools."""

    @property
    def names_a_pool(self) -> bool:
        """Whether it says anything about pools."""
        return self.selected is not None or any(self.alternatives or ())

    @property
    def names(self) -> tuple[str, ...]:
        """The pools that it asks for by name."""
        named = {
            value
            for alternative in self.alternatives or ()
            for requirement in alternative
            if requirement.operator == "In"
            for value in requirement.values or ()
        }
        return (self.selected,) if self.selected is not None else tuple(sorted(named))

    def admits(self, pool: str) -> bool:
        """Whether it may use this pool."""
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
    """No pool that exists is one that the pod may use."""

    requested: tuple[str, ...]
    """What it asks for by name; `default`, if it says nothing about pools."""

    @property
    def text(self) -> str:
        """For people: one line, with the way out."""
        if self.requested == (DEFAULT_POOL,):
            return f'there is no pool "{DEFAULT_POOL}": create it, or name one by {POOL_LABEL}'
        if not self.requested:
            return f"no pool is what the pod asks for by {POOL_LABEL}: mend its affinity"
        names = " or ".join(f'"{name}"' for name in self.requested)
        return f"there is no pool {names} that the pod may use: create it, or mend {POOL_LABEL}"


Verdict = UsablePools | PoolNotFound


def wish_of(pod: Pod) -> PoolChoice:
    """What the pod says about pools."""
    selected = pod.spec.node_selector.get(POOL_LABEL)
    affinity = pod.wanted_nodes.affinity
    if affinity is None:
        return NOTHING_SAID if selected is None else PoolChoice(selected)
    terms = affinity.node_selector_terms or ()
    wish = PoolChoice(selected, tuple(_about_pools(term) for term in terms if _says_anything(term)))
    return wish if wish.names_a_pool else NOTHING_SAID


def match(wish: PoolChoice, pools: Iterable[str]) -> Verdict:
    """Which of the existing pools it may use."""
    admitted = frozenset(pool for pool in pools if wish.admits(pool))
    if admitted:
        return UsablePools(admitted)
    return PoolNotFound(wish.names if wish.names_a_pool else (DEFAULT_POOL,))


def why_unreadable(wish: PoolChoice, unreadable: Iterable[str]) -> str:
    """What to say where a pool that it may use is there and can't be read; else empty."""
    verdict = match(wish, unreadable)
    if not isinstance(verdict, UsablePools):
        return ""
    name = min(verdict.names)
    return f'pool "{name}" can\'t be read: kubectl describe nodepool {name} says why'


def pools_of(pod: Pod, pools: Iterable[str]) -> frozenset[str]:
    """The existing pools that the pod may use; none, if what it names isn't there."""
    verdict = match(wish_of(pod), pools)
    return verdict.names if isinstance(verdict, UsablePools) else frozenset()


def follow_names(names: dict[str, None], changes: Iterable[Change[NodePool]]) -> None:
    """Keep the names of the pools that exist; one that can't be read any more still does.

    A dict, as its order is the same in each run.
    """
    for change in changes:
        if change.kind is ChangeKind.DELETED:
            names.pop(change.key.name, None)
        else:
            names[change.key.name] = None


def _about_pools(term: NodeSelectorTerm) -> Alternative:
    return tuple(each for each in term.match_expressions or () if each.key == POOL_LABEL)


def _says_anything(term: NodeSelectorTerm) -> bool:
    """A term without conditions matches no node, hence no node of any pool."""
    return bool(term.match_expressions or term.match_fields)
