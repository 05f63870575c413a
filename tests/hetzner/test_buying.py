"""Buying: what comes of every fault between an intent and a server."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.files import read_documents
from growth.api.hetznernodeclass import HetznerNodeClass
from growth.api.noderequest import UnmetScope
from growth.api.wellknown import MANAGED_BY_LABEL, POOL_LABEL
from growth.errors import RetryLater
from reconciler.providers.hetzner.labels import CLUSTER_LABEL, INSTALLATION_LABEL, REQUEST_UID_LABEL
from reconciler.providers.port import Accepted, Failed, FailureClass, MachineState, Throttled, Unmet
from tests.hetzner.build import CLUSTER, INSTALLATION, K3S, SECRET, order
from tests.hetzner.fake.faults import Fault, Kind
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.records import START
from tests.live import ROOT

if TYPE_CHECKING:
    from tests.hetzner.fake.api import Account
    from tests.hetzner.story import Story

EXAMPLE = ROOT / "docs" / "examples" / "hetzner" / "pool.yaml"
OFFER, LOCATION, PROJECT = UnmetScope.OFFER, UnmetScope.LOCATION, UnmetScope.PROJECT
TRANSIENT, TEMPLATE, FATAL = FailureClass.TRANSIENT, FailureClass.TEMPLATE, FailureClass.FATAL


async def test_a_server_is_made_as_its_class_and_order_say(story: Story) -> None:
    story.uses(networks=["cluster"], firewalls=["nodes"], publicIPv4=False, labels={"team": "shop"})

    answer = await story.create()

    (server,) = story.project.servers.values()
    assert answer == Accepted(machine_id=str(server.id))
    sent = server.body
    assert sent["name"] == "default-1"
    assert (sent["server_type"], sent["location"], sent["image"]) == ("cx23", "nbg1", 11)
    assert (sent["ssh_keys"], sent["networks"]) == ([21], [41])
    assert sent["firewalls"] == [{"firewall": 31}]
    assert sent["public_net"] == {"enable_ipv4": False, "enable_ipv6": True}
    assert "/run/growth" in sent["user_data"]
    assert server.labels[CLUSTER_LABEL] == CLUSTER
    assert server.labels[POOL_LABEL] == "default"
    assert server.labels[REQUEST_UID_LABEL] == "uid-default-1"
    assert server.labels[INSTALLATION_LABEL] == INSTALLATION
    (listed,) = (await story.machines()).values()
    assert listed.installation == INSTALLATION, "and growth reads it back"
    assert server.labels["team"] == "shop"


async def test_the_example_that_people_start_from_buys_for_both_architectures(
    story: Story,
) -> None:
    found = read_documents([("pool.yaml", EXAMPLE.read_text("utf-8"))]).resources
    (story.node_class,) = (each for _, each in found if isinstance(each, HetznerNodeClass))

    offered = await story.provider.offerings()
    answers = [await story.create(each, server_type=each) for each in ("cx33", "cax11")]

    assert {each.labels["kubernetes.io/arch"] for each in offered} == {"amd64", "arm64"}
    assert all(isinstance(answer, Accepted) for answer in answers)


async def test_asking_again_makes_no_second_server(story: Story) -> None:
    first = await story.create()

    again = await story.create()

    assert again == first
    assert story.project.calls["POST /servers"] == 1


async def test_a_process_that_starts_again_finds_the_server(story: Story) -> None:
    first = await story.create()
    story.restart()

    assert await story.create() == first
    assert story.project.calls["POST /servers"] == 1


@pytest.mark.parametrize("lag", [0, 30])
@pytest.mark.parametrize("kind", [Kind.LOST, Kind.CUT])
async def test_a_server_whose_answer_was_lost_is_found_again(
    story: Story, kind: Kind, lag: int
) -> None:
    story.project.listing_lag = lag
    story.project.faults.add(Fault(call="POST /servers", kind=kind))
    answer = await story.create()
    assert isinstance(answer, Failed)
    assert answer.failure is TRANSIENT

    tries = [await story.create()]
    while not isinstance(tries[-1], Accepted) and len(tries) < 10:
        story.project.pass_time(5)
        tries.append(await story.create())

    assert isinstance(tries[-1], Accepted)
    assert story.names == ["default-1"]


async def test_a_purchase_that_is_broken_off_holds_nothing_and_is_found(story: Story) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call="POST /servers", kind=Kind.SLOW))
    purchase = asyncio.create_task(story.create())
    while not story.names:  # noqa: ASYNC110 - another thread's state, which has no event
        await asyncio.sleep(0.01)

    purchase.cancel()
    with pytest.raises(asyncio.CancelledError):
        await purchase
    again = await asyncio.gather(*(story.create(f"default-{number}") for number in range(1, 11)))

    assert all(isinstance(answer, Accepted) for answer in again)
    assert len(story.names) == len(set(story.names)) == 10
    assert [len(group.servers) for group in story.project.groups.values()] == [10]


async def test_two_that_buy_the_same_machine_at_once_get_the_same_one(story: Story) -> None:
    other = story.start().provider(lambda: story.node_class)
    await asyncio.gather(story.provider.offerings(), other.offerings())

    answers = await asyncio.gather(
        story.create(), other.create(order()), story.create(), other.create(order())
    )

    assert len({repr(answer) for answer in answers}) == 1
    assert isinstance(answers[0], Accepted)
    assert story.names == ["default-1"]


@pytest.mark.parametrize(
    ("code", "message", "answer"),
    [
        ("resource_unavailable", "out of stock", Unmet(reason="", scope=OFFER)),
        ("placement_error", "no host", Unmet(reason="", scope=OFFER)),
        ("invalid_input", "unsupported location for server type", Unmet(reason="", scope=OFFER)),
        ("maintenance", "", Unmet(reason="", scope=LOCATION)),
        ("resource_limit_exceeded", "", Unmet(reason="", scope=PROJECT)),
        ("forbidden", "server limit exceeded", Unmet(reason="", scope=PROJECT)),
        ("conflict", "", Failed(failure=TRANSIENT, reason="")),
        ("locked", "", Failed(failure=TRANSIENT, reason="")),
        ("timeout", "", Failed(failure=TRANSIENT, reason="")),
        ("bad_gateway", "", Failed(failure=TRANSIENT, reason="")),
        ("server_error", "", Failed(failure=TRANSIENT, reason="")),
        ("service_error", "", Failed(failure=TRANSIENT, reason="")),
        ("unknown_error", "", Failed(failure=TRANSIENT, reason="")),
        ("invalid_input", "", Failed(failure=TEMPLATE, reason="")),
        ("no_subnet_available", "", Failed(failure=TEMPLATE, reason="")),
        ("ip_not_available", "", Failed(failure=TEMPLATE, reason="")),
        ("networks_overlap", "", Failed(failure=TEMPLATE, reason="")),
        ("unauthorized", "", Failed(failure=FATAL, reason="")),
        ("forbidden", "", Failed(failure=FATAL, reason="")),
        ("token_readonly", "", Failed(failure=FATAL, reason="")),
        ("deprecated_api_endpoint", "", Failed(failure=FATAL, reason="")),
    ],
)
async def test_each_refusal_has_its_answer_and_leaves_no_server(
    story: Story, code: str, message: str, answer: Any
) -> None:
    story.project.faults.add(Fault(call="POST /servers", code=code, message=message))

    told: Any = await story.create()

    assert type(told) is type(answer)
    assert code in told.reason
    assert "correlation-" in told.reason
    for field in ("scope", "failure"):
        assert getattr(told, field, None) == getattr(answer, field, None)
    assert story.names == []
    assert isinstance(await story.create(), Accepted)


@pytest.mark.parametrize("code", ["maintenance", "resource_unavailable", "resource_limit_exceeded"])
@pytest.mark.parametrize(
    "call",
    [
        "GET /servers",
        "GET /images",
        "GET /ssh_keys",
        "GET /server_types",
        "GET /locations",
        "GET /pricing",
        "GET /placement_groups",
    ],
)
async def test_only_the_answer_to_a_purchase_tells_that_something_is_sold_out(
    story: Story, call: str, code: str
) -> None:
    story.uses(placementGroup="Required")
    story.project.faults.add(Fault(call=call, code=code))

    answer = await story.create()

    assert isinstance(answer, Failed)
    assert answer.failure is TRANSIENT
    assert code in answer.reason
    assert story.names == []


@pytest.mark.parametrize("code", ["maintenance", "resource_unavailable"])
async def test_a_group_that_can_not_be_made_now_says_nothing_of_servers(
    story: Story, code: str
) -> None:
    story.project.faults.add(Fault(call="POST /placement_groups", code=code, times=3))
    story.uses(placementGroup="Required")
    required = await story.create("default-1")
    story.uses(placementGroup="Preferred")
    preferred = await story.create("default-2")

    assert isinstance(required, Failed)
    assert required.failure is TRANSIENT
    assert isinstance(preferred, Accepted)
    assert story.names == ["default-2"]


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        (Kind.GARBAGE, None, "http_502"),
        (Kind.GARBAGE, 503, "http_503"),
        (Kind.GARBAGE, 200, "http_200"),
        (Kind.NONSENSE, 500, "answer_not_readable"),
        (Kind.NONSENSE, 200, "answer_not_readable"),
    ],
)
async def test_an_answer_that_hetzner_would_not_write_is_asked_for_again(
    story: Story, kind: Kind, status: int | None, code: str
) -> None:
    story.project.faults.add(Fault(call="POST /servers", kind=kind, status=status))

    answer = await story.create()

    assert isinstance(answer, Failed)
    assert answer.failure is TRANSIENT
    assert code in answer.reason
    assert isinstance(await story.create(), Accepted)


@pytest.mark.parametrize("token", ["", "two words", "schlüssel-für-alles", "line\nline"])
async def test_a_secret_with_something_else_in_it_is_a_matter_for_a_person(
    story: Story, token: str
) -> None:
    story.secrets.values["hetzner"] = token

    answer = await story.create()

    assert isinstance(answer, Failed)
    assert answer.failure is FATAL
    assert "isn't an API token: write it again" in answer.reason
    assert not token or token not in answer.reason


async def test_classes_of_one_project_share_a_listing(story: Story) -> None:
    await story.machines()
    story.project.pass_time(10)
    story.project.calls.clear()

    for _ in range(3):
        await story.machines()

    assert story.project.calls["GET /servers"] == 1


async def test_a_retired_type_is_a_stock_out(story: Story) -> None:
    story.project.types["cx23"].retired = "2025-12-01T00:00:00Z"

    answer = await story.create()

    assert isinstance(answer, Unmet)
    assert answer.scope is OFFER


async def test_too_many_calls_are_no_stock_out_and_say_how_long_to_wait(story: Story) -> None:
    await story.provider.offerings()
    await story.machines()
    story.project.faults.add(
        Fault(call="POST /servers", code="rate_limit_exceeded", message="slow down", times=2)
    )

    answer = await story.create()

    assert isinstance(answer, Throttled)
    assert answer.seconds >= 1
    assert isinstance(await story.create(), Throttled)
    assert story.project.calls["POST /servers"] == 1, "who was told to wait doesn't ask again"
    story.project.pass_time(answer.seconds)
    story.project.faults.waiting.clear()
    assert isinstance(await story.create(), Accepted)


@pytest.mark.parametrize(
    "labels",
    [
        {},
        {CLUSTER_LABEL: "another", MANAGED_BY_LABEL: "growth", REQUEST_UID_LABEL: "uid-default-1"},
    ],
    ids=["a person's", "another cluster's"],
)
async def test_a_stranger_s_server_under_our_name_is_left_alone(
    story: Story, labels: dict[str, str]
) -> None:
    stranger = story.project.add_foreign("default-1", **labels)

    answer = await story.create()

    assert isinstance(answer, Unmet)
    assert answer.reason == "server default-1 already exists and doesn't belong to this cluster"
    assert await story.machines() == {}
    assert story.project.servers == {stranger.id: stranger}


async def test_after_a_lost_answer_only_a_younger_listing_is_believed(story: Story) -> None:
    story.project.pass_time(100)
    await story.machines()
    story.project.faults.add(Fault(call="POST /servers", kind=Kind.LOST))
    await story.create(intended_at=START)
    story.project.pass_time(1)

    assert isinstance(await story.create(intended_at=START), Accepted)

    assert story.project.calls["POST /servers"] == 1


async def test_a_server_of_an_earlier_request_is_not_taken_for_this_one(story: Story) -> None:
    await story.bought(request_uid="uid-before")

    answer = await story.create(request_uid="uid-now")

    assert isinstance(answer, Unmet)
    assert "created for another request" in answer.reason


async def test_a_server_that_is_being_deleted_is_waited_for(story: Story) -> None:
    await story.delete(await story.bought())

    answer = await story.create()

    assert isinstance(answer, Failed)
    assert answer.failure is TRANSIENT
    story.project.pass_time(60)
    assert isinstance(await story.create(), Accepted)


async def test_nothing_is_bought_on_half_a_listing(story: Story) -> None:
    for number in range(60):
        await story.create(f"default-{number}")
    story.restart()
    gone, *_ = story.project.servers
    story.project.between_pages = lambda: story.project.servers.pop(gone, None)
    story.project.calls.clear()

    answer = await story.create("default-60")

    assert isinstance(answer, Failed)
    assert "servers or the token changed" in answer.reason
    assert story.project.calls["POST /servers"] == 0
    assert isinstance(await story.create("default-60", intended_at=START), Accepted), "read anew"


async def test_a_token_that_is_replaced_is_used_at_once(story: Story, account: Account) -> None:
    await story.bought()
    account.projects["the-new-one"] = account.projects.pop(story.secrets.values["hetzner"])
    answer = await story.create("default-2")
    assert isinstance(answer, Failed)
    assert answer.failure is FATAL

    story.secrets.values["hetzner"] = "the-new-one\n"

    assert isinstance(await story.create("default-2"), Accepted)
    assert set(await story.machines()) == {"default-1", "default-2"}


async def test_the_token_of_another_project_makes_nobody_buy_everything_again(
    story: Story, account: Account
) -> None:
    await story.bought()
    account.projects["of-another-project"] = Project()

    story.secrets.values["hetzner"] = "of-another-project"

    listing = await story.provider.list()
    answer = await story.create()
    assert not listing.is_complete
    assert "its project has none of the known servers" in listing.reason
    assert isinstance(answer, Failed)
    assert account.projects["of-another-project"].servers == {}


async def test_a_secret_that_is_missing_is_a_matter_for_a_person(story: Story) -> None:
    del story.secrets.values["hetzner"]

    assert await story.create() == Failed(failure=FATAL, reason="Secret hetzner isn't there")
    assert not (await story.provider.list()).is_complete


async def test_an_image_that_was_replaced_is_looked_for_once_more(story: Story) -> None:
    await story.bought()
    (image,) = (each for each in story.project.images if each.id == 11)
    image.id = 77

    first = await story.create("default-2")

    assert isinstance(first, Failed)
    assert first.failure is TRANSIENT
    assert isinstance(await story.create("default-2"), Accepted)


async def test_what_stays_missing_is_a_mistake_of_the_class(story: Story) -> None:
    gone = Fault(call="POST /servers", code="not_found", message="something is gone", times=2)
    story.project.faults.add(gone)

    answers = [await story.create() for _ in range(2)]

    assert [getattr(answer, "failure", None) for answer in answers] == [TRANSIENT, TEMPLATE]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"images": {"x86": "debian-14"}}, "spec.images.x86: image 'debian-14' isn't in this"),
        ({"images": {"x86": "13"}}, "spec.images.x86: image '13' is for arm: name one for x86"),
        ({"sshKeys": ["root"]}, "spec.sshKeys: 'root' isn't in this project, which has: admin"),
        ({"networks": ["lan"]}, "spec.networks: 'lan' isn't in this project, which has: cluster"),
        ({"firewalls": ["wall"]}, "spec.firewalls: 'wall' isn't in this project"),
        ({"images": {"x86": "99"}}, "spec.images.x86: image '99' isn't in this project"),
        (
            {"labels": {"hcloud/node-group": "workers"}},
            "label hcloud/node-group, the Cluster Autoscaler treats growth's machines as its own",
        ),
        (
            {"networks": ["cluster"], "subnet": "10.1.0.0/24"},
            "spec.subnet: 10.1.0.0/24 isn't a subnet of 'cluster', which has: 10.0.0.0/24",
        ),
        (
            {"bootstrap": {"kind": "Custom", "templateSecretRef": {**SECRET, "name": "mine"}}},
            "bootstrap: the template lacks $(growth.nodeName)",
        ),
    ],
)
async def test_what_is_wrong_with_a_class_is_told_before_and_instead_of_a_call(
    story: Story, spec: dict[str, Any], problem: str
) -> None:
    story.secrets.values["mine"] = "#!/bin/sh"
    story.uses(**spec)

    checked = await story.provider.check()
    answer = await story.create()

    assert problem in checked.problems[0]
    assert isinstance(answer, Failed)
    assert answer.failure is TEMPLATE
    assert problem in answer.reason
    assert story.project.calls["POST /servers"] == 0


async def test_nothing_is_bought_with_node_labels_that_another_program_goes_by(
    story: Story,
) -> None:
    claimed = msgspec.structs.replace(order(), labels={"karpenter.sh/nodepool": "general"})

    answer = await story.provider.create(claimed)

    assert answer == Failed(
        failure=TEMPLATE,
        reason="spec.labels of NodePool default: with label karpenter.sh/nodepool, Karpenter "
        "treats growth's machines as its own: remove it",
    )
    assert story.names == []


async def test_what_time_will_mend_is_no_problem_of_the_class(story: Story) -> None:
    story.project.faults.add(Fault(call="GET /ssh_keys", code="bad_gateway"))
    with pytest.raises(RetryLater):
        await story.provider.check()

    story.secrets.values["hetzner"] = "wrong"
    (problem,) = (await story.provider.check()).problems
    assert "unable to authenticate" in problem


async def test_a_full_network_is_told_with_its_name(story: Story) -> None:
    story.project.networks[0].others = 100
    story.uses(networks=["cluster"])

    (problem,) = (await story.provider.check()).problems

    assert "'cluster' has 100 servers, and 100 is the maximum" in problem
    assert await story.provider.offerings() == ()


async def test_a_network_that_others_have_filled_is_named_and_blocks_until_it_has_room(
    story: Story,
) -> None:
    story.uses(networks=["cluster"])
    await story.provider.offerings()
    story.project.networks[0].others = 100

    answer = await story.create()

    assert isinstance(answer, Failed)
    assert answer.failure is TEMPLATE
    assert "networks of the class: cluster" in answer.reason
    (problem,) = (await story.provider.check()).problems
    assert "'cluster' has 100 servers" in problem
    story.project.networks[0].others = 99
    story.project.pass_time(60)
    assert (await story.provider.check()).problems == ()
    assert isinstance(await story.create(), Accepted)


async def test_an_image_that_is_still_being_made_is_waited_for_by_a_person(story: Story) -> None:
    story.project.images[0].status = "creating"

    (problem,) = (await story.provider.check()).problems

    assert problem == ("spec.images.x86: image 'debian-13' is creating: wait until it is available")


async def test_a_type_that_no_image_of_the_class_boots_is_a_mistake_of_the_order(
    story: Story,
) -> None:
    answer = await story.create(server_type="cax11")

    assert isinstance(answer, Failed)
    assert answer.reason == "spec.images has no image that cax11 can boot"


async def test_a_class_that_is_gone_buys_lists_and_deletes_nothing(story: Story) -> None:
    machine = await story.bought()
    story.node_class = None

    assert await story.provider.offerings() == ()
    assert await story.create("default-2") == Failed(
        failure=TEMPLATE, reason="the node class is gone"
    )
    assert not (await story.provider.list()).is_complete
    assert (await story.delete(machine)).reason == "the node class is gone"
    assert story.names == ["default-1"]


async def test_a_join_token_of_one_s_own_is_used_where_the_class_says_so(story: Story) -> None:
    own = {"tokenFrom": "Secret", "tokenSecretRef": {**SECRET, "name": "join"}}
    story.secrets.values["join"] = "K10abc::server:one-for-all\n"
    story.uses(bootstrap={**K3S, **own})

    await story.create()

    (server,) = story.project.servers.values()
    assert "token: K10abc::server:one-for-all\n" in server.body["user_data"]


async def test_an_action_that_had_nothing_left_to_do_is_no_failure(story: Story) -> None:
    story.project.failing_actions.append(
        ("start_server", "server_already_attached", "already attached")
    )
    await story.bought()

    story.project.pass_time(60)

    assert (await story.machines())["default-1"].state is MachineState.RUNNING


async def test_a_class_that_is_right_has_its_ids(story: Story) -> None:
    story.uses(images={"x86": "12", "arm": "debian-13"})

    checked = await story.provider.check()

    assert checked.problems == ()
    assert checked.found["images"] == {"x86": "12", "arm": "13"}
    assert checked.found["sshKeys"] == ["21"]
    assert checked.found["currency"] == "EUR"


async def test_a_failure_after_the_answer_shows_in_the_listing_also_after_a_restart(
    story: Story,
) -> None:
    story.project.failing_actions.append(("start_server", "resource_unavailable", "no host left"))
    machine = await story.bought()
    assert machine.state is MachineState.CREATING

    story.project.pass_time(60)

    for _ in range(2):
        machine = (await story.machines())["default-1"]
        assert (machine.state, machine.scope) == (MachineState.FAILED, OFFER)
        assert machine.reason == "start_server: no host left (resource_unavailable)"
        story.restart()


async def test_an_old_mistake_of_a_person_is_no_failed_creation(story: Story) -> None:
    machine = await story.bought()
    story.project.pass_time(3600)
    server = story.project.servers[int(machine.machine_id)]
    server.power = "off"
    failed = story.project._action("start_server", server.id, takes=1)
    failed.error = ("resource_unavailable", "no host left")
    server.actions = [server.actions[0], failed]
    story.project.pass_time(3600)

    machine = (await story.machines())["default-1"]

    assert (machine.state, machine.reason) == (MachineState.RUNNING, "the server is off")


async def test_a_server_that_listings_don_t_show_yet_is_kept_in_mind(story: Story) -> None:
    story.project.listing_lag = 20

    machine = await story.bought()

    assert machine.state is MachineState.CREATING
    story.project.pass_time(30)
    assert (await story.machines())["default-1"].state is MachineState.RUNNING


async def test_a_server_that_somebody_deleted_is_missed_soon(story: Story) -> None:
    machine = await story.bought()

    del story.project.servers[int(machine.machine_id)]
    story.project.pass_time(61)

    assert await story.machines() == {}


async def test_an_intent_that_is_older_than_the_listing_needs_no_new_one(story: Story) -> None:
    story.project.pass_time(100)
    await story.provider.offerings()
    await story.machines()
    story.project.calls.clear()

    intended = START + timedelta(seconds=50)
    await story.create("default-1", intended_at=intended)
    assert story.project.calls["GET /servers"] == 0

    story.project.pass_time(100)
    await story.create("default-2", intended_at=START + timedelta(seconds=150))
    assert story.project.calls["GET /servers"] == 1
