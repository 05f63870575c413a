"""Whatever provider, network, people and clocks do: a request ends, and loses no machine."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from typing_extensions import override

from growth.api.noderequest import UnmetScope
from reconciler.providers.port import Accepted, Failed, FailureClass, MachineState, Throttled, Unmet
from tests.provisioning.build import NAME, Life, machine, made_at, node, settled

ORDER = ("Pending", "Provisioning", "Unmet", "Ready", "Deprovisioning", "")
"""A request never goes back."""
SPEC = {"readinessWait": "60s", "requestTTL": {"ready": "30s", "unmet": "20s"}}


class OneRequest(RuleBasedStateMachine):
    """A request, its machine and its node; the driver carries out what provisioning decides."""

    @initialize()
    def begin(self) -> None:
        self.life = Life(made_at(99), settled(**SPEC))
        self.is_made = False
        """Whether the cloud has ever made the machine; it makes it once."""
        self.before = "Pending"

    # What the provider says.

    @precondition(lambda self: self.life.is_calling)
    @rule(is_heard=strategies.booleans())
    def accepts(self, *, is_heard: bool) -> None:
        if not self.is_made:
            self.is_made = True
            self.life.machines[NAME] = machine(state=MachineState.CREATING)
        lost = Failed(failure=FailureClass.TRANSIENT, reason="no answer came")
        self.life.answered(Accepted(machine_id="kwok://default-1") if is_heard else lost)

    @precondition(lambda self: self.life.is_calling)
    @rule(
        answer=strategies.sampled_from(
            [
                *(Unmet(reason="sold out", scope=scope) for scope in UnmetScope),
                Throttled(seconds=7),
                *(Failed(failure=each, reason="no") for each in FailureClass),
            ]
        )
    )
    def refuses(self, answer: Any) -> None:
        if self.is_made:
            # Under its name it is found.
            answer = Accepted(machine_id="kwok://default-1")
        self.life.answered(answer)

    # What becomes of the machine.

    @precondition(lambda self: NAME in self.life.machines)
    @rule(state=strategies.sampled_from([MachineState.FAILED, None]))
    def machine_fails(self, state: MachineState | None) -> None:
        del self.life.machines[NAME]
        if state is not None:
            self.life.machines[NAME] = machine(state=state)
        if self.life.get("Node") is not None:
            self.life.drop("Node")

    @precondition(lambda self: NAME in self.life.machines)
    @rule(ready=strategies.booleans())
    def joins(self, *, ready: bool) -> None:
        found = self.life.get("Node")
        if self.life.machines[NAME].state is not MachineState.FAILED:
            if found is None:
                self.life.put(node(ready=ready))
            elif ready:
                status = node().status
                self.life.put(type(found)(found.metadata, found.spec, status))

    @precondition(lambda self: self.life.get("NodeRemovalRequest") is not None)
    @rule()
    def is_given_back(self) -> None:
        self.life.machines.pop(NAME, None)
        if self.life.get("Node") is not None:
            self.life.drop("Node")
        self.life.drop("NodeRemovalRequest")

    # What people and the world do.

    @precondition(lambda self: self.life.get("NodeRequest") is not None)
    @rule()
    def a_person_deletes_it(self) -> None:
        self.life.delete("NodeRequest")

    @precondition(lambda self: self.life.get("NodePool", "default") is not None)
    @rule()
    def a_person_deletes_the_pool(self) -> None:
        self.life.delete("NodePool", "default")

    @rule()
    def restarts(self) -> None:
        self.life.restart()

    @rule(sees=strategies.booleans())
    def sight(self, *, sees: bool) -> None:
        self.life.sees = sees

    @rule(jump=strategies.sampled_from([-300.0, 0.0, 300.0]))
    def clock_is_moved(self, jump: float) -> None:
        self.life.jump = jump

    @rule(refuses=strategies.sampled_from([(), ("OpenRemoval",), ("PatchStatus",)]))
    def writes_fail(self, refuses: tuple[str, ...]) -> None:
        self.life.refuses = set(refuses)

    @rule(seconds=strategies.sampled_from([0.3, 3.0, 25.0, 70.0]))
    def time_passes(self, seconds: float) -> None:
        self.life.until(self.life.now + seconds)

    @rule()
    def one_pass(self) -> None:
        self.life.step()

    # What always holds.

    @invariant()
    def a_machine_is_always_known(self) -> None:
        is_there = NAME in self.life.machines
        known = any(self.life.get(kind) for kind in ("NodeRequest", "NodeRemovalRequest", "Node"))
        # Without its pool nobody can own a removal, and orphans are another room's.
        assert known or not is_there or self.life.get("NodePool", "default") is None

    @invariant()
    def phases_go_on(self) -> None:
        now = self.life.phase
        assert ORDER.index(now) >= ORDER.index(self.before)
        self.before = now

    @invariant()
    def nothing_happens_twice(self) -> None:
        found = self.life.get("NodeRequest")
        if found is not None:
            assert all(n == 1 for n in Counter(e.name for e in found.status.events).values())

    @invariant()
    def an_unmet_request_has_no_machine_of_its_own(self) -> None:
        if self.life.phase == "Unmet" and NAME in self.life.machines:
            assert self.life.get("NodeRemovalRequest") or not self._was_accepted()

    def _was_accepted(self) -> bool:
        return self.life.get("NodeRequest").status.accepted_at is not None

    @override
    def teardown(self) -> None:
        """When all is well again, everything comes to its end."""
        if not hasattr(self, "life"):
            return
        life = self.life
        life.sees, life.refuses = True, set()
        for _ in range(6):
            if life.is_calling:
                life.answered(Unmet(reason="sold out", scope=UnmetScope.OFFER))
            life.answer = lambda _: Unmet(reason="sold out", scope=UnmetScope.OFFER)
            life.until(life.now + 90)
            if life.get("NodeRemovalRequest") is not None:
                self.is_given_back()
        if self.is_made and NAME in life.machines and life.phase == "Unmet":
            return
        life.until(life.now + 700)
        assert life.phase == "", life.phase


TestOneRequest = OneRequest.TestCase
TestOneRequest.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
