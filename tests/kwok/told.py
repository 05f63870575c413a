"""What the demo has told, read back from its lines and added up."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

LINE = re.compile(r" +(\d+) x (\w+) +(\w+) +([\d.]+)/h each +(\d+) pods")
SUM = re.compile(r" +(\d+) machines +([\d.]+)/h in all +(\d+) pods")
CHANGE = re.compile(r" +([+-][\d.]+)   (.+?)(?::|$)", re.MULTILINE)
SHRUNK = re.compile(r" +(\d+) machines at ([\d.]+) per hour become (\d+) at ([\d.]+) within")


class Sum(NamedTuple):
    """Machines, what they cost an hour, and the pods that they are for."""

    machines: int
    cost: Decimal
    pods: int


def step(number: int, told: str) -> str:
    """The lines of one step."""
    return re.split(r"^  \d  ", told, flags=re.MULTILINE)[number]


def added_up(lines: str) -> Sum:
    """The sum of all lines that tell of machines."""
    found = [(int(one[1]), Decimal(one[4]), int(one[5])) for one in LINE.finditer(lines)]
    return Sum(
        sum(machines for machines, _, _ in found),
        sum((machines * price for machines, price, _ in found), Decimal(0)),
        sum(pods for _, _, pods in found),
    )


def sums(lines: str) -> list[Sum]:
    """What the lines below the tables say."""
    return [Sum(int(one[1]), Decimal(one[2]), int(one[3])) for one in SUM.finditer(lines)]


def assert_it_adds_up(told: str) -> None:
    """Every figure that follows from others is what they come to."""
    bought, anew, drop = step(3, told), step(4, told), step(5, told)
    plan = bought.partition(" per hour, ")[0]
    assert sums(plan) == [added_up(plan)]
    assert added_up(plan).pods == 50
    at_home = sum(int(count) for count in re.findall(r"the other (\d+):", anew))
    assert added_up(anew).pods + at_home == 6
    assert f"{added_up(bought).machines} machines joined" in bought

    shrunk = SHRUNK.search(drop)
    assert shrunk is not None
    before = added_up(bought + anew)
    assert (int(shrunk[1]), Decimal(shrunk[2])) == (before.machines, before.cost)
    changes = list(CHANGE.finditer(drop))
    assert before.cost + sum(Decimal(one[1]) for one in changes) == Decimal(shrunk[4])
    went = sum(_machines(one[2]) * (1 if one[1][0] == "+" else -1) for one in changes)
    assert before.machines + went == int(shrunk[3])


def _machines(listed: str) -> int:
    return sum(int(count) for count in re.findall(r"(\d+) x", listed))
