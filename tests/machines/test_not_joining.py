"""Servers that can't join: each says why, and is given back after the pool's readinessWait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.live import wait_until
from tests.machines.sites import BOOTED_WITHIN

if TYPE_CHECKING:
    from tests.machines.booting import Machine
    from tests.machines.sites import MachineSite

pytestmark = [pytest.mark.cluster, pytest.mark.long, pytest.mark.timeout(300)]
PATIENCE: Final = 60
"""Seconds of readinessWait: a good server needs six, and one on a busy machine thirty."""


def buys(place: MachineSite, name: str, **bootstrap: Any) -> Machine:
    """The first server of a pool whose servers can't join."""
    place.makes_pool(name, pool={"readinessWait": f"{PATIENCE}s"}, bootstrap=bootstrap)
    place.runs("web", pool=name)
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    return place.machines()[0]


def is_given_back(place: MachineSite, machine: Machine, word: str) -> None:
    """It says why it can't join, and it is given back."""
    place.keeps_log(machine, word)
    gone = "the server that can't join is given back"
    wait_until(lambda: machine not in place.machines(), gone, within=PATIENCE + BOOTED_WITHIN)
    assert machine.name not in place.own_nodes()


def test_a_wrong_hash_of_the_ca(place: MachineSite) -> None:
    machine = buys(place, "pinned", caHash="sha256:" + "5e" * 32)

    is_given_back(place, machine, "none of the public keys")


def test_a_token_that_was_deleted(place: MachineSite) -> None:
    place.makes_pool("revoked", pool={"readinessWait": f"{PATIENCE}s"}, networks=["cluster"])
    place.datacentre.plugs_private_network = False
    place.runs("web", pool="revoked")
    wait_until(place.machines, "a server is on", within=BOOTED_WITHIN)
    machine = place.machines()[0]
    tokens = ("--field-selector", "type=bootstrap.kubernetes.io/token")
    place.cluster.kubectl("--namespace", "kube-system", "delete", "secrets", *tokens)

    place.datacentre.plugs_private_network = True

    is_given_back(place, machine, "Running pre-flight checks")
