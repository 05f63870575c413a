"""Which tests of a run stay in one process: those of a file, and those that share a cluster.

A cluster that the files of a folder share is started, and growth installed in it, in each process
that runs one of them. So such a folder goes to one process as a whole. So do servers that boot:
their memory and processor time are those of this machine.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Final

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

SHARING: Final = frozenset({"clouds", "machines", "manifests", "removal", "webhooks"})
"""Folders."""


def by_cluster(config: Any, log: Any) -> Any:
    """Gives each process the next file, or the next folder whose files share a cluster."""
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = kept_together
    return scheduler


def kept_together(nodeid: str) -> str:
    """The group of tests that one process runs."""
    file = PurePath(nodeid.split("::", 1)[0])
    return str(file.parent if file.parent.name in SHARING else file)
