"""What a story is: objects that are there, and chapters of steps after which all is quiet.

Steps never name a moment. They follow upon each other, or upon something that has happened, so that
a story is the same on a machine that is slow.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from tests.live import IN_TIME
from tests.stories.objects import Catalogue, Object, Pool, named


class Make(msgspec.Struct, frozen=True):
    """Create objects."""

    objects: tuple[Object, ...]


class Scale(msgspec.Struct, frozen=True):
    """Let a deployment have so many pods."""

    deployment: str
    replicas: int


class Remove(msgspec.Struct, frozen=True):
    """Delete a pod that nobody owns."""

    pod: str


class Ungate(msgspec.Struct, frozen=True):
    """Let the scheduler have a pod."""

    pod: str


class Cordon(msgspec.Struct, frozen=True):
    """A person wants no more pods on the machines that are there."""


class Replace(msgspec.Struct, frozen=True):
    """A pool or the catalogue gets another spec."""

    by: Catalogue | Pool


class Restart(msgspec.Struct, frozen=True):
    """The reconciler is killed, and started again."""


class Happening(StrEnum):
    """What can be waited for."""

    REQUESTED = "as many pods are served by requests as there are"
    MADE = "all requests have a machine"


class Await(msgspec.Struct, frozen=True):
    """The next step comes after this."""

    happening: Happening


Step = Make | Scale | Remove | Ungate | Cordon | Replace | Restart | Await
Chapter = tuple[Step, ...]


class Call(StrEnum):
    """What an answer can be lost to."""

    ORDER = "order"
    """A machine is made at the provider."""
    INTENT = "intent"
    """A NodeRequest is created."""


class Share(StrEnum):
    """Which suite tells a story on the real control plane; simulated it always is."""

    QUICK = "quick"
    LONG = "long"


class Story(msgspec.Struct, frozen=True):
    """Told on both stages; at the end of each chapter both must look alike."""

    name: str
    """Short, as names of pools begin with it."""
    given: tuple[Object, ...]
    chapters: tuple[Chapter, ...]
    left: dict[str, int] = {}
    """The pods, by workload, that have no node in the end; all others have one."""
    loses: frozenset[Call] = frozenset()
    """Calls whose first answer for each machine is lost."""
    within: float = IN_TIME
    """Seconds after which a chapter is quiet."""
    share: Share = Share.QUICK

    @property
    def pool_names(self) -> frozenset[str]:
        """Those in the cluster."""
        return frozenset(named(self.name, pool.name) for pool in self.pools)

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Those that are there from the beginning or come later, in their last form."""
        steps = (step for chapter in self.chapters for step in chapter)
        later = (each for step in steps for each in _objects_of(step))
        found = {each.name: each for each in (*self.given, *later) if isinstance(each, Pool)}
        return tuple(found.values())


def _objects_of(step: Step) -> tuple[Any, ...]:
    match step:
        case Make(objects=objects):
            return objects
        case Replace(by=by):
            return (by,)
        case _:
            return ()
