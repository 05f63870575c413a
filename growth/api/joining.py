"""What a join token says about its machine, and who approves the machine's certificate.

The reconciler creates the tokens and `growth-certs` approves what is asked for with them, so both
need the same id and the same group.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Final

GROUP: Final = "system:bootstrappers:growth"
"""The group of growth's own join tokens. Nothing in Kubernetes approves what it asks for."""
SIGNER: Final = "kubernetes.io/kube-apiserver-client-kubelet"
"""The signer of the certificates with which kubelets call the API server."""
# A bootstrap token has the form [a-z0-9]{6}.[a-z0-9]{16}.
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


class JoinApproval(StrEnum):
    """What approves the certificate of a kubelet that joins with kubeadm."""

    CLUSTER = "Cluster"
    GROWTH = "Growth"


def token_id(request_uid: str) -> str:
    """The token id of a request: six letters and digits from a hash of its uid."""
    number = int.from_bytes(hashlib.sha256(request_uid.encode()).digest()[:8], "big")
    return "".join(LETTERS[number // 36**place % 36] for place in range(6))


def token_user(request_uid: str) -> str:
    """The user that the API server sees when the token of a request is used."""
    return f"system:bootstrap:{token_id(request_uid)}"
