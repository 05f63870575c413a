"""Servers that can't join: each says why, and is given back after the pool's readinessWait."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from growth.api.wellknown import NODE_REQUEST_LABEL
from tests.live import wait_until
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from tests.machines.booting import Machine
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(300)]
TOKENS: Final = ("--field-selector", "type=bootstrap.kubernetes.io/token")
PATIENCE: Final = 60
"""Seconds of readinessWait: a good server needs six, and one on a busy machine thirty."""


def buys(place: MachineSite, name: str, *, patience: int = PATIENCE, **bootstrap: Any) -> Machine:
    """The first server of a pool whose servers can't join."""
    place.makes_pool(name, pool={"readinessWait": f"{patience}s"}, bootstrap=bootstrap)
    place.runs("web", pool=name)
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    return place.machines()[0]


def buys_without_network(place: MachineSite, name: str) -> Machine:
    """The first server of a pool, which waits for its private address before it joins."""
    place.datacentre.plugs_private_network = False
    place.makes_pool(name, pool={"readinessWait": f"{PATIENCE}s"}, networks=["cluster"])
    place.runs("web", pool=name)
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    return place.machines()[0]


def is_given_back(place: MachineSite, machine: Machine, word: str) -> None:
    """It says why it can't join, and it is given back."""
    place.keeps_log(machine, word)
    gone = "the server that can't join is given back"
    wait_until(lambda: machine not in place.machines(), gone, within=2 * PATIENCE + BOOTED_WITHIN)
    assert machine.name not in place.own_nodes()


def test_a_wrong_hash_of_the_ca(place: MachineSite) -> None:
    machine = buys(place, "pinned", caHash="sha256:" + "5e" * 32)

    is_given_back(place, machine, "none of the public keys")


def test_a_token_that_was_deleted(place: MachineSite) -> None:
    machine = buys_without_network(place, "revoked")
    place.cluster.kubectl("--namespace", "kube-system", "delete", "secrets", *TOKENS)

    place.datacentre.plugs_private_network = True

    is_given_back(place, machine, "Running pre-flight checks")


def test_a_token_that_ran_out(place: MachineSite) -> None:
    machine = buys_without_network(place, "late")
    own = ("--namespace", "kube-system", "secret", "--selector")
    [secret] = place.cluster.get(*own, f"{NODE_REQUEST_LABEL}={machine.name}")["items"]
    name = secret["metadata"]["name"]
    past = json.dumps({"stringData": {"expiration": "2026-01-01T00:00:00Z"}})
    place.cluster.kubectl("patch", *own[:3], name, "--type=merge", "--patch", past)

    place.datacentre.plugs_private_network = True

    is_given_back(place, machine, "Running pre-flight checks")


def test_a_mirror_of_packages_that_is_down(place: MachineSite) -> None:
    # Servers reach nothing but the API server. The download is tried for half a minute.
    machine = buys(place, "installs", patience=2 * PATIENCE, version="1.36.3")

    is_given_back(place, machine, "Could not resolve host: pkgs.k8s.io")


def test_an_image_without_curl(place: MachineSite) -> None:
    place.datacentre.disk_changes = {"usr/bin/curl": None}
    machine = buys(place, "curlless")

    is_given_back(place, machine, "this image has no curl")
