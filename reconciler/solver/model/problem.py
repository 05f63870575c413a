"""What is to be placed, and what may be bought for it: the solver's whole input, as plain data.

Nothing here knows Kubernetes. Whoever asks has already turned selectors, taints, volumes and
DaemonSets into three things: the set of offers that a class of pods may use, the capacity that an
offer leaves for pods, and tokens of pods that repel each other. All amounts are integers in the
caller's own units, money is millionths per hour, so that a plan is valid exactly or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HOSTNAME = "kubernetes.io/hostname"
"""The topology key whose domains are single nodes."""


CLOSE = 0.0005
"""A gap that no effort at all is spent on."""


class Effort(Enum):
    """How much counted work a solve may do; the value is its budget in ticks (about 1 µs each)."""

    QUICK = 350_000
    NORMAL = 1_900_000
    THOROUGH = 10_000_000

    @property
    def content(self) -> float:
        """A gap below which nothing more is tried: what remains to gain isn't worth the wait."""
        return 0.005 if self is Effort.NORMAL else CLOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class PodClass:
    """Pods that are alike in all that decides where they may go.

    Two pods never share a node when one's `marks` meet the other's `repels`; a pod that repels its
    own mark is alone of its kind on a node. Host ports and anti-affinity by hostname are such.
    """

    name: str
    requests: tuple[int, ...]
    count: int
    offers: frozenset[str]
    priority: int = 0
    per_node: int | None = None
    marks: frozenset[str] = frozenset()
    repels: frozenset[str] = frozenset()
    narrowed: tuple[tuple[str, int], ...] = ()
    """Each constraint that narrowed `offers`, in order, with the number of offers it left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A kind of node that can be had, or (`exists`) one node that is there or on its way.

    `capacity` is what is left for pods: system, DaemonSets and running pods are deducted already.
    """

    name: str
    capacity: tuple[int, ...]
    price: int = 0
    type: str = ""
    location: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None
    weight: int = 0
    exists: bool = False
    rank: int = 0
    """Where two offers serve as well at the same price, the one with the lower rank is taken."""
    marks: frozenset[str] = frozenset()
    repels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The new nodes together use at most `most` of something: nodes, cpu, memory, cost per hour.

    `amounts` says how much one node of an offer uses; offers not named use none.
    """

    name: str
    amounts: Mapping[str, int]
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """At least `count` new nodes of these offers are bought, with or without pods."""

    name: str
    offers: frozenset[str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRule:
    """A domain that takes a pod of `members` ends at most `max_skew` above the emptiest domain.

    `running` counts pods of the group that run already; `domains` are all that count as empty.
    """

    name: str
    key: str
    members: frozenset[str]
    max_skew: int
    running: Mapping[str, int] = field(default_factory=dict)
    domains: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """No domain holds more than `most` pods of `members`, those that run already included."""

    name: str
    key: str
    members: frozenset[str]
    most: int = 1
    running: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """All pods of `members` go to one and the same domain.

    Where members run already, the caller has narrowed their offers to that domain.
    """

    name: str
    key: str
    members: frozenset[str]


Group = SpreadRule | Apart | Together


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """All pods that need a node, all nodes that could serve them, and the rules between."""

    resources: tuple[str, ...]
    classes: tuple[PodClass, ...]
    offers: tuple[Offer, ...]
    limits: tuple[Limit, ...] = ()
    minima: tuple[Minimum, ...] = ()
    groups: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        _refuse_doubles("class", [one.name for one in self.classes])
        _refuse_doubles("offer", [one.name for one in self.offers])
        _refuse_doubles("group", [one.name for one in self.groups])
        _refuse_doubles("limit", [one.name for one in self.limits])
        _refuse_doubles("minimum", [one.name for one in self.minima])
        for pod in self.classes:
            self._refuse_amounts(f"class {pod.name!r}", (*pod.requests, pod.count), pod.requests)
        for offer in self.offers:
            self._refuse_amounts(f"offer {offer.name!r}", (offer.price,), offer.capacity)

    def in_order(self) -> Problem:
        """The same problem with all its parts by name: the order of the input says nothing.

        Offers are in the order in which they are preferred, and by name where that says nothing.
        """
        return replace(
            self,
            classes=tuple(sorted(self.classes, key=lambda one: one.name)),
            offers=preferred_offers(self.offers),
            limits=tuple(sorted(self.limits, key=lambda one: one.name)),
            minima=tuple(sorted(self.minima, key=lambda one: one.name)),
            groups=tuple(sorted(self.groups, key=lambda one: one.name)),
        )

    def _refuse_amounts(self, what: str, signed: tuple[int, ...], sized: tuple[int, ...]) -> None:
        if len(sized) != len(self.resources):
            raise ValueError(f"{what} has {len(sized)} amounts for {len(self.resources)} resources")
        if any(amount < 0 for amount in signed):
            raise ValueError(
                f"{what} has a negative amount: counts, requests and prices start at 0"
            )


def preferred_offers(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Offers in the order in which equal ones are taken."""
    return tuple(sorted(offers, key=lambda one: (one.rank, one.name)))


def _refuse_doubles(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two of kind {kind} are named {name!r}: give each its own name")
        seen.add(name)
