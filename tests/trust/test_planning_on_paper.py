"""`growth plan` for a cluster believes records, as the reconciler does."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from growth.cli.__main__ import main
from growth.cli.bundle.bundling import input_part, pack_bundle
from growth.cli.plan.cluster import SeenCluster
from growth.cli.plan.input import input_of
from tests.reconciler.build import node_class, pool, waiting
from tests.removal.build import node
from tests.trust.build import bought, name_of, with_uid

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

AT = datetime(2026, 1, 1, tzinfo=UTC)
OWN = with_uid(node(name_of(1), unschedulable=True))
LIAR = with_uid(node(name_of(2), unschedulable=True, providerID="hcloud://666"))


def bundled(path: Path, *resources: Any) -> Path:
    """A cluster of a pool that may have two machines, with two Nodes that claim to be them."""
    limited = pool(serverTypes=[{"name": "small", "max": 2}])
    seen = SeenCluster(
        objects=(OWN, LIAR, waiting("web-0", requests={"cpu": "1"})),
        resources=(limited, node_class(), *resources),
        config_maps={},
        unreadable=(),
    )
    file = path / "bundle.tar.gz"
    pack_bundle(file, [input_part(input_of(seen, AT))], at=AT)
    return file


def machines(file: Path, capsys: pytest.CaptureFixture[str]) -> int:
    main(["plan", "--from-bundle", str(file), "-o", "json"])
    return len(json.loads(capsys.readouterr().out)["nodes"])


def test_a_node_that_claims_a_pool_takes_no_place_of_its_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machines(bundled(tmp_path, bought(OWN)), capsys) == 1


def test_machines_with_records_count_for_the_limits_of_their_pool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machines(bundled(tmp_path, bought(OWN), bought(LIAR)), capsys) == 0


def test_in_a_cluster_whose_growth_writes_no_records_nodes_are_believed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert machines(bundled(tmp_path), capsys) == 0
