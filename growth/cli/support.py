"""The versions that growth supports, and its optional dependencies."""

from __future__ import annotations

from growth import DISTRIBUTION
from growth.errors import Misconfigured

OBJECT_VERSION = "growth.dev/v1alpha1"

SUPPORTED_KUBERNETES = ((1, 31), (1, 36))
"""The oldest and the newest tested minor version."""


def not_installed(missing: ModuleNotFoundError, *, command: str) -> Misconfigured:
    """The error of a command that needs the reconciler's extra, which servers don't install."""
    return Misconfigured(
        f"growth {command} needs {missing.name}, which isn't installed: "
        # Quoted, as brackets are a pattern in zsh.
        f"pip install '{DISTRIBUTION}[reconciler]'"
    )


def version_range(versions: tuple[tuple[int, int], tuple[int, int]]) -> str:
    """The range as text: `1.31 to 1.36`."""
    oldest, newest = versions
    return f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
