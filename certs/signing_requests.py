"""A CertificateSigningRequest as the approver sees it, and the machine that it names."""

from __future__ import annotations

from typing import Final

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.x509.oid import NameOID

from growth.api.joining import GROUP, SIGNER
from growth.kube.cache.resource import WatchedResource

SIGNING_REQUESTS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
NODES: Final = "system:nodes"
NODE: Final = "system:node:"
NEEDED: Final = frozenset({"digital signature", "client auth"})
ALLOWED: Final = NEEDED | {"key encipherment"}
"""A kubelet asks for the third one only with an RSA key."""


class SigningMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """Which object it is."""

    name: str
    uid: str = ""
    resource_version: str = ""


class SigningSpec(msgspec.Struct, frozen=True, rename="camel"):
    """What is asked for; user and groups are written by the API server."""

    request: bytes = b""
    """In PEM."""
    signer_name: str = ""
    username: str = ""
    groups: tuple[str, ...] = ()
    usages: tuple[str, ...] = ()


class SigningCondition(msgspec.Struct, frozen=True):
    """Approved, Denied or Failed."""

    type: str


class SigningStatus(msgspec.Struct, frozen=True):
    """What has been decided."""

    conditions: tuple[SigningCondition, ...] = ()


class SigningRequest(msgspec.Struct, frozen=True):
    """A CertificateSigningRequest."""

    metadata: SigningMetadata
    spec: SigningSpec
    status: SigningStatus = SigningStatus()

    @property
    def waits_for_growth(self) -> bool:
        """Whether it was made with one of growth's join tokens, and nothing has decided on it."""
        ours = self.spec.signer_name == SIGNER and GROUP in self.spec.groups
        return ours and not self.status.conditions


WATCHED: Final = WatchedResource(
    path=SIGNING_REQUESTS,
    decode=msgspec.json.Decoder(SigningRequest).decode,
    query={"fieldSelector": f"spec.signerName={SIGNER}"},
)


def machine_in(asked: SigningRequest) -> str:
    """The machine whose kubelet this is for; empty if it isn't what a kubelet asks for."""
    usages = frozenset(asked.spec.usages)
    if not NEEDED <= usages <= ALLOWED:
        return ""
    try:
        return _machine_of(x509.load_pem_x509_csr(asked.spec.request))
    except (ValueError, UnsupportedAlgorithm):
        return ""


def _machine_of(request: x509.CertificateSigningRequest) -> str:
    subject = {each.oid: each.value for each in request.subject}
    common = subject.pop(NameOID.COMMON_NAME, "")
    is_plain = len(request.subject) == 2 and subject == {NameOID.ORGANIZATION_NAME: NODES}
    # A kubelet asks for no extension; another name would be in one.
    if not is_plain or len(request.extensions) or not isinstance(common, str):
        return ""
    return common.removeprefix(NODE) if common.startswith(NODE) else ""
