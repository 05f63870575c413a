"""A server with an address from a chosen subnet: made switched off, attached, then started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reconciler.providers.hetzner.labels import SUBNET_LABEL
from reconciler.providers.port import MachineState
from tests.hetzner.fake.faults import Fault, Kind

if TYPE_CHECKING:
    from tests.hetzner.story import Story

SUBNET = "10.0.0.0/24"


@pytest.fixture
def in_subnet(story: Story) -> Story:
    story.uses(networks=["cluster"], subnet=SUBNET)
    return story


async def look_until_running(story: Story, *, looks: int = 20) -> list[MachineState]:
    states: list[MachineState] = []
    while len(states) < looks and states[-1:] != [MachineState.RUNNING]:
        states.append((await story.machines())["default-1"].state)
        story.project.pass_time(2)
    return states


async def test_a_server_gets_its_address_before_its_first_boot(in_subnet: Story) -> None:
    await in_subnet.bought()

    states = await look_until_running(in_subnet)

    (server,) = in_subnet.project.servers.values()
    assert server.attached == [(41, SUBNET)]
    assert server.body["start_after_create"] is False
    commands = [action.command for action in server.actions]
    assert commands == ["create_server", "attach_to_network", "start_server"]
    assert set(states) == {MachineState.CREATING, MachineState.RUNNING}


@pytest.mark.parametrize("kind", [Kind.LOST, Kind.CUT, Kind.GARBAGE])
async def test_it_is_finished_whatever_is_lost_on_the_way_and_after_a_restart(
    in_subnet: Story, kind: Kind
) -> None:
    in_subnet.project.faults.add(Fault(call="POST /servers/{id}/*", kind=kind, times=2))
    await in_subnet.bought()
    await look_until_running(in_subnet, looks=4)
    in_subnet.restart()

    states = await look_until_running(in_subnet)

    (server,) = in_subnet.project.servers.values()
    assert states[-1] is MachineState.RUNNING
    assert server.attached == [(41, SUBNET)]


async def test_a_server_that_finds_no_address_shows_as_failed(in_subnet: Story) -> None:
    await in_subnet.bought()
    in_subnet.project.networks[0].others = 100

    states = await look_until_running(in_subnet, looks=6)

    machine = (await in_subnet.machines())["default-1"]
    assert states[-1] is machine.state is MachineState.FAILED
    assert "no free address in the network" in machine.reason


@pytest.mark.parametrize("edited", ["", "10.0.0.0", "lan_10.0.0.0_24", "41_10.0.0.0_24_7"])
async def test_a_server_whose_subnet_was_edited_at_hetzner_shows_as_failed(
    in_subnet: Story, edited: str
) -> None:
    await in_subnet.bought()
    (server,) = in_subnet.project.servers.values()
    server.labels[SUBNET_LABEL] = edited

    states = await look_until_running(in_subnet, looks=6)

    machine = (await in_subnet.machines())["default-1"]
    assert states[-1] is machine.state is MachineState.FAILED
    assert "label growth.dev/subnet was edited at Hetzner" in machine.reason
    assert machine.scope is None, "nothing is sold out"


async def test_a_server_that_a_person_switches_off_stays_off(in_subnet: Story) -> None:
    await in_subnet.bought()
    await look_until_running(in_subnet)
    in_subnet.project.pass_time(3600)
    (server,) = in_subnet.project.servers.values()
    server.power = "off"

    await look_until_running(in_subnet, looks=5)

    assert server.status(in_subnet.project.now) == "off"
