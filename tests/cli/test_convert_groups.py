"""`growth convert --from escalator` and `--from vpsie`: node groups become pools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.api.nodepool import NodePool, PoolMode
from growth.api.scaling import ScalingPolicyName
from growth.api.written import Duration
from growth.cli.__main__ import main
from tests.docs.pages import blocks
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path

GUIDES = ROOT / "docs" / "guides"


def of_guide(name: str) -> Any:
    """The group that the guide shows."""
    text = next(each.text for each in blocks(GUIDES / name) if each.language == "yaml")
    return yaml.safe_load(text)


def escalator(**changes: Any) -> dict[str, Any]:
    (group,) = of_guide("from-escalator.md")["node_groups"]
    return {"node_groups": [group | changes]}


def vpsie(*, labels: dict[str, str] | None = None, **changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = of_guide("from-vpsie.md")
    found["spec"] |= changes
    if labels is not None:
        found["metadata"]["labels"] = labels
    return found


class Converting:
    """The command with a file."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = folder / "groups.yaml"
        self.capsys = capsys

    def __call__(self, origin: str, *documents: Any, types: tuple[str, ...] = ("cx33",)) -> int:
        self.path.write_text(yaml.safe_dump_all(documents, sort_keys=False))
        words = ["--server-types", *types] if types else []
        ended = main(["convert", "--from", origin, *words, "-f", str(self.path)])
        told = self.capsys.readouterr()
        self.out, self.err = told.out, told.err
        return ended

    def pools(self) -> list[NodePool]:
        return [NodePool.model_validate(each) for each in yaml.safe_load_all(self.out)]


@pytest.fixture
def convert(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Converting:
    return Converting(tmp_path, capsys)


def test_a_group_of_escalator_becomes_a_pool_by_utilisation(convert: Converting) -> None:
    assert convert("escalator", escalator(), types=("cx33", "cx43")) == 0

    (pool,) = convert.pools()
    fields = pool.spec.scaling.utilisation
    assert fields is not None
    assert pool.spec.scaling.policy is ScalingPolicyName.UTILISATION
    assert [(str(each.name), each.max) for each in pool.spec.server_types] == [
        ("cx33", 30),
        ("cx43", 30),
    ]
    assert (fields.min_nodes, fields.max_nodes, fields.slow_node_removal_rate) == (1, 30, 2)
    assert fields.hard_delete_grace_period == Duration.parse("10m")
    assert dict(pool.spec.labels) == {"customer": "shared"}


@pytest.mark.parametrize(
    ("origin", "group"),
    [("escalator", escalator()), ("vpsie", vpsie())],
    ids=["escalator", "vpsie"],
)
def test_what_is_converted_is_valid(
    origin: str, group: dict[str, Any], convert: Converting, tmp_path: Path
) -> None:
    assert convert(origin, group) == 0
    new = tmp_path / "new.yaml"
    new.write_text(convert.out)
    assert main(["validate", "-f", str(new)]) == 0, convert.capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "line", "remark"),
    [
        ({}, 3, "label_key: .* must select growth.dev/pool=shared"),
        ({}, 5, "cloud_provider_group_name: no counterpart"),
        ({"aws": {"lifecycle": "spot"}}, 18, "aws: no counterpart"),
        ({"colour": "red"}, 17, "colour: growth doesn't know this field"),
        ({"min_nodes": 0, "max_nodes": 0}, 2, "min_nodes and max_nodes: .* Set max"),
        ({"scale_up_cool_down_timeout": ""}, 15, "scale_up_cool_down_timeout: unset. It is 10m"),
        ({"dry_mode": True}, 17, "dry_mode: became mode: Observe"),
    ],
)
def test_what_has_no_counterpart_in_a_pool_by_utilisation_is_told_with_its_line(
    changes: dict[str, Any], line: int, remark: str, convert: Converting
) -> None:
    assert convert("escalator", escalator(**changes)) == 0
    assert re.search(rf'(?m)groups.yaml:{line}: node group "shared": {remark}', convert.err)


def test_a_group_in_dry_mode_becomes_a_pool_that_only_observes(convert: Converting) -> None:
    assert convert("escalator", escalator(dry_mode=True)) == 0
    assert convert.pools()[0].spec.mode is PoolMode.OBSERVE


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"min_nodes": 40}, "min_nodes must be less than max_nodes"),
        ({"min_nodes": "many"}, "min_nodes: "),
        ({"hard_delete_grace_period": "900h"}, "hard_delete_grace_period: must be a duration"),
        ({"name": "Shared_Nodes"}, "metadata.name: "),
    ],
)
def test_a_group_that_can_not_become_a_pool_is_refused_with_its_line(
    changes: dict[str, Any], mistake: str, convert: Converting
) -> None:
    assert convert("escalator", escalator(**changes)) == 2
    assert re.search(rf'groups.yaml:2: node group ".*": {mistake}', convert.err)
    assert convert.out == ""


def test_a_group_of_vpsie_becomes_a_pool_with_a_number(convert: Converting) -> None:
    group = vpsie(scaleUpBatchSize=2) | {"status": {"desiredNodes": 4}}
    types = ("small", "large")
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    assert convert("vpsie", service, group, types=types) == 0

    kept, made = yaml.safe_load_all(convert.out)
    assert kept == service
    pool = NodePool.model_validate(made)
    fields = pool.spec.scaling.desired
    assert fields is not None
    assert (fields.min_nodes, fields.desired_nodes, fields.max_nodes) == (2, 4, 10)
    assert (str(fields.preferred_instance_type), fields.scale_up_batch_size) == ("small", 2)
    assert fields.scale_down_cooldown == Duration.parse("10m")
    assert pool.spec.mode is PoolMode.ACT


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({}, ":10: .*datacenterID: no counterpart"),
        ({}, "preferredInstanceType: small isn't one of --server-types"),
        ({"spotConfig": {"enabled": True}}, "spotConfig: no counterpart"),
        ({"scaleUpPolicy": {"cpuThreshold": 80}}, "cpuThreshold: no counterpart: pending pods"),
        ({"colour": "red"}, "colour: growth doesn't know this field"),
        ({"labels": {}}, "so the pool has mode: Observe"),
    ],
)
def test_what_has_no_counterpart_in_a_pool_with_a_number_is_told(
    changes: dict[str, Any], remark: str, convert: Converting
) -> None:
    assert convert("vpsie", vpsie(**changes)) == 0
    assert re.search(remark, convert.err)


def test_a_group_of_vpsie_that_gives_nothing_back_is_still_one(convert: Converting) -> None:
    assert convert("vpsie", vpsie(scaleDownPolicy={"enabled": False})) == 0
    fields = convert.pools()[0].spec.scaling.desired
    assert fields is not None
    assert fields.scale_down_policy == "Disabled"


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"minNodes": 11}, r"minNodes \(11\) must be <= maxNodes \(10\)"),
        ({"minNodes": "two"}, "Expected `int`"),
        ({"kubernetesVersion": ""}, "kubernetesVersion is required"),
    ],
)
def test_a_group_that_vpsie_refuses_is_refused(
    changes: dict[str, Any], mistake: str, convert: Converting
) -> None:
    assert convert("vpsie", vpsie(**changes)) == 2
    assert re.search(mistake, convert.err)


def test_without_server_types_it_says_what_to_add(convert: Converting) -> None:
    assert convert("escalator", escalator(), types=()) == 2
    assert "--server-types cx33 cx43" in convert.err
