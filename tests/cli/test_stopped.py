"""A reconciler that has stopped writing is named first by `growth status`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from growth.api.wellknown import WRITING_STOPPED_ANNOTATION
from growth.cli.lists import Lists
from growth.cli.overview import overview
from growth.cli.stopped import stopped
from growth.cli.watched import Watched
from tests.cli.installed import Cluster, connection, installed, lead

SAID = {WRITING_STOPPED_ANNOTATION: "MaximumKept: 4 nodes in pool web, 3 allowed"}


def lines(cluster: Cluster) -> tuple[str, ...]:
    return asyncio.run(stopped(Lists(connection(cluster))))


def test_a_leader_that_writes_nothing_is_told_with_its_rule_and_what_to_do() -> None:
    cluster = installed()
    lead(cluster, annotations=SAID)

    (line,) = lines(cluster)

    assert "MaximumKept: 4 nodes in pool web, 3 allowed" in line
    assert "docs/runbooks/GrowthWritingStopped.md" in line
    assert overview(Watched(), datetime.now(UTC), stopped=(line,)).needs_a_person == (line,)


def test_a_leader_that_works_and_one_that_is_gone_are_no_matter_for_a_person() -> None:
    cluster = installed()
    assert lines(cluster) == ()

    lead(cluster, annotations=SAID, seconds_ago=60)
    assert lines(cluster) == ()
