"""Giving back: only our own servers, by their id, and as often as it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from reconciler.providers.port import DeleteOutcome, Machine, MachineState
from tests.hetzner.fake.faults import Fault, Kind
from tests.hetzner.fake.project import Project

if TYPE_CHECKING:
    from tests.hetzner.fake.api import Account
    from tests.hetzner.story import Story


async def test_a_machine_is_deleted_and_then_gone(story: Story) -> None:
    machine = await story.bought()
    story.project.pass_time(60)

    assert (await story.delete(machine)).outcome is DeleteOutcome.ACCEPTED
    assert (await story.machines())["default-1"].state is MachineState.DELETING

    story.project.pass_time(60)
    assert await story.machines() == {}
    assert (await story.delete(machine)).outcome is DeleteOutcome.GONE


async def test_a_lost_answer_to_a_delete_does_no_harm(story: Story) -> None:
    machine = await story.bought()
    story.project.faults.add(Fault(call="DELETE /servers/{id}", kind=Kind.LOST))

    first = await story.delete(machine)
    story.project.pass_time(60)

    assert first.outcome is DeleteOutcome.FAILED
    assert (await story.delete(machine)).outcome is DeleteOutcome.GONE


async def test_a_server_that_is_protected_stays_and_says_so(story: Story) -> None:
    machine = await story.bought()
    story.project.servers[int(machine.machine_id)].protected = True

    answer = await story.delete(machine)

    assert answer.outcome is DeleteOutcome.FAILED
    assert "remove the protection at Hetzner" in answer.reason
    assert story.names == ["default-1"]


@pytest.mark.parametrize(
    "changes",
    [{"name": "default-2"}, {"request_uid": "uid-of-another"}, {"machine_id": "not-a-number"}],
    ids=["name", "request", "id"],
)
async def test_a_machine_that_is_not_the_one_that_was_meant_stays(
    story: Story, changes: dict[str, str]
) -> None:
    machine = await story.bought()

    answer = await story.delete(msgspec.structs.replace(machine, **changes))

    assert answer.outcome is DeleteOutcome.FAILED
    assert "isn't" in answer.reason
    assert story.names == ["default-1"]


async def test_another_cluster_s_server_is_neither_seen_nor_deleted(story: Story) -> None:
    machine = await story.bought()
    other = story.start(cluster="another-cluster").provider(lambda: story.node_class)

    assert (await other.list()).machines == {}
    assert (await other.delete(machine)).outcome is DeleteOutcome.FAILED
    assert story.names == ["default-1"]


async def test_a_stranger_s_server_is_not_deleted_whatever_it_is_called(story: Story) -> None:
    stranger = story.project.add_foreign("default-7")
    machine = Machine(
        machine_id=str(stranger.id),
        name="default-7",
        request_uid="",
        pool="default",
        state=MachineState.RUNNING,
    )

    assert (await story.delete(machine)).outcome is DeleteOutcome.FAILED
    assert story.names == ["default-7"]


async def test_a_server_that_listings_don_t_show_is_not_called_gone(story: Story) -> None:
    machine = await story.bought()
    story.restart()
    story.project.servers[int(machine.machine_id)].visible_from = 1000

    answer = await story.delete(machine)

    assert answer.outcome is DeleteOutcome.ACCEPTED
    story.project.pass_time(60)
    assert story.names == []


async def test_a_busy_server_is_deleted_the_next_time(story: Story) -> None:
    machine = await story.bought()
    story.project.faults.add(Fault(call="DELETE /servers/{id}", code="locked"))

    assert (await story.delete(machine)).outcome is DeleteOutcome.FAILED
    assert (await story.delete(machine)).outcome is DeleteOutcome.ACCEPTED


async def test_a_server_is_not_called_gone_by_another_project(
    story: Story, account: Account
) -> None:
    machine = await story.bought()
    token = story.secrets.values["hetzner"]
    account.projects["of-another-project"] = Project()

    story.secrets.values["hetzner"] = "of-another-project"
    wrong = [await story.delete(machine) for _ in range(2)]
    await story.provider.list()
    wrong.append(await story.delete(machine))
    story.secrets.values["hetzner"] = token
    right = await story.delete(machine)

    assert {each.outcome for each in wrong} == {DeleteOutcome.FAILED}
    assert "put the right one back" in wrong[0].reason
    assert right.outcome is DeleteOutcome.ACCEPTED


async def test_a_server_of_another_project_is_not_deleted_for_its_id(
    story: Story, account: Account
) -> None:
    machine = await story.bought()
    other = account.projects["of-another-project"] = Project()
    stranger = other.add_foreign("of-somebody-else")
    assert str(stranger.id) == machine.machine_id

    story.secrets.values["hetzner"] = "of-another-project"

    assert (await story.delete(machine)).outcome is DeleteOutcome.FAILED
    assert stranger.gone_from is None


async def test_a_server_is_gone_once_a_listing_was_read_with_the_new_token(
    story: Story, account: Account
) -> None:
    await story.bought("default-0")
    machine = await story.bought()
    account.projects["the-new-one"] = account.projects.pop(story.secrets.values["hetzner"])
    story.secrets.values["hetzner"] = "the-new-one"
    del story.project.servers[int(machine.machine_id)]

    before = await story.delete(machine)
    await story.machines()
    after = await story.delete(machine)

    assert (before.outcome, after.outcome) == (DeleteOutcome.FAILED, DeleteOutcome.GONE)
