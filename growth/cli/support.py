"""What this growth works with."""

from __future__ import annotations

from growth import DISTRIBUTION
from growth.errors import Misconfigured

OBJECT_VERSION = "growth.dev/v1alpha1"

SUPPORTED_KUBERNETES = ((1, 31), (1, 36))
"""The oldest and the newest minor version that is tested."""


def not_installed(missing: ModuleNotFoundError, *, command: str) -> Misconfigured:
    """A command needs what only the reconciler's extra brings; servers are installed without it."""
    return Misconfigured(
        f"growth {command} needs {missing.name}, which isn't installed: "
        # Quoted, as brackets are a pattern in zsh.
        f"pip install '{DISTRIBUTION}[reconciler]'"
    )


def version_range(versions: tuple[tuple[int, int], tuple[int, int]]) -> str:
    """The range as people say it: `1.31 to 1.36`."""
    oldest, newest = versions
    return f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
