"""Short-lived join tokens, one for each request: Kubernetes' own bootstrap tokens.

The id follows from the request's uid, so a retry after a crash finds the same Secret instead of
creating a second one. The secret half is random. kubeadm and k3s agents both accept these tokens.
The request owns the Secret, so it is deleted with the request. A token stops working when it
expires, and Kubernetes' token cleaner then deletes the Secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec
from typing_extensions import override

from growth.api import joining
from growth.api.hetznernodeclass import BootstrapKind
from growth.api.joining import JoinApproval
from growth.api.wellknown import (
    GROUP_VERSION,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

NAMESPACE: Final = "kube-system"
SECRET_TYPE: Final = "bootstrap.kubernetes.io/token"  # noqa: S105 - the name of a type
GROUPS: Final = {
    BootstrapKind.K3S: "system:bootstrappers:k3s:default-node-token",
    BootstrapKind.KUBEADM: "system:bootstrappers:kubeadm:default-node-token",
}
"""The group of a joining node until it has a certificate, where the cluster lets it in."""


class JoinToken(msgspec.Struct, frozen=True, kw_only=True):
    """A bootstrap token: its public id and its secret."""

    id: str
    secret: str

    @override
    def __repr__(self) -> str:
        return f"JoinToken(id={self.id!r})"

    @property
    def text(self) -> str:
        """The whole token, as a node uses it."""
        return f"{self.id}.{self.secret}"

    @property
    def secret_name(self) -> str:
        """The name of its Secret; Kubernetes requires this form."""
        return secret_name(self.id)


def secret_name(token: str) -> str:
    """The name of the Secret for a token id."""
    return f"bootstrap-token-{token}"


def minted(request_uid: str, *, choose: Callable[[str], str]) -> JoinToken:
    """A new token for a request; `choose` must pick letters with a secure random source."""
    secret = "".join(choose(joining.LETTERS) for _ in range(16))
    return JoinToken(id=joining.token_id(request_uid), secret=secret)


def group_of(kind: BootstrapKind, approval: JoinApproval) -> str:
    """The group of a joining node; empty if a token has no group of its own."""
    # k3s issues certificates by itself and has nothing to approve.
    if kind is BootstrapKind.KUBEADM and approval is JoinApproval.GROWTH:
        return joining.GROUP
    return GROUPS.get(kind, "")


def token_secret(
    token: JoinToken,
    *,
    request_name: str,
    request_uid: str,
    kind: BootstrapKind,
    expires_at: datetime,
    approval: JoinApproval = JoinApproval.CLUSTER,
) -> dict[str, Any]:
    """The Secret that makes a token valid until it expires."""
    group = group_of(kind, approval)
    groups = {"auth-extra-groups": group} if group else {}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": SECRET_TYPE,
        "metadata": {
            "name": token.secret_name,
            "namespace": NAMESPACE,
            "labels": {MANAGED_BY_LABEL: MANAGED_BY, NODE_REQUEST_LABEL: request_name},
            # A cluster-scoped owner may have dependents in any namespace.
            "ownerReferences": [
                {
                    "apiVersion": GROUP_VERSION,
                    "kind": "NodeRequest",
                    "name": request_name,
                    "uid": request_uid,
                    "controller": True,
                    # True would need the right to update finalizers of NodeRequests.
                    "blockOwnerDeletion": False,
                }
            ],
        },
        "stringData": {
            "token-id": token.id,
            "token-secret": token.secret,
            "description": f"growth: join token of {request_name}",
            "expiration": expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "usage-bootstrap-authentication": "true",
            # kubeadm trusts the ConfigMap cluster-info only if it is signed with the token.
            "usage-bootstrap-signing": "true",
            **groups,
        },
    }
