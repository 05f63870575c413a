"""Where a kubeconfig leads to: the address, and the TLS context with its client certificate."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Upstream:
    """The real API server, as its administrator."""

    server: str
    tls: ssl.SSLContext

    @classmethod
    def of(cls, kubeconfig: Path) -> Upstream:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        tls = ssl.create_default_context(
            cafile=kubeconfig.parent / cluster["certificate-authority"]
        )
        tls.load_cert_chain(
            kubeconfig.parent / user["client-certificate"], kubeconfig.parent / user["client-key"]
        )
        return cls(cluster["server"], tls)


def kubeconfig_to(server: str) -> str:
    """The text of a kubeconfig for a server that asks for no credentials."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "faults",
            "contexts": [{"name": "faults", "context": {"cluster": "faults", "user": "anyone"}}],
            "clusters": [{"name": "faults", "cluster": {"server": server}}],
            "users": [{"name": "anyone", "user": {}}],
        }
    )
