"""`growth catalogue save`, against our fake of Hetzner's API, and the list that we ship."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from growth.cli.__main__ import main
from reconciler.providers.hetzner import price_list
from tests.hetzner.conftest import TOKEN
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.faults import Fault
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.serving import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "docs" / "examples" / "hetzner" / "pool.yaml")
HOURS = 624
"""What a month's cap is worth in hours."""


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project at the fake, with its token in the environment."""
    project = Project()
    with serve(Account({TOKEN: project})) as endpoint:
        monkeypatch.setenv("GROWTH_HETZNER_ENDPOINT", endpoint)
        monkeypatch.setenv("HCLOUD_TOKEN", TOKEN)
        yield project


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and the one line of a command that comes to nothing."""
    code = main(["catalogue", "save", *words])
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == ""
    assert TOKEN not in line
    return code, line


@pytest.mark.usefixtures("project")
def test_what_is_saved_is_what_plans_are_made_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "prices.json"
    assert main(["catalogue", "save", "-o", str(file)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{file}: 5 types, 16 prices in EUR, of 20")
    pod = tmp_path / "pod.json"
    pod.write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": {}})
    )
    words = ["plan", "-f", EXAMPLE, str(pod), "--catalogue", str(file), "-o", "json"]
    assert main(words) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["prices"]["origin"] == str(file)
    (node,) = plan["nodes"]
    # As the fake's API has it: cx33, and an address.
    assert (node["serverType"], node["price"], node["pricePerMonth"]) == ("cx33", 0.0144, 8.99)
    assert not node["estimated"]
    assert TOKEN not in file.read_text() + said.out + said.err


@pytest.mark.usefixtures("project")
def test_without_a_file_the_list_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalogue", "save"]) == 0
    content = capsys.readouterr().out.encode()
    listed = price_list.read_price_list(content, name="standard output")
    sources = {offer.source for each in listed.server_types for offer in each.offers}
    assert sources == {"Hetzner's API"}
    assert listed.text.encode() == content


def test_what_is_sold_without_a_price_and_what_ends_is_kept_in_the_list(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.types["cx23"].hourly = "0.0000"
    project.types["cx33"].retired = "2027-03-01T00:00:00Z"
    project.types["cpx32"].hourly = "0.0570000000000000"
    main(["catalogue", "save"])
    printed = capsys.readouterr()
    listed = json.loads(printed.out)
    by_name = {each["name"]: each["offers"] for each in listed["serverTypes"]}
    assert listed["withoutPrice"] == ["cx23"]
    assert "ignored an implausible price: cx23" in printed.err
    assert by_name["cx33"][0]["unavailableAfter"] == "2027-03-01T00:00:00Z"
    assert by_name["cpx32"][0]["hourly"] == "0.057"


def test_without_a_token_one_line_says_how_to_give_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HCLOUD_TOKEN", raising=False)
    code, line = refused(capsys)
    assert (code, line.split(":")[0]) == (2, "no API token")
    assert "HCLOUD_TOKEN" in line
    assert "--node-class" in line


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("HCLOUD_TOKEN", "two words", "HCLOUD_TOKEN isn't a valid API token"),
        ("HCLOUD_TOKEN", "a" * 64, "unable to authenticate"),
        ("GROWTH_HETZNER_ENDPOINT", "http://api.example.org", "must be https, or http on loopback"),
        ("GROWTH_HETZNER_ENDPOINT", "nowhere", "must be an address like"),
    ],
)
def test_a_wrong_environment_is_one_line(
    variable: str,
    value: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, value)
    code, line = refused(capsys)
    assert code == 2
    assert said in line
    if variable == "HCLOUD_TOKEN":
        assert value not in line


