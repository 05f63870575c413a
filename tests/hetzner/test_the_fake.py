"""The fake behaves as Hetzner says that its API does, seen through Hetzner's own client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests
from hcloud import APIException, Client
from hcloud.images import Image
from hcloud.locations import Location
from hcloud.placement_groups import PlacementGroup
from hcloud.server_types import ServerType

from tests.hetzner.conftest import TOKEN
from tests.hetzner.fake.faults import Fault, Kind
from tests.hetzner.fake.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hcloud.servers import BoundServer, CreateServerResponse

    from tests.hetzner.fake.api import Account


def connected(endpoint: str, token: str = TOKEN) -> Client:
    client = Client(token=token, api_endpoint=endpoint, timeout=10)
    client._client._retry_max_retries = 0
    return client


@pytest.fixture
def client(endpoint: str) -> Iterator[Client]:
    made = connected(endpoint)
    yield made
    made._client._session.close()


def number(server: BoundServer) -> int:
    assert server.id is not None
    return server.id


def create(client: Client, name: str = "web-1", **more: Any) -> CreateServerResponse:
    body: dict[str, Any] = {
        "server_type": ServerType(name="cx23"),
        "image": Image(id=11),
        "location": Location(name="nbg1"),
        "labels": {"team": "shop"},
    }
    return client.servers.create(name=name, **body | more)


def test_a_server_is_made_by_actions_that_take_their_time(client: Client, project: Project) -> None:
    answer = create(client)

    assert answer.action.command == "create_server"
    assert [each.command for each in answer.next_actions] == ["start_server"]
    states = []
    for _ in range(3):
        states.append(client.servers.get_by_id(number(answer.server)).status)
        project.pass_time(project.action_seconds)
    assert states == ["initializing", "starting", "running"]


def test_a_server_that_fails_after_the_answer_stays_and_keeps_its_name(
    client: Client, project: Project
) -> None:
    project.failing_actions.append(("start_server", "resource_unavailable", "no host"))

    create(client)
    project.pass_time(60)

    (server,) = client.servers.get_all()
    (action,) = client.servers.actions.get_all(status=["error"])
    assert (server.status, action.command) == ("off", "start_server")
    assert action.error is not None
    assert dict(action.error) == {"code": "resource_unavailable", "message": "no host"}
    with pytest.raises(APIException, match="uniqueness_error"):
        create(client)


def test_a_deleted_server_is_gone_after_a_while(client: Client, project: Project) -> None:
    server = create(client).server
    client.servers.delete(server)
    assert client.servers.get_by_id(number(server)).status == "deleting"

    project.pass_time(project.delete_seconds)

    with pytest.raises(APIException, match="not_found"):
        client.servers.get_by_id(number(server))


def test_listings_come_in_pages_of_fifty_and_by_label(client: Client, project: Project) -> None:
    for index in range(60):
        create(client, f"web-{index}")
    project.add_foreign("other")

    found = client.servers.get_all(label_selector="team==shop")

    assert len(found) == 60
    assert project.calls["GET /servers"] == 2


def test_a_new_server_may_be_missing_from_listings_for_a_while(
    client: Client, project: Project
) -> None:
    project.listing_lag = 3
    create(client)
    assert client.servers.get_all() == []

    project.pass_time(3)

    assert len(client.servers.get_all()) == 1


def test_an_answer_that_is_lost_leaves_a_server_behind(client: Client, project: Project) -> None:
    project.faults.add(Fault(call="POST /servers", kind=Kind.LOST))

    with pytest.raises(requests.ConnectionError):
        create(client)

    assert [server.name for server in client.servers.get_all()] == ["web-1"]


def test_a_connection_that_is_cut_leaves_nothing(client: Client, project: Project) -> None:
    project.faults.add(Fault(call="POST /servers", kind=Kind.CUT))

    with pytest.raises(requests.ConnectionError):
        create(client)

    assert client.servers.get_all() == []


def test_what_is_no_json_has_a_number_for_a_code(client: Client, project: Project) -> None:
    project.faults.add(Fault(call="GET /servers", kind=Kind.GARBAGE))

    with pytest.raises(APIException) as caught:
        client.servers.get_all()

    assert caught.value.code == 502


def test_an_empty_bucket_refuses_until_it_has_filled_again(
    client: Client, project: Project
) -> None:
    project.bucket.shrink_to(3600, left=1)
    client.servers.get_all()

    with pytest.raises(APIException, match="rate_limit_exceeded") as caught:
        client.servers.get_all()
    assert TOKEN[:8] in caught.value.message

    project.pass_time(1)
    assert client.servers.get_all() == []


def test_each_token_opens_its_own_project(account: Account, endpoint: str) -> None:
    account.projects["other"] = Project()
    mine, theirs, nobody = (connected(endpoint, token) for token in (TOKEN, "other", "none"))
    create(mine)

    assert [len(each.servers.get_all()) for each in (mine, theirs)] == [1, 0]
    with pytest.raises(APIException, match="unauthorized"):
        nobody.servers.get_all()
    for each in (mine, theirs, nobody):
        each._client._session.close()


def test_a_placement_group_takes_ten(client: Client) -> None:
    group = client.placement_groups.create(name="web", type="spread").placement_group
    member = PlacementGroup(id=group.id)
    for index in range(10):
        create(client, f"web-{index}", placement_group=member)

    with pytest.raises(APIException, match="placement_error"):
        create(client, "web-10", placement_group=member)


@pytest.mark.parametrize(
    ("change", "body", "code"),
    [
        (lambda p: p.sold_out.add(("cx23", "nbg1")), {}, "resource_unavailable"),
        (lambda p: p.down.add("nbg1"), {}, "maintenance"),
        (lambda p: setattr(p, "quota", 0), {}, "resource_limit_exceeded"),
        (lambda p: setattr(p.types["cx23"], "retired", "2025-11-01"), {}, "invalid_input"),
        (lambda _: None, {"image": Image(id=13)}, "invalid_input"),
        (lambda _: None, {"image": Image(id=99)}, "not_found"),
        (lambda _: None, {"user_data": "x" * 32_769}, "invalid_input"),
        (lambda _: None, {"location": Location(name="ash")}, "invalid_input"),
    ],
    ids=["sold out", "down", "quota", "retired", "wrong arch", "no image", "too long", "place"],
)
def test_a_server_that_cannot_be_made_is_refused(
    client: Client, project: Project, change: Any, body: dict[str, Any], code: str
) -> None:
    change(project)

    with pytest.raises(APIException) as caught:
        create(client, **body)

    assert caught.value.code == code
    assert project.servers == {}
