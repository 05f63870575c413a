"""`growth doctor` for a user who may read everything and write nothing, on a real control plane."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from growth.cli.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

pytestmark = pytest.mark.cluster


@pytest.fixture
def reader(installed: LiveCluster, tmp_path: Path) -> Iterator[str]:
    """The kubeconfig of that user."""
    role = ("--verb=get,list,watch", "--resource=*.*")
    installed.kubectl("create", "clusterrole", "reader", *role)
    installed.kubectl("create", "serviceaccount", "reader", "--namespace", "default")
    binding = ("--clusterrole=reader", "--serviceaccount=default:reader")
    installed.kubectl("create", "clusterrolebinding", "reader", *binding)
    token = installed.kubectl("create", "token", "reader", "--namespace", "default").strip()
    config = yaml.safe_load(installed.kubeconfig.read_text())
    server = config["clusters"][0]["cluster"]
    authority = installed.kubeconfig.parent / server["certificate-authority"]
    server["certificate-authority"] = str(authority)
    config["users"][0]["user"] = {"token": token}
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    yield str(path)
    installed.kubectl("delete", "serviceaccount", "reader", "--namespace", "default")
    installed.kubectl("delete", "clusterrole,clusterrolebinding", "reader")


def test_a_user_who_may_not_ask_about_rights_is_told_so_and_all_the_rest(
    reader: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--kubeconfig", reader, "-o", "json"]) == 1

    found = {each["subject"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["rights"]["level"] == "FAIL"
    assert "subjectaccessreviews" in found["rights"]["text"]
    assert found["rights"]["hint"].startswith("run it as a user with this right")
    assert found["cluster"]["level"] == "ok"
