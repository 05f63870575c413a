"""Price lists and pods to measure the solver with: generated from a seed, shaped like real ones.

There are two price lists: `aws`, 576 offers whose price is nearly linear in their size, and
`hetzner`, 57 offers with real spreads (the same cores cost 1 or 15, depending on the family). There
are three kinds of pods: `kb`, small and even; `heavy`, with the long tail of real clusters; `big`,
each about as large as a node.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from reconciler.solver.model.problem import Offer, PodClass, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

RESOURCES = ("cpu", "memory", "pods", "ephemeral-storage")
GIB = 1024  # memory and storage are counted in MiB

# Cores, memory in GiB, disk in GB, euros per month; net list prices of 2026 for one location.
HETZNER = {
    "cx23": (2, 4, 40, 5.49),
    "cx33": (4, 8, 80, 8.49),
    "cx43": (8, 16, 160, 15.99),
    "cx53": (16, 32, 320, 29.49),
    "cpx22": (2, 4, 80, 19.49),
    "cpx32": (4, 8, 160, 35.49),
    "cpx42": (8, 16, 320, 69.49),
    "cpx52": (12, 24, 480, 100.49),
    "cpx62": (16, 32, 640, 129.99),
    "cax11": (2, 4, 40, 5.99),
    "cax21": (4, 8, 80, 10.49),
    "cax31": (8, 16, 160, 20.99),
    "cax41": (16, 32, 320, 40.99),
    "ccx13": (2, 8, 80, 42.99),
    "ccx23": (4, 16, 160, 85.99),
    "ccx33": (8, 32, 240, 138.49),
    "ccx43": (16, 64, 360, 275.99),
    "ccx53": (32, 128, 600, 551.99),
    "ccx63": (48, 192, 960, 827.99),
}
HOURS = 624  # a month is billed as at most so many hours
ADDRESS = 800  # an IPv4 address, in millionths per hour


def catalogue(name: str, seed: int) -> tuple[Offer, ...]:
    """All offers of a price list."""
    match name:
        case "hetzner":
            return _hetzner()
        case "aws":
            return _aws(random.Random(f"catalogue {seed}"))
        case _:
            raise ValueError(f"no price list is called {name!r}: take aws or hetzner")


def left_for_pods(cores: int, memory: int, disk: int, pods: int) -> tuple[int, ...]:
    """What a node of that size leaves for pods, in milli-cores, MiB, pods and MiB."""
    cpu = int(cores * 1000 * 0.99) - 300
    return cpu, int(memory * GIB * 0.95) - 614, pods - 4, int(disk * GIB * 0.85)


def _hetzner() -> tuple[Offer, ...]:
    return tuple(
        Offer(
            name=f"{kind}/{place}",
            type=kind,
            location=place,
            capacity=left_for_pods(cores, memory, disk, 110),
            price=round(euros / HOURS * 1_000_000) + ADDRESS,
            labels={"zone": place, "arch": "arm64" if kind.startswith("cax") else "amd64"},
        )
        for kind, (cores, memory, disk, euros) in HETZNER.items()
        for place in ("fsn1", "nbg1", "hel1")
    )


CPU_SIZES = (1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256)


def _aws(chance: random.Random) -> tuple[Offer, ...]:
    """12 sizes x 3 ratios x 2 architectures x 4 zones x spot and on demand."""
    offers = []
    for cores in CPU_SIZES:
        for ratio in (2, 4, 8):
            for arch in ("amd64", "arm64"):
                price = (0.025 * cores + 0.0033 * cores * ratio) * chance.uniform(0.95, 1.05)
                price *= 0.8 if arch == "arm64" else 1.0
                kind = f"{arch[:3]}-{cores}x{ratio}"
                offers += _in_zones(kind, arch, price, (cores, cores * ratio), chance)
    return tuple(offers)


def _in_zones(
    kind: str, arch: str, price: float, size: tuple[int, int], chance: random.Random
) -> list[Offer]:
    capacity = left_for_pods(*size, disk=20 + 10 * size[0], pods=min(250, 30 + 15 * size[0]))
    return [
        Offer(
            name=f"{kind}/{zone}/{terms}",
            type=kind,
            location=zone,
            capacity=capacity,
            price=round(price * (chance.uniform(0.5, 0.84) if terms == "spot" else 1.0) * 1e6),
            labels={"zone": zone, "arch": arch, "terms": terms},
        )
        for zone in ("a", "b", "c", "d")
        for terms in ("spot", "demand")
    ]


def workload(
    *, offers: tuple[Offer, ...], pods: str, constraints: str, classes: int, count: int, seed: int
) -> Problem:
    """This many pods of this many classes, whose counts fall off as in real clusters."""
    chance = random.Random(f"{pods} {constraints} {classes} {count} {seed}")
    draw = _DRAWS[pods]
    counts = _shared_out(classes, count, chance)
    return Problem(
        resources=RESOURCES,
        offers=offers,
        classes=tuple(
            PodClass(
                name=f"class-{number:05}",
                requests=draw(chance),
                count=n,
                offers=_allowed(offers, constraints, chance),
            )
            for number, n in enumerate(counts)
        ),
    )


def _shared_out(classes: int, count: int, chance: random.Random) -> list[int]:
    """Zipf: the n-th largest class has a share of 1/n; each has at least one pod."""
    shares = [1 / (number + 1) for number in range(classes)]
    chance.shuffle(shares)
    spare, total = count - classes, sum(shares)
    counts = [1 + int(spare * share / total) for share in shares]
    for number in range(count - sum(counts)):
        counts[number % classes] += 1
    return counts


def _kb(chance: random.Random) -> tuple[int, ...]:
    cpu = chance.choice((100, 250, 500, 1000, 1500))
    return cpu, chance.choice((100, 256, 512, 1024, 2048, 4096)), 1, 0


def _heavy(chance: random.Random) -> tuple[int, ...]:
    cpu = min(15_000, max(10, int(chance.lognormvariate(0, 1.2) * 300)))
    memory = int(cpu / 1000 * chance.lognormvariate(0, 0.9) * 2.5 * GIB)
    return cpu, min(28 * GIB, max(16, memory)), 1, chance.choice((0, 0, 512))


def _big(chance: random.Random) -> tuple[int, ...]:
    return chance.randrange(600, 8000, 50), chance.randrange(1536, 16 * GIB, 64), 1, 0


_DRAWS: dict[str, Callable[[random.Random], tuple[int, ...]]] = {
    "kb": _kb,
    "heavy": _heavy,
    "big": _big,
}


def _allowed(offers: tuple[Offer, ...], constraints: str, chance: random.Random) -> frozenset[str]:
    """60 % run on amd64 only, 50 % on demand only, 15 % in one zone only."""
    wanted: dict[str, str] = {}
    if constraints == "on":
        zones = sorted({offer.labels["zone"] for offer in offers})
        wanted |= {"arch": "amd64"} if chance.random() < 0.6 else {}
        wanted |= {"terms": "demand"} if chance.random() < 0.5 else {}
        wanted |= {"zone": chance.choice(zones)} if chance.random() < 0.15 else {}
    return _matching(offers, tuple(sorted(wanted.items())))


_SETS: dict[tuple[int, tuple[tuple[str, str], ...]], frozenset[str]] = {}


def _matching(offers: tuple[Offer, ...], wanted: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """One set for all classes with the same requirements."""
    key = (id(offers), wanted)
    if key not in _SETS:
        _SETS[key] = frozenset(
            offer.name
            for offer in offers
            if all(offer.labels.get(label, value) == value for label, value in wanted)
        )
    return _SETS[key]
