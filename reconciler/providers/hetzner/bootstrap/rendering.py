"""Renders user data of every kind, within Hetzner's size limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from growth.api.hetznernodeclass import BootstrapKind
from growth.errors import Misconfigured
from reconciler.providers.hetzner.bootstrap import k3s, kubeadm
from reconciler.providers.hetzner.bootstrap.cloud_config import cloud_config
from reconciler.providers.hetzner.bootstrap.custom import filled_in, uses_token
from reconciler.providers.hetzner.bootstrap.talos import machine_configuration

if TYPE_CHECKING:
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

LARGEST: Final = 32 * 1024
"""Hetzner's limit for user data, in bytes."""


def user_data(joining: JoiningServer) -> str:
    """The user data of a server. Raises Misconfigured if the class doesn't allow it."""
    rendered = _rendered(joining)
    size = len(rendered.encode())
    if size > LARGEST:
        raise Misconfigured(
            f"bootstrap: the user data has {size} bytes, and Hetzner's maximum is {LARGEST}: "
            "shorten the template, or put more into the image"
        )
    return rendered


def needs_token(kind: BootstrapKind, template: str) -> bool:
    """Whether the user data needs a join token."""
    match kind:
        case BootstrapKind.K3S | BootstrapKind.KUBEADM:
            return True
        case BootstrapKind.TALOS:
            return False
        case BootstrapKind.CUSTOM:
            return uses_token(template)
        case _:
            assert_never(kind)


def _rendered(joining: JoiningServer) -> str:
    match joining.bootstrap.kind:
        case BootstrapKind.K3S:
            return cloud_config(joining, k3s.steps(joining))
        case BootstrapKind.KUBEADM:
            return cloud_config(joining, kubeadm.steps(joining))
        case BootstrapKind.TALOS:
            return machine_configuration(joining)
        case BootstrapKind.CUSTOM:
            return filled_in(joining)
        case _ as other:
            assert_never(other)
