"""Placement groups: ten servers each, as many as are needed, and none that is empty for long."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from growth.api.wellknown import POOL_LABEL
from reconciler.providers.hetzner.placement import free_name
from reconciler.providers.port import Accepted, Failed, Unmet
from tests.hetzner.build import CLUSTER
from tests.hetzner.fake.faults import Fault, Kind

if TYPE_CHECKING:
    from tests.hetzner.story import Story

SHORT = CLUSTER[:8]


def sizes(story: Story) -> dict[str, int]:
    return {group.name: len(group.servers) for group in story.project.groups.values()}


async def test_a_burst_fills_groups_of_ten(story: Story) -> None:
    story.uses(placementGroup="Required")

    await asyncio.gather(*(story.create(f"default-{number}") for number in range(25)))

    assert sizes(story) == {
        f"growth-{SHORT}-default-1": 10,
        f"growth-{SHORT}-default-2": 10,
        f"growth-{SHORT}-default-3": 5,
    }
    labels = next(iter(story.project.groups.values())).labels
    assert labels[POOL_LABEL] == "default"


async def test_each_pool_has_groups_of_its_own(story: Story) -> None:
    story.uses(placementGroup="Required")

    await story.create("web-1", pool="web")
    await story.create("default-1")
    await story.create("web-2", pool="web")

    assert sizes(story) == {f"growth-{SHORT}-web-1": 2, f"growth-{SHORT}-default-1": 1}


async def test_a_gap_is_filled_before_a_new_group_is_made_also_after_a_restart(
    story: Story,
) -> None:
    story.uses(placementGroup="Required")
    await asyncio.gather(*(story.create(f"default-{number}") for number in range(11)))
    await story.delete((await story.machines())["default-0"])
    story.project.pass_time(60)
    story.restart()

    await story.create("default-11")
    await story.create("default-12")

    assert sorted(sizes(story).values()) == [2, 10]


async def test_a_group_that_hetzner_can_not_fill_is_left_for_another(story: Story) -> None:
    story.uses(placementGroup="Required")
    await story.create("default-0")
    story.project.faults.add(Fault(call="POST /servers", code="placement_error"))

    assert isinstance(await story.create("default-1"), Accepted)

    assert sorted(sizes(story).values()) == [1, 1]


async def test_a_spread_that_can_not_be_had_at_all_is_a_stock_out(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call="POST /servers", code="placement_error", times=2))

    assert isinstance(await story.create(), Unmet)


async def test_a_server_is_bought_without_a_group_where_that_is_only_preferred(
    story: Story,
) -> None:
    story.uses(placementGroup="Preferred")
    story.project.faults.add(Fault(call="POST /servers", code="placement_error"))

    assert isinstance(await story.create(), Accepted)

    assert sizes(story) == {f"growth-{SHORT}-default-1": 0}


async def test_beyond_fifty_groups_the_policy_decides(story: Story) -> None:
    for number in range(50):
        story.project.create_group({"name": f"of-others-{number}"})

    story.uses(placementGroup="Preferred")
    preferred = await story.create("default-1")
    story.uses(placementGroup="Required")
    required = await story.create("default-2")

    assert isinstance(preferred, Accepted)
    assert isinstance(required, Unmet)
    assert story.names == ["default-1"]


async def test_what_hetzner_calls_that_limit_does_not_matter(story: Story) -> None:
    story.uses(placementGroup="Preferred")
    story.project.faults.add(
        Fault(call="POST /placement_groups", code="resource_limit_exceeded", message="limit")
    )

    assert isinstance(await story.create(), Accepted)


async def test_a_group_that_was_deleted_by_hand_is_made_anew(story: Story) -> None:
    story.uses(placementGroup="Required")
    await story.create("default-0")
    story.project.groups.clear()

    answers = [await story.create("default-1") for _ in range(2)]

    assert isinstance(answers[-1], Accepted)
    assert sizes(story) == {f"growth-{SHORT}-default-1": 1}


async def test_a_group_whose_making_was_never_answered_is_found(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call="POST /placement_groups", kind=Kind.LOST))

    answers = [await story.create() for _ in range(3)]

    assert isinstance(answers[0], Failed)
    assert isinstance(answers[-1], Accepted)
    assert sizes(story) == {f"growth-{SHORT}-default-1": 1}


async def test_an_answer_without_the_group_that_was_made_is_asked_for_again(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call="POST /placement_groups", kind=Kind.NONSENSE, status=201))

    answers = [await story.create() for _ in range(2)]

    assert isinstance(answers[0], Failed)
    assert "answer_not_readable" in answers[0].reason
    assert isinstance(answers[-1], Accepted)


async def test_a_place_is_free_again_when_its_server_was_refused(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call="POST /servers", code="resource_unavailable", times=9))
    for number in range(9):
        await story.create(f"default-{number}")

    for number in range(10):
        await story.create(f"default-1{number}")

    assert sizes(story) == {f"growth-{SHORT}-default-1": 10}


async def test_empty_groups_are_removed_and_those_of_others_stay(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.create_group({"name": "of-others"})
    await story.machines()
    story.project.pass_time(550)
    await story.delete(await story.bought())
    story.project.pass_time(100)
    await story.machines()
    assert len(sizes(story)) == 2, "a young group may be about to be filled"

    story.project.pass_time(900)
    await story.machines()

    assert sizes(story) == {"of-others": 0}


def test_a_group_s_name_is_the_first_that_is_free() -> None:
    taken = [f"growth-{SHORT}-web-1", f"growth-{SHORT}-web-3", "growth-other-web-2"]

    assert free_name("web", taken, cluster=CLUSTER) == f"growth-{SHORT}-web-2"
