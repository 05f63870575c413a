"""Whose certificate growth approves: a kubelet's for the one machine of its token, and no other."""

from __future__ import annotations

import msgspec
import pytest

from certs.approval import JoiningMachine, JoinVerdict, verdict_on
from certs.approving import joining_machine
from certs.signing_requests import WATCHED, SigningRequest
from growth.api.joining import GROUP, token_user
from tests.certs.joining import USAGES, pem_for, signing_request

NAME = "default-1"
MACHINES = {
    NAME: JoiningMachine(uid="uid-1", is_under_way=True),
    "default-2": JoiningMachine(uid="uid-2", is_under_way=True),
    "default-3": JoiningMachine(uid="uid-3", is_under_way=False),
}
GOOD = pem_for(f"system:node:{NAME}")


def asked(
    pem: bytes = GOOD,
    *,
    user: str = token_user("uid-1"),
    groups: tuple[str, ...] = ("system:bootstrappers", GROUP, "system:authenticated"),
    usages: tuple[str, ...] = USAGES,
    conditions: tuple[str, ...] = (),
) -> SigningRequest:
    """As the API server has it, which writes user and groups."""
    stored = signing_request("csr-1", pem, usages)
    stored["metadata"] |= {"uid": "uid", "resourceVersion": "1"}
    stored["spec"] |= {"username": user, "groups": list(groups)}
    stored["status"] = {"conditions": [{"type": each} for each in conditions]}
    return WATCHED.decode(msgspec.json.encode(stored))


def test_a_kubelet_gets_the_certificate_of_the_machine_that_its_token_was_made_for() -> None:
    for usages in (USAGES, (*USAGES, "key encipherment")):
        verdict = verdict_on(asked(usages=usages), machines=MACHINES, nodes=())
        assert verdict is JoinVerdict.APPROVED


MALFORMED = {
    "another prefix": asked(pem_for(f"system:serviceaccount:{NAME}")),
    "no node": asked(pem_for("system:node:")),
    "administrators": asked(pem_for(f"system:node:{NAME}", organizations=("system:masters",))),
    "one group more": asked(
        pem_for(f"system:node:{NAME}", organizations=("system:nodes", "system:masters"))
    ),
    "the same group twice": asked(
        pem_for(f"system:node:{NAME}", organizations=("system:nodes", "system:nodes"))
    ),
    "no group": asked(pem_for(f"system:node:{NAME}", organizations=())),
    "a unit": asked(pem_for(f"system:node:{NAME}", unit="system:masters")),
    "a name of a server": asked(pem_for(f"system:node:{NAME}", names=("kubernetes.default",))),
    "a server's usage": asked(usages=("digital signature", "server auth")),
    "one usage more": asked(usages=(*USAGES, "cert sign")),
    "one usage less": asked(usages=("client auth",)),
    "no request": asked(b"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"),
    "nothing": asked(b""),
}
OTHERS = {
    "a name that nothing was bought for": (pem_for("system:node:worker-1"), "uid-1"),
    "the control plane's name": (pem_for("system:node:control-plane"), "uid-1"),
    "another machine's name": (pem_for("system:node:default-2"), "uid-1"),
    "another machine's token": (GOOD, "uid-2"),
    "the token of a request that is gone": (GOOD, "uid-0"),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_a_kubelet_would_not_ask_for_is_left_alone(what: str) -> None:
    verdict = verdict_on(MALFORMED[what], machines=MACHINES, nodes=())

    assert verdict is JoinVerdict.MALFORMED


@pytest.mark.parametrize("what", OTHERS)
def test_a_token_is_good_for_the_name_of_its_own_machine_only(what: str) -> None:
    pem, uid = OTHERS[what]

    verdict = verdict_on(asked(pem, user=token_user(uid)), machines=MACHINES, nodes=())

    assert verdict is JoinVerdict.NO_REQUEST


def test_a_user_that_is_no_join_token_is_refused_whatever_its_groups() -> None:
    verdict = verdict_on(asked(user="system:bootstrap:"), machines=MACHINES, nodes=())

    assert verdict is JoinVerdict.NO_REQUEST


def test_a_machine_that_is_not_under_way_gets_no_certificate() -> None:
    late = asked(pem_for("system:node:default-3"), user=token_user("uid-3"))

    assert verdict_on(late, machines=MACHINES, nodes=()) is JoinVerdict.NOT_UNDER_WAY


def test_the_certificate_of_a_node_that_exists_is_not_given_again() -> None:
    assert verdict_on(asked(), machines=MACHINES, nodes={NAME}) is JoinVerdict.JOINED


@pytest.mark.parametrize("phase", ["Pending", "Provisioning", "Ready", "Unmet", "Deprovisioning"])
def test_a_request_is_under_way_while_its_machine_boots(phase: str) -> None:
    metadata = {"name": NAME, "uid": "uid-1"}
    deleted = {**metadata, "deletionTimestamp": "2026-01-01T00:00:00Z"}
    status = {"phase": phase}

    found = joining_machine({"metadata": metadata, "status": status})

    assert found.is_under_way is (phase == "Provisioning")
    assert not joining_machine({"metadata": deleted, "status": status}).is_under_way
    assert not joining_machine({"metadata": metadata}).is_under_way


def test_only_undecided_requests_of_growths_tokens_are_looked_at() -> None:
    kubeadm = ("system:bootstrappers", "system:bootstrappers:kubeadm:default-node-token")

    assert asked().waits_for_growth
    assert not asked(groups=kubeadm).waits_for_growth
    assert not asked(conditions=("Approved",)).waits_for_growth
    assert not asked(conditions=("Denied",)).waits_for_growth
