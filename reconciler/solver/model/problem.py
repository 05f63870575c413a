"""The solver's input as plain data: pods that need a node, and nodes that exist or can be bought.

Nothing here knows Kubernetes. The caller has already turned selectors, taints, volumes and
DaemonSets into three things: the offers that a class of pods may use, the capacity of an offer that
is left for pods, and tokens for pods that repel each other. All amounts are integers, in units that
the caller chooses; money is in millionths per hour. So a plan is either exactly valid or not.
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
"""With a gap this small, the search ends whatever effort is left."""


class Effort(Enum):
    """How much work a solve may do; the value is its budget in ticks (about 1 µs each)."""

    QUICK = 350_000
    NORMAL = 1_900_000
    THOROUGH = 10_000_000

    @property
    def content(self) -> float:
        """The gap at which the search ends, as the rest isn't worth the wait."""
        # Beyond this gap a normal solve took most of its time for a few hundredths of a percent:
        # 10,000 pods on Hetzner's price list took 2.2 s of a processor instead of 0.3.
        return 0.005 if self is Effort.NORMAL else CLOSE


@dataclass(frozen=True, slots=True, kw_only=True)
class PodClass:
    """Pods that are equal in everything that decides where they can run.

    Two pods don't share a node if one has a mark that the other repels. A node holds at most one
    pod that repels its own mark. Host ports and anti-affinity by hostname are expressed this way.
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
    """The constraints that reduced `offers`, in order, with the number of offers each one left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A kind of node that can be bought or, if it `exists`, one node that has joined or will join.

    `capacity` is what is left for pods, without what the system, DaemonSets and running pods use.
    """

    name: str
    capacity: tuple[int, ...]
    price: int = 0
    currency: str = ""
    """Prices are compared within one currency only."""
    type: str = ""
    location: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None
    weight: int = 0
    exists: bool = False
    rank: int = 0
    """Of two equally good offers at the same price, the one with the lower rank is used."""
    marks: frozenset[str] = frozenset()
    repels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The new nodes together use at most `most` of something: nodes, CPU, memory, cost per hour.

    `amounts` has what one node of an offer uses; an offer that isn't listed uses nothing.
    """

    name: str
    amounts: Mapping[str, int]
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """At least `count` new nodes of these offers are bought, even if they stay empty."""

    name: str
    offers: frozenset[str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRule:
    """A domain that gets a pod of `members` has at most `max_skew` more than the emptiest domain.

    `running` has the pods of the group that run already; `domains` also count when they are empty.
    With fewer domains than `min_domains`, the emptiest one counts as having no pods.

    If the key is `HOSTNAME`, each node is a domain: each existing node that a member may use or
    that is listed, and each new node of an offer that a member may use or that is in `counted`.
    """

    name: str
    key: str
    members: frozenset[str]
    max_skew: int
    running: Mapping[str, int] = field(default_factory=dict)
    domains: frozenset[str] = frozenset()
    counted: frozenset[str] = frozenset()
    min_domains: int = 1

    def up_to(self, lowest: int) -> Apart:
        """The limit on each domain if the emptiest one has this many pods."""
        return Apart(
            name=self.name,
            key=self.key,
            members=self.members,
            most=lowest + self.max_skew,
            running=self.running,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """No domain holds more than `most` pods of `members`, including those that run already."""

    name: str
    key: str
    members: frozenset[str]
    most: int = 1
    running: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """All pods of `members` go to the same domain.

    If members run already, the caller has reduced their offers to that domain.
    """

    name: str
    key: str
    members: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A domain that gets a pod of `members` has a pod of `anchors`, one that runs or a planned one.

    `running` has the domains in which an anchor runs already. No class may need itself, not even by
    way of other rules: pods are bound one after the other, so one of them must be able to go first.
    """

    name: str
    key: str
    members: frozenset[str]
    anchors: frozenset[str]
    running: frozenset[str] = frozenset()


Group = SpreadRule | Apart | Together | Near


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """All pods that need a node, all nodes that they could use, and the rules."""

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
        """The same problem in a fixed order, so that the order of the input doesn't matter.

        Offers are in the order of preference, everything else is sorted by name.
        """
        return replace(
            self,
            classes=tuple(sorted(self.classes, key=lambda one: one.name)),
            offers=preferred_offers(self.offers),
            limits=tuple(sorted(self.limits, key=lambda one: one.name)),
            minima=tuple(sorted(self.minima, key=lambda one: one.name)),
            groups=tuple(sorted(self.groups, key=lambda one: one.name)),
        )

    def limited_by_node(self) -> Problem:
        """The problem with a limit on each node instead of each spread over nodes.

        The limit holds whatever the emptiest node has.
        """
        groups = (
            group.up_to(0) if isinstance(group, SpreadRule) and group.key == HOSTNAME else group
            for group in self.groups
        )
        return replace(self, groups=tuple(groups))

    def _refuse_amounts(self, what: str, signed: tuple[int, ...], sized: tuple[int, ...]) -> None:
        if len(sized) != len(self.resources):
            raise ValueError(f"{what} has {len(sized)} amounts for {len(self.resources)} resources")
        if any(amount < 0 for amount in signed):
            raise ValueError(
                f"{what} has a negative amount: counts, requests and prices start at 0"
            )


def preferred_offers(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    """Offers in the order of preference among equal ones: by rank, then by name."""
    return tuple(sorted(offers, key=lambda one: (one.rank, one.name)))


def _refuse_doubles(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two of kind {kind} are named {name!r}: give each its own name")
        seen.add(name)
