"""`growth plan`: what would be bought for a set of files, told to people and to programs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from typing_extensions import override

from growth.cli.__main__ import main
from reconciler.solver.packing.solving import solve_by_first_fit

if TYPE_CHECKING:
    from collections.abc import Callable

    from reconciler.solver import Plan, Problem

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
POOL, SHOP = str(EXAMPLES / "kwok"), str(EXAMPLES / "shop")


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    """A file with these documents, by its name."""

    def write(*documents: dict[str, Any]) -> str:
        path = tmp_path / "manifests.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    return write


def pod(name: str, /, *, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": [container]} | spec,
    }


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_example_is_told_as_a_table_with_its_bound_and_who_has_no_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "-f", POOL, SHOP]) == 1
    out = capsys.readouterr().out
    header, *_ = out.splitlines()
    assert header == "POOL     TYPE  PLACE  NODES  PODS   CPU  MEMORY  PER HOUR"
    assert "0.0360  (26.28 per month)" in out
    assert "proven optimal · first-fit 0.0408" in out
    assert "shop/import-0   needs 96Gi of memory" in out
    assert all(len(line) <= 120 for line in out.splitlines())


def test_programs_get_the_whole_plan(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "-f", POOL, SHOP, "-o", "json"])
    plan = answer(capsys)
    assert list(plan) == [
        "result",
        "currency",
        "costs",
        "cost",
        "lowerBound",
        "gap",
        "firstFitCost",
        "nodes",
        "unplaced",
        "stop",
        "seconds",
        "costPerMonth",
        "prices",
        "notOffered",
        "leftOut",
        "autoscaled",
        "anyArchitecture",
    ]
    assert plan["result"] == "IncompletePlacement"
    assert plan["cost"] >= plan["lowerBound"] > 0
    placed = [name for node in plan["nodes"] for name in node["pods"]]
    assert len(placed) == len(set(placed)) == 26
    assert [each["pod"] for each in plan["unplaced"]] == ["shop/import-0"]
    # The databases keep apart, and the web servers are spread over both places.
    homes = [node for node in plan["nodes"] if any("/db-" in name for name in node["pods"])]
    assert len(homes) == 2


def cloud(currency: str) -> list[dict[str, Any]]:
    """A pool and its class, which sells one type at 0.01 of a currency; both have its name."""
    name = currency.lower()
    size = {"resources": {"cpu": "2", "memory": "4Gi", "pods": "110"}}
    sold = [{"name": "one", **size, "offers": [{"location": "here", "price": "0.01"}]}]
    of_class = {"kind": "KwokNodeClass", "spec": {"currency": currency, "types": sold}}
    of_pool = {
        "kind": "NodePool",
        "spec": {
            "nodeClassRef": {"kind": "KwokNodeClass", "name": name},
            "serverTypes": [{"name": "one", "max": 5}],
        },
    }
    header = {"apiVersion": "growth.dev/v1alpha1", "metadata": {"name": name}}
    return [header | of_class, header | of_pool]


def test_a_plan_in_one_currency_says_it_once(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(*cloud("EUR"), pod("one", nodeSelector={"growth.dev/pool": "eur"}))
    assert main(["plan", "-f", file]) == 0
    assert "0.0100  (7.30 EUR per month)" in capsys.readouterr().out


def test_a_plan_in_two_currencies_adds_nothing_up(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    pods = (pod(name, nodeSelector={"growth.dev/pool": name}) for name in ("eur", "usd"))
    file = written(*cloud("EUR"), *cloud("USD"), *pods)
    assert main(["plan", "-f", file]) == 0
    told = capsys.readouterr().out
    assert "0.0100 EUR and 0.0100 USD" in told
    assert "0.0200" not in told
    main(["plan", "-f", file, "-o", "json"])
    plan = answer(capsys)
    assert plan["costs"] == {"EUR": 0.01, "USD": 0.01}
    assert [plan[name] for name in ("cost", "lowerBound", "gap", "currency")] == [None] * 3 + [""]


@pytest.mark.parametrize(
    ("documents", "result", "machines", "code"),
    [
        ([], "NoDemands", 0, 0),
        ([pod("one")], "AllPlaced", 1, 0),
        ([pod("bound", nodeName="elsewhere")], "NoDemands", 0, 0),
        ([pod("huge", cpu="99")], "IncompletePlacement", 0, 1),
    ],
)
def test_the_result_has_one_of_three_names(
    documents: list[Any],
    result: str,
    machines: int,
    code: int,
    written: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [POOL, written(*documents)] if documents else [POOL]
    assert main(["plan", "-f", *files, "-o", "json"]) == code
    plan = answer(capsys)
    assert (plan["result"], len(plan["nodes"])) == (result, machines)


def test_workloads_are_expanded_and_daemon_sets_take_their_share(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    template = {"spec": pod("any", cpu="900m")["spec"]}
    workloads: list[dict[str, Any]] = [
        {"kind": "Deployment", "spec": {"replicas": 2, "template": template}},
        {"kind": "Job", "spec": {"parallelism": 3, "completions": 2, "template": template}},
        {"kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": template}}}},
        {"kind": "DaemonSet", "spec": {"template": {"spec": pod("d", cpu="200m")["spec"]}}},
    ]
    documents = [
        {"apiVersion": "x/v1", "metadata": {"name": each["kind"].lower()}, **each}
        for each in workloads
    ]
    main(["plan", "-f", POOL, written(*documents), "-o", "json"])
    plan = answer(capsys)
    pods = sorted(name for node in plan["nodes"] for name in node["pods"])
    assert pods == [
        "default/cronjob-0",
        "default/deployment-0",
        "default/deployment-1",
        "default/job-0",
        "default/job-1",
    ]
    # With 200m for the DaemonSet on each, two pods of 900m don't share two cores.
    assert all(len(node["pods"]) == 1 for node in plan["nodes"] if node["serverType"] == "cx23")


def test_nodes_that_are_there_are_used_before_anything_is_bought(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "old", "labels": {"kubernetes.io/hostname": "old"}},
        "status": {
            "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    assert main(["plan", "-f", POOL, written(node, pod("one"))]) == 0
    assert "all pods fit on the existing nodes" in capsys.readouterr().out


def test_a_catalogue_in_a_config_map_is_read_from_the_files(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    example = yaml.safe_load_all((EXAMPLES / "kwok" / "pool.yaml").read_text())
    node_class, pool = example
    place = {"namespace": "growth-system", "name": "machines"}
    types = yaml.safe_dump(node_class["spec"].pop("types"))
    node_class["spec"]["catalogueFrom"] = {**place, "key": "types.yaml"}
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": place,
        "data": {"types.yaml": types},
    }
    assert main(["plan", "-f", written(node_class, pool, config_map, pod("one"))]) == 0
    assert "cx23" in capsys.readouterr().out


def test_the_requests_can_be_printed_as_documents(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "-f", POOL, SHOP, "-o", "requests"])
    documents = list(yaml.safe_load_all(capsys.readouterr().out))
    assert {each["kind"] for each in documents} == {"NodeRequest"}


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ([SHOP], "no NodePool in the files"),
        (["nowhere.yaml"], "nowhere.yaml: no such file or directory"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    files: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "-f", *files]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert text in line


def test_of_a_plan_without_a_bound_nothing_is_claimed(
    monkeypatch: pytest.MonkeyPatch,
    written: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def by_first_fit(problem: Problem, *_: Any, **__: Any) -> Plan:
        return solve_by_first_fit(problem)

    monkeypatch.setattr("growth.cli.plan.reading.solve", by_first_fit)
    words = ["plan", "-f", POOL, written(pod("one"))]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "cost not proven" in out
    assert "optim" not in out
    main([*words, "-o", "json"])
    plan = answer(capsys)
    assert (plan["lowerBound"], plan["gap"]) == (0.0, None)


def test_folders_and_standard_input_are_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "shop" / "deep"
    folder.mkdir(parents=True)
    (folder / "one.yml").write_text(yaml.safe_dump(pod("one")))
    (folder / "two.json").write_text(json.dumps(pod("two")))
    (folder / "notes.txt").write_text("not: [a manifest")
    piped = io.TextIOWrapper(io.BytesIO(yaml.safe_dump(pod("three")).encode()))
    monkeypatch.setattr("sys.stdin", piped)
    assert main(["plan", "-f", POOL, str(tmp_path / "shop"), "-", "-o", "yaml"]) == 0
    plan = yaml.safe_load(capsys.readouterr().out)
    placed = sorted(name for node in plan["nodes"] for name in node["pods"])
    assert placed == ["default/one", "default/three", "default/two"]


class Terminal(io.StringIO):
    """Somebody looks at it."""

    @override
    def isatty(self) -> bool:
        return True


def test_a_long_search_tells_a_person_how_far_it_is_and_a_file_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("growth.cli.plan.command.SHOW_AFTER", 0.0)
    for screen, lines in ((Terminal(), 1), (io.StringIO(), 0)):
        monkeypatch.setattr("sys.stderr", screen)
        main(["plan", "-f", POOL, SHOP])
        assert min(1, screen.getvalue().count("per hour, within")) == lines


def test_a_wrong_amount_is_named_with_file_and_line(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "-f", POOL, written(pod("odd", cpu="many"))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert 'manifests.yaml:1: Pod "odd": cpu: not a quantity' in line


def test_a_type_that_is_misspelt_is_named_by_validate_and_plan(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The class is in the same files, so nothing has to be guessed."""
    node_class, pool = yaml.safe_load_all((EXAMPLES / "kwok" / "pool.yaml").read_text())
    pool["spec"]["serverTypes"] = [{"name": "cax3", "max": 1}, {"name": "cx33", "max": 1}]
    files = written(node_class, pool, pod("one"))
    said = "cax3 isn't sold by class default (did you mean cax31?)"

    assert main(["validate", "-f", files]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f'NodePool "default": spec.serverTypes[0].name: {said}' in line
    assert main(["plan", "-f", files]) == 0
    assert f"pool default: {said}" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("kind", "provider", "code"),
    [
        (None, "kwok", 2),
        ("KwokNodeClass", "kwok", 2),
        (None, "hetzner", 0),
        ("HetznerNodeClass", "hetzner", 0),
    ],
)
def test_only_a_class_whose_list_is_in_the_files_is_asked_what_it_sells(
    kind: str | None, provider: str, code: int, written: Callable[..., str]
) -> None:
    node_class, pool = yaml.safe_load_all((EXAMPLES / provider / "pool.yaml").read_text())
    reference = {"nodeClassRef": {"kind": kind, "name": "default"}} if kind else {}
    pool["spec"] |= {"serverTypes": [{"name": "other", "max": 1}], **reference}
    assert main(["validate", "-f", written(node_class, pool)]) == code


def test_a_class_that_is_misspelt_is_asked_back(
    written: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    node_class, pool = yaml.safe_load_all((EXAMPLES / "kwok" / "pool.yaml").read_text())
    pool["spec"]["nodeClassRef"] = {"kind": "KwokNodeClass", "name": "defalt"}
    assert main(["validate", "-f", written(node_class, pool)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith('no KwokNodeClass "defalt"; did you mean default?')
