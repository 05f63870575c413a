"""Who leads is judged by the API server's clock, wherever the clock of this machine is."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from growth.api.wellknown import WRITING_STOPPED_ANNOTATION
from growth.cli.cluster.lists import Lists
from growth.cli.cluster.trouble import Matter, trouble_of
from growth.cli.doctor.command import examine_all
from growth.cli.doctor.examination.finding import ExaminedCluster, Level
from growth.installation.awaiting import lease_holder
from tests.cli.installed import NAMESPACE, connection, installed, lead

if TYPE_CHECKING:
    from tests.cli.installed import Cluster

SAID = {WRITING_STOPPED_ANNOTATION: "MaximumKept: 4 nodes, 3 allowed"}


def with_clock(*, ahead: float, silent: float) -> Cluster:
    """This machine's clock is ahead of the API server's; a leader is silent for so long."""
    cluster = installed()
    cluster.skew = timedelta(seconds=-ahead)
    lead(cluster, annotations=SAID, seconds_ago=silent + ahead)
    return cluster


@pytest.mark.parametrize("ahead", [-20.0, 0.0, 20.0])
@pytest.mark.parametrize(("silent", "leads"), [(1.0, True), (17.0, False)])
def test_a_leader_is_one_as_long_as_its_lease_lasts_by_the_api_server(
    ahead: float, silent: float, *, leads: bool
) -> None:
    cluster = with_clock(ahead=ahead, silent=silent)

    assert bool(asyncio.run(lease_holder(connection(cluster), NAMESPACE))) == leads
    assert reason(cluster) is (Matter.WRITING_STOPPED if leads else Matter.NOBODY_LEADS)
    assert ("has stopped writing" in said_of_the_leader(cluster)) == leads


def reason(cluster: Cluster) -> Matter | None:
    found = asyncio.run(trouble_of(Lists(connection(cluster))))
    return None if found is None else found.reason


def said_of_the_leader(cluster: Cluster) -> str:
    findings = asyncio.run(examine_all(ExaminedCluster(connection(cluster), NAMESPACE)))
    (leader,) = (each for each in findings if each.subject == "leader")
    assert leader.level is Level.FAIL
    return leader.text


def test_without_a_lease_there_is_no_leader() -> None:
    assert asyncio.run(lease_holder(connection(installed()), "elsewhere")) == ""
