"""The guards hold on the API server of each Kubernetes that growth works with, if there is one.

The programs that aren't there are taken in the pinned version: the policies are the API server's.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from growth.cli.support import SUPPORTED_KUBERNETES
from kwok.places import cache_folder
from kwok.store import ProgramStore
from kwok.versions import ReleaseProject, kubernetes_version, wanted_versions
from tests.live import ROOT

if TYPE_CHECKING:
    from pathlib import Path

OLDER: Final = ("1.31.0", "1.32.2", "1.33.13", "1.34.4", "1.35.4")
"""One of each, which can be verified; the newest minor version has all other tests."""
GUARDS: Final = (
    "tests/manifests/test_guarded_life.py",
    "tests/manifests/test_guarded_nodes.py",
    "tests/manifests/test_guarded_pods.py",
    "tests/manifests/test_guarded_pools.py",
    "tests/manifests/test_guarded_records.py",
    "tests/manifests/test_guarded_secrets.py",
    "tests/manifests/test_join_approval.py",
    "tests/trust/test_on_a_real_cluster.py",
)


def test_each_supported_version_is_tested() -> None:
    (major, oldest), (_, newest) = SUPPORTED_KUBERNETES
    tested = [kubernetes_version(each) for each in OLDER]
    assert [(each.major, each.minor) for each in tested] == [
        (major, minor) for minor in range(oldest, newest)
    ]
    pinned = wanted_versions().versions[ReleaseProject.KUBERNETES]
    assert (pinned.major, pinned.minor) == (major, newest)


def folder_of(version: str) -> Path:
    """The folder with an API server of its minor version; without one, the test is skipped."""
    store, asked = ProgramStore(cache_folder()), kubernetes_version(version)
    near = store.folder_of(ReleaseProject.KUBERNETES, asked)
    known = near.parent.glob(f"kubernetes-{asked.major}.{asked.minor}.*/kube-apiserver")
    found = min((path.parent for path in known), default=None)
    if found is None:
        pytest.skip(f"not in the cache: make programs KUBE_VERSION={version}")
    return found


@pytest.mark.cluster
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("version", OLDER)
def test_the_guards_hold_on(version: str) -> None:
    own = {key: value for key, value in os.environ.items() if not key.startswith("GROWTH_")}
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "cluster and not long", *GUARDS],
        cwd=ROOT,
        env={**own, "GROWTH_KWOK_PROGRAMS": str(folder_of(version))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout[-8000:]
    assert " passed" in answer.stdout
