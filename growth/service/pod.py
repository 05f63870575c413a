"""What a process knows about its own pod, if it runs in one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""Mounted into each pod with its service account."""


def namespace_of_this_pod() -> str:
    """The namespace of this pod; "" outside a cluster."""
    return NAMESPACE_FILE.read_text().strip() if NAMESPACE_FILE.exists() else ""
