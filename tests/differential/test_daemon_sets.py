from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.differential import daemon_sets, stage
from tests.differential.connection import connected
from tests.differential.generator import generated

if TYPE_CHECKING:
    from tests.live import LiveCluster


@pytest.mark.cluster
async def test_a_daemon_set_has_pods_on_the_nodes_that_our_rules_name_and_they_ask_for_as_much(
    cluster: LiveCluster,
) -> None:
    cases = generated(count=20, number=1, constraints=daemon_sets.CONSTRAINTS)

    async with connected(cluster.kubeconfig) as connection:
        await stage.prepare(connection, 1)
        made, expected = await daemon_sets.compared(connection, cases)

    assert not made - expected
    assert not expected - made
    assert len(made) > len(cases)
