"""Where a setting comes from, and what a person reads who got one wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import pytest
from pydantic import Field, SecretStr

from growth.errors import Misconfigured
from growth.service import command_line, sources, usage
from growth.service.address import Address
from growth.service.settings import Listed, MetricsAddress, ServiceSettings, declared_settings

if TYPE_CHECKING:
    from pathlib import Path

SHUTDOWN_LIMIT = "must be a duration from 100ms to 1h, such as 90s, 10m or 1h30m"


class BakerySettings(ServiceSettings):
    metrics_address: MetricsAddress = Address(host="", port=9000)

    ovens: Annotated[int, Field(ge=1), Listed("Bakery", "NUMBER")] = 1
    """How many ovens are lit."""

    oven_password: Annotated[SecretStr | None, Field(min_length=4), Listed("Bakery", "TEXT")] = None
    """What opens the ovens."""


def read(
    flags: str = "", environment: dict[str, str] | None = None
) -> sources.Effective[BakerySettings]:
    known = [one.flag for one in declared_settings(BakerySettings)]
    asked = command_line.parse_words(flags.split(), flags=known)
    return sources.read_settings(BakerySettings, flags=asked.texts, environment=environment or {})


def refusal(flags: str = "", environment: dict[str, str] | None = None) -> str:
    with pytest.raises(Misconfigured) as caught:
        read(flags, environment)
    return str(caught.value)


@pytest.mark.parametrize(
    ("flag", "variable", "file", "counts", "source"),
    [
        ("", "", "", 1, "default"),
        ("", "", "4", 4, "file"),
        ("", "3", "", 3, "variable"),
        ("", "3", "4", 3, "variable"),
        ("2", "", "", 2, "flag"),
        ("2", "", "4", 2, "flag"),
        ("2", "3", "", 2, "flag"),
        ("2", "3", "4", 2, "flag"),
    ],
)
def test_a_flag_wins_over_a_variable_that_over_the_file_that_over_the_default(
    tmp_path: Path, *, flag: str, variable: str, file: str, counts: int, source: str
) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text(f"ovens: {file}")
    places = {
        "flag": "--ovens",
        "variable": "GROWTH_OVENS",
        "file": f"{path}:1: ovens",
        "default": None,
    }

    effective = read(
        f"--config {path}" + (f" --ovens {flag}" if flag else ""), {"GROWTH_OVENS": variable}
    )

    assert effective.settings.ovens == counts
    given = effective.given.get("ovens")
    assert (given.place if given else None) == places[source]


@pytest.mark.parametrize(
    ("flags", "environment", "line"),
    [
        (
            "--log-level loud",
            {},
            '--log-level: "loud" must be debug, info, warning or error',
        ),
        ("--log-form=xml", {}, '--log-form: "xml" must be auto, json or console'),
        ("--ovens many", {}, '--ovens: "many" must be a whole number'),
        ("--ovens 1.5", {}, '--ovens: "1.5" must be a whole number'),
        ("--ovens -2", {}, '--ovens: "-2" must be at least 1'),
        (
            "--shutdown-limit -5s",
            {},
            f'--shutdown-limit: "-5s" {SHUTDOWN_LIMIT}',
        ),
        (
            "--shutdown-limit 5",
            {},
            f'--shutdown-limit: "5" {SHUTDOWN_LIMIT}',
        ),
        (
            "--metrics-address 9000",
            {},
            '--metrics-address: "9000" must be HOST:PORT, or :PORT for all interfaces',
        ),
        (
            "--metrics-address :70000",
            {},
            '--metrics-address: ":70000" must have a port of at most 65535',
        ),
        (
            "--kubeconfig nowhere",
            {},
            '--kubeconfig: "nowhere" must be the path of a file that exists',
        ),
        (
            "",
            {"GROWTH_LOG_LEVEL": "INFO"},
            'GROWTH_LOG_LEVEL: "INFO" must be debug, info, warning or error',
        ),
        ("--config nowhere.yaml", {}, "--config: nowhere.yaml: no such file or directory"),
        (
            "",
            {"GROWTH_CONFIG": "nowhere.yaml"},
            "GROWTH_CONFIG: nowhere.yaml: no such file or directory",
        ),
        ("--oven 3", {}, "--oven: unknown flag; did you mean --ovens?"),
        ("--grill", {}, "--grill: unknown flag; see --help"),
        ("bread", {}, "bread: expected a flag, such as --log-level debug; see --help"),
        ("--ovens", {}, "--ovens: its value is missing; see --help"),
    ],
)
def test_a_wrong_value_is_told_in_one_line_with_its_source(
    flags: str, environment: dict[str, str], line: str
) -> None:
    assert refusal(flags, environment) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("log-level: loud", '{file}:1: log-level: "loud" must be debug, info, warning or error'),
        (
            "# levels\n\nlog-levle: debug",
            "{file}:3: log-levle: unknown setting; did you mean log-level?",
        ),
        (
            "logLevel: debug",
            "{file}:1: logLevel: unknown setting; did you mean log-level?",
        ),
        (
            "bread: rye",
            "{file}:1: bread: unknown setting; see --help",
        ),
        (
            "ovens: [1, 2]",
            "{file}:1: ovens: expected one value; see --help",
        ),
        (
            "ovens:\n  left: 1",
            "{file}:1: ovens: expected one value; see --help",
        ),
        (
            "ovens: 1\nlog-form: json\novens: 2",
            "{file}:3: ovens is given twice (first on line 1); keep one",
        ),
        ("- ovens", "{file}:1: expected settings, such as log-level: debug"),
        ("ovens", "{file}:1: expected settings, such as log-level: debug"),
        ("ovens: 1\n---\novens: 2", "{file}:3: a second document begins here; keep one"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_line(tmp_path: Path, text: str, line: str) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text(text)

    assert refusal(f"--config {path}") == line.format(file=path)


@pytest.mark.parametrize("content", [b"ovens: [", b"ovens: \x00", b"ovens: \xff"])
def test_a_file_that_is_no_yaml_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_bytes(content)

    line = refusal(f"--config {path}")

    assert str(path) in line
    assert "\n" not in line


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text("bread: rye\novens: many")

    lines = refusal(f"--config {path} --log-level loud", {"GROWTH_LOG_FORM": "xml"}).splitlines()

    assert [line.removeprefix(f"{path}:").split(": ")[:2] for line in lines] == [
        ["1", "bread"],
        ["--log-level", '"loud" must be debug, info, warning or error'],
        ["GROWTH_LOG_FORM", '"xml" must be auto, json or console'],
        ["2", "ovens"],
    ]


def test_a_wrong_value_that_something_overrides_is_no_mistake() -> None:
    assert read("--ovens 2", {"GROWTH_OVENS": "many"}).settings.ovens == 2


def test_an_empty_variable_and_an_empty_value_in_the_file_say_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text("context:\nkubeconfig: ~\n")

    effective = read(f"--config {path}", {"GROWTH_OVENS": ""})

    assert not effective.given


@pytest.mark.parametrize("text", ["on", "1e3", "0x10", "12:30", "null-and-void"])
def test_a_value_in_the_file_means_what_it_means_as_a_flag(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text(f"context: {text}")

    assert read(f"--config {path}").settings.context == text
    assert read(f"--context {text}").settings.context == text


def test_variables_of_others_are_left_alone() -> None:
    environment = {"GROWTH_METRICS_PORT": "tcp://10.0.0.1:9000", "GROWTH_GRILL": "hot"}

    assert read("", environment).settings == BakerySettings()


def test_no_setting_can_be_mistaken_for_a_variable_that_kubernetes_sets() -> None:
    for one in declared_settings(BakerySettings):
        assert not one.variable.endswith(("_HOST", "_PORT", "_ADDR", "_PROTO", "_TCP", "_UDP"))


def test_the_last_of_a_repeated_flag_counts() -> None:
    assert read("--ovens 2 --ovens=3").settings.ovens == 3


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":9000", "", 9000),
        ("0.0.0.0:9000", "0.0.0.0", 9000),
        ("localhost:0", "localhost", 0),
        ("[::1]:9000", "::1", 9000),
        ("[::]:65535", "::", 65535),
    ],
)
def test_an_address_is_read_and_written_the_same(text: str, host: str, port: int) -> None:
    address = Address.parse(text)

    assert (address.host, address.port) == (host, port)
    assert str(address) == text


@pytest.mark.parametrize(
    "text", ["", ":", "::1:9000", "[::1]", "a b:1", "host:-1", "[]:1", ":\uff11"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be HOST:PORT"):
        Address.parse(text)


def test_printed_settings_name_their_sources_and_hide_what_is_secret(tmp_path: Path) -> None:
    path = tmp_path / "bakery.yaml"
    path.write_text("\ncontext: '#3'\noven-password: sesame")

    printed = usage.settings_text(read(f"--config {path} --ovens 2", {"GROWTH_LOG_FORM": "json"}))

    assert printed == (
        "metrics-address: :9000  # default\n"
        "metrics-access: authenticated  # default\n"
        "log-level: info  # default\n"
        "log-form: json  # GROWTH_LOG_FORM\n"
        "kubeconfig:  # default\n"
        f"context: '#3'  # {path}:2: context\n"
        "shutdown-limit: 5s  # default\n"
        "ovens: 2  # --ovens\n"
        f"# oven-password is set and secret  # {path}:3: oven-password\n"
    )


def test_printed_settings_are_a_file_that_says_the_same(tmp_path: Path) -> None:
    before = read("--metrics-address [::1]:0 --shutdown-limit 1m30s --context on --ovens 7")
    path = tmp_path / "bakery.yaml"
    path.write_text(usage.settings_text(before))

    assert read(f"--config {path}").settings == before.settings


def test_a_refused_secret_is_not_repeated() -> None:
    line = refusal("--oven-password abc")

    assert line.startswith("--oven-password: this value")
    assert "abc" not in line


def test_a_setting_without_a_default_is_asked_for() -> None:
    with pytest.raises(Misconfigured) as caught:
        sources.read_settings(ServiceSettings, flags={}, environment={})

    assert str(caught.value) == (
        "--metrics-address: this has no default; "
        "set --metrics-address, GROWTH_METRICS_ADDRESS, or metrics-address in the file"
    )
