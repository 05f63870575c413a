"""What the demo counts and adds up: machines, their cost, and the pods that they are for.

A NodeRequest says for how many pods of which workload its machine is, including announced ones.
Only this is counted, so each pod counts once, whenever it was created. Money is added as decimals,
so the lines of a table add up exactly to its sum.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class DemoOffer(NamedTuple):
    """The offer that a machine was bought from."""

    server_type: str
    location: str
    price: str

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> DemoOffer:
        """The offer of a NodeRequest."""
        spec = request["spec"]
        return cls(spec["serverType"], spec["location"], spec["price"])


class DemoMachines(NamedTuple):
    """A number of machines, their cost per hour, and the number of pods that they are for."""

    number: int
    cost: Decimal
    pods: int


def name_of_request(request: Mapping[str, Any]) -> str:
    """The name of a request, which is also that of its machine and node."""
    return str(request["metadata"]["name"])


def pods_of(request: Mapping[str, Any]) -> int:
    """Number of pods that a machine is bought for."""
    return sum(each["pods"] for each in request["spec"].get("workloads", ()))


def all_machines(requests: Iterable[Mapping[str, Any]]) -> DemoMachines:
    """The sum of all of them."""
    listed = list(requests)
    cost = sum((Decimal(DemoOffer.of(each).price) for each in listed), Decimal(0))
    return DemoMachines(len(listed), cost, sum(pods_of(each) for each in listed))


def bought(requests: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """One line per offer, and then the sum."""
    listed = list(requests)
    machines: Counter[DemoOffer] = Counter()
    pods: Counter[DemoOffer] = Counter()
    for request in listed:
        machines[DemoOffer.of(request)] += 1
        pods[DemoOffer.of(request)] += pods_of(request)
    for offer in sorted(machines):
        place = f"{offer.server_type:6} {offer.location:6} {money(offer.price)}/h each"
        yield f"{machines[offer]:3} x {place}   {pods[offer]:3} pods"
    if len(machines) > 1:
        whole = all_machines(listed)
        yield f"{whole.number:3} machines      {money(whole.cost)}/h in all {whole.pods:3} pods"


def given_back(
    gone: Iterable[str], offers: Mapping[str, DemoOffer], reasons: Mapping[str, str]
) -> Iterator[str]:
    """One line per reason: the machines that went, and their cost per hour."""
    by_reason: dict[str, list[str]] = {}
    for name in sorted(gone):
        by_reason.setdefault(reasons.get(name, "Unknown"), []).append(name)
    for reason, names in sorted(by_reason.items()):
        cost = sum((Decimal(offers[name].price) for name in names), Decimal(0))
        types = Counter(offers[name].server_type for name in names)
        listed = ", ".join(f"{count} x {each}" for each, count in sorted(types.items()))
        yield f"-{money(cost)}   {listed}: {WHY.get(reason, reason)}"


WHY = {
    "Consolidation": "their pods fit on other machines",
    "Idle": "no pods were left on them",
}
"""Explanations of the reasons of removals."""


def money(amount: Decimal | str) -> str:
    """An amount of money, as all prices are shown."""
    return f"{Decimal(amount):.4f}"
