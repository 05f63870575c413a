"""Hetzner in the loop: a real control plane, our real process, and the fake of Hetzner's API."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Final

import pytest

from reconciler.providers.hetzner.labels import CLUSTER_LABEL, INSTALLATION_LABEL, REQUEST_UID_LABEL
from tests.clouds.growing import TOKEN
from tests.hetzner.fake.faults import Fault, Kind
from tests.live import wait_until

if TYPE_CHECKING:
    from tests.clouds.growing import Site

CLASSES: Final = "hetznernodeclasses,nodes,configmaps,leases"
pytestmark = pytest.mark.cluster


def test_pods_without_a_place_get_servers_that_join_and_take_them(place: Site) -> None:
    story = place.tell("plain")
    story.wants(6)

    story.is_served(6)
    story.is_settled(6)

    assert story.nodes() == sorted(server.name for server in story.servers())


def test_a_node_class_says_what_its_names_stand_for(place: Site) -> None:
    story = place.tell("named", networks=["cluster"], firewalls=["nodes"])

    story.is_ready()

    told = [story.told("hetznernodeclass", f".status.{each}") for each in ("images", "networks")]
    assert told == ['{"arm":"13","x86":"11"}', '["41"]']


def test_a_class_that_names_what_is_not_there_says_so_and_is_asked_again(place: Site) -> None:
    story = place.tell("wrong", sshKeys=["nobody"])
    story.wants(1)
    story.says("hetznernodeclass", ".status.blocked.message", "'nobody' isn't in this project")

    story.makes_servers()

    story.is_served(1)
    assert story.told("hetznernodeclass", ".status.blocked") == ""


def test_a_join_token_ends_when_its_machine_has_joined(place: Site) -> None:
    story = place.tell("joins")
    story.wants(1)
    story.is_served(1)

    mine = ("--namespace", "kube-system", "--selector", "growth.dev/managed-by=growth")
    wait_until(lambda: not place.cluster.get("secrets", *mine)["items"], "the tokens are gone")
    (server,) = story.servers()
    assert "token: " in server.body["user_data"]


def test_servers_whose_answer_was_lost_are_found_again(place: Site) -> None:
    story = place.tell("lost")
    place.project.faults.add(Fault(call="POST /servers", kind=Kind.LOST, times=3))
    story.wants(5)

    story.is_served(5)

    story.is_settled(5)


def test_what_is_sold_out_is_bought_elsewhere_or_of_another_type(place: Site) -> None:
    story = place.tell("soldout", "cx23", "cx33")
    place.project.sold_out |= {("cx23", "nbg1"), ("cx23", "fsn1"), ("cx23", "hel1")}
    story.wants(1)

    story.is_served(1)

    assert story.types() == ["cx33"]


def test_servers_of_others_are_left_alone_whatever_they_are_called(place: Site) -> None:
    story = place.tell("shared")
    (known, *_) = [each for each in place.project.servers.values() if CLUSTER_LABEL in each.labels]
    another = {**known.labels, CLUSTER_LABEL: "another-cluster"}
    another[REQUEST_UID_LABEL] = "uid-of-theirs"
    theirs = place.project.add_foreign("shared-6f1f2f9c-0000-4000-8000-000000000001", **another)
    nobody_s = place.project.add_foreign("shared-6f1f2f9c-0000-4000-8000-000000000002")
    story.wants(2)

    story.is_served(2)

    assert {theirs.id, nobody_s.id} <= place.project.servers.keys()
    assert (theirs.gone_from, nobody_s.gone_from) == (None, None)


def installations(place: Site) -> str:
    """The ids of installations in the Lease; they are written when it is renewed."""
    lease = place.cluster.get("lease", "growth-reconciler", "--namespace", "kube-system")
    return str(lease["metadata"].get("annotations", {}).get(INSTALLATION_LABEL, ""))


def test_another_installation_with_our_id_is_told_of_and_its_servers_are_left_alone(
    place: Site,
) -> None:
    story = place.tell("copy")
    story.wants(1)
    story.is_served(1)
    (own,) = story.servers()
    installation = own.labels[INSTALLATION_LABEL]
    wait_until(lambda: installation in installations(place), "its installation is remembered")

    labels = {**own.labels, INSTALLATION_LABEL: "another", REQUEST_UID_LABEL: "uid-of-theirs"}
    theirs = place.project.add_foreign("copy-6f1f2f9c-0000-4000-8000-000000000003", **labels)

    held = ".status.conditions[?(@.type=='RemovalHeld')].reason"
    story.says("nodepool", held, "AnotherWriter")
    other = ".status.conditions[?(@.type=='AnotherWriter')].status"
    story.says("hetznernodeclass", other, "True")
    told = ("get", "events", "--all-namespaces", "--output", "jsonpath={.items[*].reason}")
    wait_until(lambda: "AnotherWriter" in place.cluster.kubectl(*told), "an event tells of it")
    removals = place.cluster.get("noderemovalrequests")["items"]
    assert theirs.name not in {each["metadata"]["name"] for each in removals}

    del place.project.servers[theirs.id]
    story.says("nodepool", held, "Released")
    story.says("hetznernodeclass", other, "False")


def test_no_secret_is_told_in_any_log_event_status_or_metric(place: Site) -> None:
    """Hetzner quotes the token wherever it can: in refusals, in failed actions, in deletes."""
    story = place.tell("secret")
    for call, code in (("POST /servers", "service_error"), ("DELETE /servers/*", "locked")):
        place.project.faults.add(Fault(call=call, code=code, message=TOKEN))
    place.project.failing_actions.append(("start_server", "server_error", TOKEN))
    story.wants(1)
    story.is_served(1)
    told = ("get", "events", "--all-namespaces", "--output", "jsonpath={.items[*].reason}")
    wait_until(lambda: "Unmet" in place.cluster.kubectl(*told), "the failure is told")

    (server,) = story.servers()[-1:]
    marks = {TOKEN[:8], TOKEN[-8:], "a-root-password-to-throw-away", "#cloud-config"}
    marks |= {join_token(server.body["user_data"])}
    marks |= {b64encode(each.encode()).decode()[:10] for each in marks}
    everything = [
        place.log.read_text(),
        place.metrics(),
        *(
            place.cluster.kubectl("get", kinds, "--all-namespaces", "--output", "json")
            for kinds in ("events", "noderequests,noderemovalrequests,nodepools", CLASSES)
        ),
    ]
    assert all(len(each) > 1000 for each in everything)
    assert "start_server" in everything[0]
    assert not [mark for mark in marks for text in everything if mark in text]


def join_token(user_data: str) -> str:
    """The secret half, in the clear as the server was told it."""
    (line,) = [line for line in user_data.splitlines() if line.strip().startswith("token: ")]
    return line.rsplit(".", 1)[1]
