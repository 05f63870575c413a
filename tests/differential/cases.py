"""A case: a few nodes with what is on them, one pod that is offered, and how it is made unique.

Cases are plain manifests, so that a difference can be read, replayed and cut down without knowing
who made it. Many cases stand in one control plane at the same time and must not see each other.
Two placeholders, which no Kubernetes name may contain, make that sound:

- `~` becomes the case's own stamp. It is in every name and, above all, in the topology keys: what
  affinity and spread count, they count by topology key over all nodes, so nodes of other cases,
  which lack the key, count for nothing.
- `@` becomes the case's place on the stage. Namespaces bear it: they are slow to delete and are
  used again.

Only nodes that offer the case's own extended resource, its seats, can take its pod. Seats bind
without touching labels, taints or tolerations, which other rules look at. With a seat on one node
only, the scheduler's verdict is the verdict on exactly that node, though all others count.

A case that is played alone needs none of this: there the keys are the well-known ones.
"""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

Manifest: TypeAlias = dict[str, Any]

ZONE, RACK, HOST = "~.test/zone", "~.test/rack", "~.test/host"
SEAT = "~.test/seat"
_WELL_KNOWN = {ZONE: "topology.kubernetes.io/zone", HOST: "kubernetes.io/hostname"}


class Isolation(enum.Enum):
    """How the case is kept apart from others."""

    SEATS = "seats"
    ALONE = "alone"


class Case(msgspec.Struct, frozen=True):
    """What is put in place, what is offered, and which constraints it is about."""

    constraints: tuple[str, ...]
    objects: tuple[Manifest, ...]
    pod: Manifest
    isolation: Isolation = Isolation.SEATS


def stamped(case: Case, *, stamp: str, place: int) -> Case:
    """The case as it is sent to the API server: no placeholder is left."""
    text = msgspec.json.encode(case).decode()
    if case.isolation is Isolation.ALONE:
        for ours, well_known in _WELL_KNOWN.items():
            text = text.replace(ours, well_known)
    text = text.replace("~", stamp).replace("@", str(place))
    return msgspec.json.decode(text, type=Case)


def saved(case: Case) -> str:
    """The case as text for a file, for `--replay`."""
    return json.dumps(msgspec.to_builtins(case), indent=1)


def loaded(path: Path) -> Case:
    """The case that `saved` wrote."""
    return msgspec.json.decode(path.read_bytes(), type=Case)
