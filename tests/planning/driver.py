"""Planning by itself, over time: its questions are answered, what it creates is there at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from reconciler import planning
from reconciler.core.actions import CreateNodeRequest, EmitEvent, Solve, Solved
from reconciler.ledger import Ledger
from reconciler.replacement.ledger import ReplacementLedger
from reconciler.solver import Effort, Problem
from reconciler.solver.packing.solving import solve
from tests.reconciler.build import RELEASED, at, world

if TYPE_CHECKING:
    from growth.api.nodeclass import NodeClass
    from growth.api.noderequest import NodeRequest
    from growth.demand.announced import Announced
    from growth.kube.cache.health import CacheHealth
    from reconciler.brakes.rule import BrakesLedger
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.planning.ledger import PlanningLedger
    from reconciler.providers.port import ClassKey, Offering


class Planner:
    """A cluster that planning looks at; tests change its objects between two spans of time."""

    def __init__(self, *objects: Any) -> None:
        self.objects = {_key(each): each for each in objects}
        self.now = 100.0
        self.created: list[NodeRequest] = []
        self.creates_fail = False
        self.events: list[tuple[str, str, str]] = []
        """Name of the pod, reason and note of each."""
        self.problems: list[Problem] = []
        self.wakes_at = 0.0
        """When it last wanted to be asked again."""
        self.brakes: BrakesLedger = RELEASED
        self.replacement = ReplacementLedger()
        """What the other room that buys remembers."""
        self.health: dict[str, CacheHealth] = {}
        """Of sources that aren't as they should be."""
        self.announced: dict[str, Announced] = {}
        """By the uid of their owners."""
        self.unanswered = 0
        """So many questions end without an answer."""
        self.dies_after: list[int] = []
        """At these numbers of requests the process ends, and starts again without its memory."""
        self._ledger = Ledger(brakes=RELEASED)
        self._plans: dict[str, Solved] = {}
        self._catalogues: dict[ClassKey, tuple[NodeClass | None, tuple[Offering, ...]]] = {}

    @property
    def memory(self) -> PlanningLedger:
        return self._ledger.planning

    def put(self, *objects: Any) -> None:
        self.objects.update({_key(each): each for each in objects})

    def remove(self, *objects: Any) -> None:
        for each in objects:
            del self.objects[_key(each)]

    def until(self, seconds: float) -> list[NodeRequest]:
        """All passes that are due before a moment; what they have created."""
        before = len(self.created)
        while self.now < seconds:
            # One that wants to be asked at once is asked a hundredth later, as the loop does.
            self.now = min(max(self._pass(), self.now + 0.01), seconds)
        return self.created[before:]

    def soon(self) -> list[NodeRequest]:
        """What is created within a fifth of a second."""
        return self.until(self.now + 0.2)

    def _pass(self) -> float:
        decision = planning.decide(self._world(), at(self.now))
        assert decision.section is not None
        self.wakes_at = decision.wake_at
        self._ledger = replace(self._ledger, planning=decision.section)
        acted = False
        for step in (step for each in decision.sequences for step in each.steps):
            self._carry_out(step)
            acted = True
            if self.dies_after and len(self.created) >= self.dies_after[0]:
                self._restart()
                break
        return self.now if acted else decision.wake_at

    def _restart(self) -> None:
        del self.dies_after[0]
        self._ledger = Ledger(brakes=RELEASED)
        self._plans.clear()

    def _world(self) -> World:
        ledger = replace(self._ledger, brakes=self.brakes, replacement=self.replacement)
        seed = 1 + len(self.created)
        seen = world(
            *self.objects.values(),
            announced=self.announced,
            ledger=ledger,
            plans=self._plans,
            seed=seed,
        )
        seen = msgspec.structs.replace(seen, sources={**seen.sources, **self.health})
        # A catalogue is the same object until its class changes, as the views keep it.
        for key, node_class in seen.node_classes.items():
            if self._catalogues.get(key, (None, ()))[0] is not node_class:
                self._catalogues[key] = node_class, seen.offerings[key]
        kept = {key: self._catalogues[key][1] for key in seen.offerings}
        return msgspec.structs.replace(seen, offerings=kept)

    def _carry_out(self, step: Action) -> None:
        match step:
            case CreateNodeRequest() if self.creates_fail:
                pass
            case CreateNodeRequest(request=request):
                self.put(request)
                self.created.append(request)
            case EmitEvent(event=event):
                self.events.append((event.regarding.name, event.reason, event.note))
            case Solve(lane=lane, number=number, problem=Problem() as problem):
                self.problems.append(problem)
                if len(self.problems) > self.unanswered:
                    self._plans[lane] = Solved(number=number, plan=solve(problem, Effort.QUICK))
            case _:
                raise AssertionError(f"planning never does this: {step}")


def bought(requests: list[NodeRequest]) -> list[tuple[str, int]]:
    """The type and the number of pods of each."""
    return sorted((each.spec.server_type.canonical, len(each.spec.pods)) for each in requests)


def _key(each: Any) -> tuple[str, str, str]:
    metadata = each.metadata
    return type(each).__name__, getattr(metadata, "namespace", ""), metadata.name
