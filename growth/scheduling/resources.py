"""Vectors of resources: what a pod requests, what a node has, or what is left.

A vector has any number of resources, each an integer: CPU in thousandths, everything else in whole
units. A missing resource is zero, so a pod that requests two GPUs and a node without any compare
without a special case.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.quantity import Amount, milli, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

CPU = "cpu"
MEMORY = "memory"
EPHEMERAL_STORAGE = "ephemeral-storage"
PODS = "pods"

_BINARY_STEPS = (("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10))


class Shortage(msgspec.Struct, frozen=True, gc=False):
    """A resource of which too little is left."""

    name: str
    wanted: int
    left: int

    @property
    def text(self) -> str:
        """For people: needs 96Gi of memory, 28.9Gi are left."""
        if self.name == PODS:
            return "has no room for another pod"
        # A node can be overcommitted; a negative amount would only confuse.
        left_over = max(self.left, 0)
        wanted, left = shown_amount(self.name, self.wanted), shown_amount(self.name, left_over)
        if wanted == left:
            wanted, left = str(self.wanted), str(left_over)
        return f"needs {wanted} of {self.name}, {left} are left"


class Resources(msgspec.Struct, frozen=True, gc=False):
    """An immutable vector."""

    amounts: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self.amounts.get(name, 0)

    def __add__(self, other: Resources) -> Resources:
        amounts = dict(self.amounts)
        for name, amount in other.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
        return Resources(amounts)

    def __sub__(self, other: Resources) -> Resources:
        amounts = dict(self.amounts)
        for name, amount in other.amounts.items():
            amounts[name] = amounts.get(name, 0) - amount
        return Resources(amounts)

    def covers(self, wanted: Resources) -> bool:
        """Whether this is enough for all of `wanted`."""
        left = self.amounts
        return all(
            amount <= 0 or amount <= left.get(name, 0) for name, amount in wanted.amounts.items()
        )


NOTHING = Resources()


def shortages(wanted: Resources, *, have: Resources, taken: Resources) -> tuple[Shortage, ...]:
    """The resources of `wanted` of which too little is left."""
    # A resource that isn't requested is never short, even if it is overcommitted.
    lacking = []
    for name, amount in wanted.amounts.items():
        left = have[name] - taken[name]
        if 0 < amount > left:
            lacking.append(Shortage(name, amount, left))
    return tuple(sorted(lacking, key=lambda shortage: shortage.name))


def parse_resources(amounts: Mapping[str, Amount]) -> Resources:
    """The vector of a resource list; equal lists share one, because most pods have siblings."""
    return _shared(tuple(amounts.items())) if amounts else NOTHING


@functools.lru_cache(maxsize=4096)
def _shared(amounts: tuple[tuple[str, Amount], ...]) -> Resources:
    return Resources({name: parse_one(name, amount) for name, amount in amounts})


def readable_resources(amounts: Mapping[str, Amount]) -> Resources:
    """The same of what a machine reports about itself: what can't be read isn't there."""
    try:
        return parse_resources(amounts)
    except ValueError:
        return parse_resources(dict(_readable(amounts)))


def _readable(amounts: Mapping[str, Amount]) -> Iterator[tuple[str, Amount]]:
    for name, amount in amounts.items():
        try:
            parse_one(name, amount)
        except ValueError:
            continue
        yield name, amount


def parse_finely(amounts: Mapping[str, Amount]) -> Resources:
    """The same in thousandths of each unit, for sums that are rounded once at the end."""
    return _shared_finely(tuple(amounts.items())) if amounts else NOTHING


@functools.lru_cache(maxsize=4096)
def _shared_finely(amounts: tuple[tuple[str, Amount], ...]) -> Resources:
    return Resources({name: _parse_one(name, amount, milli) for name, amount in amounts})


def rounded(finely: Resources) -> Resources:
    """A sum of thousandths in each resource's own unit; for CPU that is a thousandth already."""
    return Resources(
        {
            name: amount if name == CPU else -(-amount // 1000)
            for name, amount in finely.amounts.items()
        }
    )


def parse_one(name: str, amount: Amount) -> int:
    """One amount in the unit of its resource."""
    return _parse_one(name, amount, milli if name == CPU else units)


def _parse_one(name: str, amount: Amount, parsed: Callable[[Amount], int]) -> int:
    try:
        return parsed(amount)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def total(vectors: Iterable[Resources]) -> Resources:
    """The sum of the vectors."""
    # Added up in one dict: repeated `+` would make a vector for each pod of a node.
    amounts: dict[str, int] = {}
    for vector in vectors:
        for name, amount in vector.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount
    return Resources(amounts)


def larger(one: Resources, other: Resources) -> Resources:
    """The larger amount of each resource."""
    if one is other or not other.amounts:
        return one
    amounts = dict(one.amounts)
    for name, amount in other.amounts.items():
        amounts[name] = max(amount, amounts.get(name, amount))
    return Resources(amounts)


def shown_amount(name: str, amount: int) -> str:
    """An amount as people write it: 1500m, 28.9Gi, 3."""
    if name == CPU:
        return f"{amount // 1000}" if amount % 1000 == 0 else f"{amount}m"
    if name in {MEMORY, EPHEMERAL_STORAGE} or name.startswith("hugepages-"):
        return _shown_bytes(amount)
    return str(amount)


def _shown_bytes(amount: int) -> str:
    for suffix, bits in _BINARY_STEPS:
        if amount >= 1 << bits:
            whole, tenths = divmod((amount * 10) >> bits, 10)
            return f"{whole}.{tenths}{suffix}" if tenths else f"{whole}{suffix}"
    return str(amount)
