"""What goes wrong at Hetzner and between, in the whole loop: row by row, with what comes of it.

In the end there are as many servers as pods need, each has its node, and none is left over.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

import pytest

from tests.clouds.growing import TOKEN
from tests.faults.control_plane import kill_api_server, start_api_server
from tests.hetzner.fake.faults import Fault, Kind
from tests.hetzner.fake.project import Project
from tests.live import wait_until

if TYPE_CHECKING:
    from tests.clouds.growing import Site, Story

pytestmark = [pytest.mark.cluster, pytest.mark.long]

AGAIN: Final = (
    "conflict",
    "locked",
    "timeout",
    "bad_gateway",
    "server_error",
    "service_error",
    "unknown_error",
    "rate_limit_exceeded",
    "uniqueness_error",
    "never_seen_before",
)
"""Asked again, under the same name."""
ELSEWHERE: Final = (
    "resource_unavailable",
    "placement_error",
    "invalid_server_type",
    "unsupported_error",
    "maintenance",
)
"""Bought of another offer, and of this one again after a while."""
BLOCKING: Final = {
    "invalid_input": "TemplateRefused",
    "no_subnet_available": "TemplateRefused",
    "networks_overlap": "TemplateRefused",
    "forbidden": "AccessRefused",
    "token_readonly": "AccessRefused",
    "resource_locked": "AccessRefused",
}
"""Nothing is bought until a person has changed something; what the pool says."""


def bought(story: Story, count: int) -> None:
    """The end of every story."""
    story.is_served(count)
    story.is_settled(count)


@pytest.mark.parametrize("code", AGAIN)
def test_what_passes_by_itself_is_asked_for_again_under_the_same_name(
    place: Site, code: str
) -> None:
    story = place.tell(code.replace("_", "-"))
    story.is_ready()
    place.project.faults.add(Fault(call="POST /servers", code=code, times=2))
    story.wants(2)

    bought(story, 2)

    assert len(story.requests()) == 2


@pytest.mark.parametrize("code", ELSEWHERE)
def test_what_can_not_be_had_is_bought_elsewhere(place: Site, code: str) -> None:
    story = place.tell(code.replace("_", "-"), "cx23", "cx33")
    story.is_ready()
    place.project.faults.add(Fault(call="POST /servers", code=code, times=1))
    story.wants(1)

    story.is_served(1)

    (refused,) = [each for each in story.requests() if each["status"]["phase"] == "Unmet"]
    (server,) = story.servers()
    there = (server.body["server_type"], server.body["location"])
    assert there != (refused["spec"]["serverType"], refused["spec"]["location"])
    assert code in str(refused["status"]["events"])


def test_a_quota_stops_the_whole_project_for_a_while(place: Site) -> None:
    long = {"requestTTL": {"ready": "10m", "unmet": "20s"}}
    story = place.tell("quota", "cx23", "cx33", pool=long)
    story.is_ready()
    fault = Fault(call="POST /servers", code="resource_limit_exceeded", times=1000)
    place.project.faults.add(fault)
    story.wants(1)
    wait_until(lambda: "Unmet" in story.phases().values(), "the quota is known")
    time.sleep(2)
    assert len(story.requests()) == 1

    place.project.faults.waiting.remove(fault)

    story.is_served(1)


@pytest.mark.parametrize(("code", "reason"), BLOCKING.items())
def test_what_a_person_has_to_mend_blocks_the_pool_until_the_class_changes(
    place: Site, code: str, reason: str
) -> None:
    story = place.tell(code.replace("_", "-"))
    story.is_ready()
    fault = Fault(call="POST /servers", code=code, message="said by Hetzner", times=1000)
    place.project.faults.add(fault)
    story.wants(1)
    story.says("nodepool", ".status.blocked.reason", reason)
    assert "said by Hetzner" in story.told("nodepool", ".status.blocked.message")
    calls = place.project.calls["POST /servers"]
    time.sleep(3)
    assert place.project.calls["POST /servers"] == calls

    place.project.faults.waiting.remove(fault)
    story.makes_servers(labels={"changed": "by-a-person"})

    bought(story, 1)
    assert story.told("nodepool", ".status.blocked") == ""


@pytest.mark.parametrize("kind", [Kind.CUT, Kind.GARBAGE, Kind.NONSENSE])
def test_nothing_is_lost_while_hetzner_can_not_be_reached(place: Site, kind: Kind) -> None:
    story = place.tell(f"away-{kind}")
    story.is_ready()
    fault = Fault(call="*", kind=kind, times=10_000)
    place.project.faults.add(fault)
    story.wants(3)
    wait_until(lambda: len(story.requests()) == 3, "three machines are wanted")
    time.sleep(10)
    assert story.servers() == []
    assert set(story.phases().values()) == {"Pending"}

    place.project.faults.waiting.remove(fault)

    bought(story, 3)


def test_too_many_calls_of_others_are_waited_for_and_no_offer_is_to_blame(place: Site) -> None:
    story = place.tell("throttled")
    story.is_ready()
    place.project.catch_up()
    bucket, calls = place.project.bucket, place.project.calls
    bucket.hour, bucket.left, bucket.filled_at = 60.0, 0, place.project.now
    # Nobody can know of it before an answer has told.
    asked = sum(calls.values())
    wait_until(lambda: sum(calls.values()) > asked, "the cloud is asked for its machines")
    story.wants(2)
    wait_until(lambda: len(story.requests()) == 2, "two machines are wanted")
    time.sleep(3)
    assert story.servers() == []
    assert set(story.phases().values()) == {"Pending"}

    bought(story, 2)
    place.project.bucket.hour = 3600.0


def test_answers_that_are_lost_while_listings_lag_make_no_second_server(place: Site) -> None:
    story = place.tell("lost-and-late")
    story.is_ready()
    place.project.listing_lag = 3
    place.project.faults.add(Fault(call="POST /servers", kind=Kind.LOST, times=5))
    story.wants(5)

    bought(story, 5)

    place.project.listing_lag = 0


def test_a_machine_that_dies_while_it_is_made_is_replaced_and_given_back(place: Site) -> None:
    story = place.tell("dies")
    story.is_ready()
    place.project.failing_actions.append(("start_server", "server_error", "no host"))
    story.wants(1)

    story.is_served(1)
    wait_until(lambda: len(story.servers()) == 1, "the dead one is deleted")

    assert story.nodes() == [server.name for server in story.servers()]


def test_a_machine_that_never_joins_is_given_back_and_replaced(place: Site) -> None:
    story = place.tell("silent", pool={"readinessWait": "4s"})
    story.is_ready()
    first: list[int] = []
    place.datacentre.joins = lambda server: bool(first) and server.id not in first
    story.wants(1)
    wait_until(story.servers, "a server is bought")
    first.append(story.servers()[0].id)

    story.is_served(1)
    wait_until(lambda: len(story.servers()) == 1, "the silent one is deleted")

    assert first[0] not in place.project.servers


def test_a_server_that_a_person_deletes_is_missed_and_replaced(place: Site) -> None:
    story = place.tell("janitor")
    story.wants(2)
    bought(story, 2)
    victim = story.servers()[0]
    place.project.delete_server(victim)

    wait_until(lambda: victim.id not in place.project.servers, "it is gone")
    wait_until(lambda: len(story.servers()) == 2 and len(story.nodes()) == 2, "it is replaced")


def test_a_type_that_is_retired_after_it_was_ordered_is_bought_of_another(place: Site) -> None:
    story = place.tell("retired", "cx23", "cx33")
    story.is_ready()
    sold = place.project.types["cx23"]
    sold.retired = "2026-01-01T00:00:00Z"
    story.wants(1)

    story.is_served(1)

    sold.retired = None
    assert story.types() == ["cx33"]


def test_a_token_that_is_replaced_at_run_time_is_used_from_then_on(place: Site) -> None:
    story = place.tell("token")
    story.wants(1)
    bought(story, 1)
    fresh = TOKEN[::-1]
    place.account.projects = {fresh: place.project}
    try:
        place.cluster.kubectl("scale", "deployment", story.name, "--replicas=2")
        story.says("hetznernodeclass", ".status.blocked.reason", "AccessRefused")

        place.keep_token(fresh)

        bought(story, 2)
    finally:
        place.account.projects[TOKEN] = place.project
        place.keep_token(TOKEN)


def test_the_token_of_another_project_makes_nobody_buy_everything_again(place: Site) -> None:
    story = place.tell("elsewhere")
    story.wants(1)
    bought(story, 1)
    # One that no story before has used: the project of a token is never another one later.
    empty, token = Project(clock=place.project.clock), TOKEN.swapcase()
    place.account.projects[token] = empty
    place.keep_token(token)
    try:
        wait_until(lambda: empty.calls, "the other project is asked")
        place.cluster.kubectl("scale", "deployment", story.name, "--replicas=2")
        time.sleep(8)
        assert empty.servers == {}
        assert len(story.servers()) == 1
    finally:
        place.keep_token(TOKEN)

    bought(story, 2)


def test_an_api_server_that_is_killed_in_mid_purchase_makes_no_second_machine(
    place: Site,
) -> None:
    story = place.tell("restarted")
    story.is_ready()
    place.project.faults.add(Fault(call="POST /servers", kind=Kind.SLOW, times=100))
    story.wants(6)
    wait_until(story.servers, "a server is bought")
    command = asyncio.run(kill_api_server(place.cluster))
    time.sleep(2)
    asyncio.run(start_api_server(place.cluster, command))

    # When the scheduler finds its way back is its own affair, and may take minutes.
    story.is_settled(6)
