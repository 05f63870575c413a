"""What a person is told beside the KUBECONFIG of a cluster."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from kwok.clusters import Cluster
from kwok.up import where_kubectl_is

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def cluster(folder: Path) -> Cluster:
    kubectl = folder / "programs" / "kubectl"
    return Cluster("growth", folder, "1.36.3", kubectl=kubectl)


def test_who_has_no_kubectl_is_told_where_one_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    [line] = where_kubectl_is(cluster(tmp_path))

    assert line.endswith(str(tmp_path / "programs"))


def test_who_has_one_is_told_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kubectl").touch(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert list(where_kubectl_is(cluster(tmp_path))) == []
