"""The scheduler's configuration: whole, with its reasons, and what to do with it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from growth.cli.__main__ import main
from growth.cli.scheduler_config.configuration import Reach, SchedulerTarget, extended

if TYPE_CHECKING:
    from pathlib import Path

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["scheduler-config", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["scheduler-config", "--for", "k3s", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    return line


@pytest.mark.parametrize("target", SchedulerTarget)
def test_the_extender_can_never_take_a_node_away_nor_hold_anything_up(
    capsys: pytest.CaptureFixture[str], target: SchedulerTarget
) -> None:
    configuration = yaml.safe_load(printed(capsys, "--for", target))

    assert configuration["extenders"] == [
        {
            "urlPrefix": "http://127.0.0.1:10284",
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 10,
            "httpTimeout": "300ms",
            "nodeCacheCapable": True,
            "ignorable": True,
        }
    ]
    assert configuration["clientConnection"]["qps"] == 500
    assert configuration["clientConnection"]["burst"] == 1000


@pytest.mark.parametrize(
    ("target", "kubeconfig"),
    [
        (SchedulerTarget.KUBEADM, "/etc/kubernetes/scheduler.conf"),
        (SchedulerTarget.KIND, "/etc/kubernetes/scheduler.conf"),
        (SchedulerTarget.K3S, "/var/lib/rancher/k3s/server/cred/scheduler.kubeconfig"),
        # kwokctl fills it in.
        (SchedulerTarget.KWOK, None),
    ],
)
def test_the_scheduler_finds_its_cluster_though_its_own_flag_is_passed_over(
    capsys: pytest.CaptureFixture[str], target: SchedulerTarget, kubeconfig: str | None
) -> None:
    configuration = yaml.safe_load(printed(capsys, "--for", target))

    assert configuration["clientConnection"].get("kubeconfig") == kubeconfig


@pytest.mark.parametrize("target", SchedulerTarget)
def test_what_to_do_with_it_stands_above_it(
    capsys: pytest.CaptureFixture[str], target: SchedulerTarget
) -> None:
    text = printed(capsys, "--for", target)

    told = text[: text.index("apiVersion: kubescheduler")]
    assert f"growth scheduler-config --for {target} >" in told
    assert all(line.startswith("#") for line in told.splitlines())
    assert max(map(len, text.splitlines())) <= 100


def test_over_tls_the_authority_is_part_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text(CERTIFICATE)
    words = ("--url", "https://10.0.0.7:10284", "--ca-file", str(authority))
    text = printed(capsys, "--for", "k3s", *words, "--server-name", "growth-extender.growth.svc")

    (extender,) = yaml.safe_load(text)["extenders"]
    assert extender["urlPrefix"] == "https://10.0.0.7:10284"
    assert extender["enableHTTPS"] is True
    assert extender["tlsConfig"]["serverName"] == "growth-extender.growth.svc"
    assert base64.b64decode(extender["tlsConfig"]["caData"]).decode() == CERTIFICATE


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--url", "extender"), "use http://127.0.0.1:10284 with an IP address"),
        (("--url", "http://a b"), "is not a valid URL"),
        (
            ("--url", "https://10.0.0.7"),
            "--url with https needs --ca-file, and --ca-file needs https",
        ),
        (("--ca-file", "/nowhere"), "--url with https needs --ca-file, and --ca-file needs https"),
        (
            ("--url", "https://10.0.0.7", "--ca-file", "/nowhere"),
            "--ca-file /nowhere: no such file or directory",
        ),
        (
            ("--url", "https://10.0.0.7", "--ca-file", "/dev/null"),
            "--ca-file /dev/null: contains no certificate in PEM format",
        ),
        (("--server-name", "a: b"), "is not a host name"),
    ],
)
def test_a_mistake_is_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, *words)


def test_a_configuration_keeps_all_that_it_has() -> None:
    theirs: dict[str, Any] = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "other"}],
        "extenders": [{"urlPrefix": "http://127.0.0.1:1"}],
    }

    both = yaml.safe_load(extended(yaml.safe_dump(theirs), Reach(url="http://127.0.0.1:2")))

    assert [each["urlPrefix"] for each in both["extenders"]] == [
        "http://127.0.0.1:1",
        "http://127.0.0.1:2",
    ]
    assert both | {"extenders": theirs["extenders"]} == theirs
