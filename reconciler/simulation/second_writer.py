"""Another growth with the id of this cluster, in the same project of the cloud.

A copy of this cluster, restored from a backup, buys machines that this cluster lists but never
ordered, and gives them back after a while. To the copy, the machines of this cluster are orphans,
so it sometimes deletes one of them. In half of the seeds machines tell which installation has
bought them; in the others growth can only judge by the time at which a machine was made.

growth must not touch the machines of the copy, and must tell people of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.conditions import Truth, condition_of_type
from reconciler.providers.kwok.provider import machine_id
from reconciler.providers.port import Machine, MachineState
from reconciler.removal.another_writer import HELD, MARGIN
from reconciler.simulation.faults import SimulatedFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reconciler.simulation.chance import Chance
    from reconciler.simulation.living import Living
    from reconciler.simulation.server import StoredChange

ITS_NAME: Final = "c0b1"
"""The installation of the copy."""
STAYS: Final = (30.0, 1800.0)
"""Seconds until the copy gives a machine back."""
DELETES: Final = 0.2
"""How often it deletes a machine of this cluster instead of buying one."""
MOST: Final = 3
"""The most machines that it buys at once."""
KNOWN_WITHIN: Final = 300.0
"""Seconds after which a process has seen a machine and written so, if it isn't interrupted."""
TOLD_WITHIN: Final = 900.0
"""Seconds after which people must know, whatever else fails."""
UNTOUCHED: Final = "another growth's machines are left alone"
TOLD: Final = "another growth is told of"


class SecondWriter:
    """The other growth, and what must hold for its machines."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._cloud = living.cloud
        self._timeline = living.timeline
        self._made_at: dict[str, float] = {}
        """When each machine was made that it has ever bought."""
        self._deleted = living.cloud.deleting
        living.cloud.deleting = self._asked
        living.server.kind("NodeRemovalRequest").heard_by.append(self._removal_changed)

    @property
    def strokes(self) -> Mapping[SimulatedFault, Callable[[Chance], None]]:
        """What it does, by kind of fault."""
        return {SimulatedFault.SECOND_WRITER: self._act}

    def _act(self, chance: Chance) -> None:
        serving = [name for name, each in self._cloud.machines.items() if each.is_serving]
        if serving and chance.happens(DELETES):
            self._cloud.die(chance.one_of(serving))
            return
        for _ in range(chance.whole(1, MOST)):
            self._buy(chance)

    def _buy(self, chance: Chance) -> None:
        name = f"default-of-the-copy-{len(self._made_at) + 1}"
        self._made_at[name] = self._timeline.now
        self._living.around.trace.note(f"enemy: another growth buys {name}")
        self._cloud.foreign[name] = Machine(
            machine_id=machine_id(name),
            name=name,
            request_uid=f"request-of-{name}",
            pool=chance.one_of(("default", "batch")),
            state=MachineState.RUNNING,
            created_at=self._living.server.wall,
            server_type="small",
            location="here",
            installation=ITS_NAME if self._cloud.installation else "",
        )
        self._timeline.after(chance.between(*STAYS), self._give_back, name)
        self._timeline.after(TOLD_WITHIN, self._check_told, name)

    def _give_back(self, name: str) -> None:
        self._cloud.foreign.pop(name, None)

    def _asked(self, machine: Machine) -> None:
        self._check_untouched(machine.name, "deleted")
        self._deleted(machine)

    def _removal_changed(self, event: StoredChange) -> None:
        if event.old is None:
            self._check_untouched(event.key.name, "to be deleted")

    def _check_untouched(self, name: str, what: str) -> None:
        if name in self._cloud.foreign and self._is_recognised(name):
            self._living.auditor.breach(UNTOUCHED, f"{name} is {what}")

    def _check_told(self, name: str) -> None:
        if name not in self._cloud.foreign or not self._is_recognised(name):
            return
        pools = self._living.server.kind("NodePool").objects.values()
        told = (condition_of_type(pool.status.conditions, HELD) for pool in pools)
        if not any(each is not None and each.status is Truth.TRUE for each in told):
            self._living.auditor.breach(TOLD, f"no pool says why {name} stays")

    def _is_recognised(self, name: str) -> bool:
        """Whether growth can know whose machine it is.

        Without a label, it must have been made while a process led whose memory had begun before,
        and that process must have had the time to see it and to write so: a later one is younger
        than it.
        """
        if self._cloud.installation:
            return True
        made = self._made_at[name]
        earliest = made - MARGIN.total_seconds()
        latest = made + KNOWN_WITHIN
        return self._living.lives.is_one_life(earliest, min(latest, self._timeline.now))