def test_an_outage_is_one_line_without_the_token(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.faults.add(Fault(call="GET /*", code="rate_limit_exceeded", times=100))
    code, line = refused(capsys)
    assert code == 1
    assert "rate_limit_exceeded" in line


@pytest.mark.usefixtures("project")
def test_a_file_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, line = refused(capsys, "-o", str(tmp_path / "missing" / "prices.json"))
    assert (code, line.rsplit(": ", 1)[1]) == (2, "no such file or directory")


def reference_prices() -> dict[str, Decimal]:
    rows = json.loads((ROOT / "tests" / "vectors" / "growth.json").read_text())
    (row,) = [each for each in rows if each["kind"] == "offering_catalogue"]
    return {each["type"]: Decimal(str(each["hourly"])) for each in row["expected"]["cpu_types"]}


def test_the_list_that_we_ship_is_made_as_it_says() -> None:
    listed = price_list.shipped()
    known = reference_prices()
    assert listed.date.isoformat() == "2026-09-08"
    assert {"cpx41", "cpx51"} == set(listed.without_price)
    for each in listed.server_types:
        first, *others = each.offers
        assert [offer.location for offer in each.offers] == ["nbg1", "fsn1", "hel1"]
        assert {(offer.hourly, offer.monthly) for offer in others} == {
            (first.hourly, first.monthly)
        }
        assert all(offer.source.startswith("as in nbg1: ") for offer in others)
        assert all(offer.estimated and offer.source for offer in each.offers)
        if first.monthly is None:
            assert each.name[:3] in {"cax", "ccx"}
            assert first.hourly == known[each.name]
        else:
            assert first.hourly == round(first.monthly / HOURS, 4)


GOOD: dict[str, Any] = {
    "provider": "hetzner",
    "date": "2026-10-01",
    "currency": "EUR",
    "locations": [{"name": "nbg1", "networkZone": "eu-central"}],
    "serverTypes": [
        {
            "name": "cx33",
            "cores": 4,
            "memory": "8",
            "disk": 80,
            "architecture": "x86",
            "offers": [{"location": "nbg1", "hourly": "0.0136", "source": "an invoice"}],
        }
    ],
}


def changed(path: str, value: Any) -> str:
    """The good list with one thing changed; None takes it out."""
    document = json.loads(json.dumps(GOOD))
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = document
    for step in steps:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(document)


OFFER = "serverTypes.0.offers.0"
TWICE = GOOD["serverTypes"] * 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", ":1: this is not JSON (expecting property name"),
        ("[]", ": this is not a price list; growth catalogue save writes such a file"),
        ("\udcff", ": this is not text"),
        (changed("provider", "aws"), 'provider: Unsupported value: "aws"'),
        (changed("currency", "GBP"), 'currency: Unsupported value: "GBP": supported values: "EUR"'),
        (changed("currency", None), "currency: Required value"),
        (changed("date", "last week"), "date: "),
        (changed("serverTypes", []), "serverTypes: should have at least 1 items"),
        (changed("serverTypes", TWICE), "serverTypes[1]: Duplicate value"),
        (changed(f"{OFFER}.hourly", None), "serverTypes[0].offers[0].hourly: Required value"),
        (changed(f"{OFFER}.hourly", 0.01), "offers[0].hourly: put it in quotes"),
        (changed(f"{OFFER}.hourly", "cheap"), "offers[0].hourly: cheap isn't an amount of money"),
        (changed(f"{OFFER}.hourly", "0"), "offers[0].hourly: must be greater than 0"),
        (changed(f"{OFFER}.source", None), "offers[0].source: Required value"),
        (changed(f"{OFFER}.hourli", "1"), "offers[0].hourli: unknown field; did you mean hourly?"),
        (changed("serverTypes.0.architecture", "risc"), 'Unsupported value: "risc"'),
        (changed("serverTypes.0.cores", 0), "cores: should be greater than or equal to 1"),
    ],
)
def test_a_mistake_in_a_catalogue_is_one_line_that_says_what_and_where(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(content.encode(errors="surrogateescape"))
    assert main(["plan", "-f", EXAMPLE, "--catalogue", str(file)]) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert printed.out == ""
    assert line.startswith(f"{file}:")
    assert said in line


def test_a_catalogue_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "-f", EXAMPLE, "--catalogue", "missing.json"]) == 2
    assert capsys.readouterr().err == "missing.json: no such file or directory\n"
