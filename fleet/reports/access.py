"""Who may report for which cluster, and how a request is answered.

An agent reports for its own cluster only. Whoever isn't let in gets 404, so that nobody learns
which clusters exist; an agent whose cluster is gone gets 400 and can tell the two apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

AGENT_ROLE: Final = "kas_fleetshard_operator"
CLUSTER_CLAIM: Final = "kas-fleetshard-operator-cluster-id"


@dataclass(frozen=True, kw_only=True)
class AgentClaims:
    """What a verified token says of its bearer."""

    issuer: str | None
    roles: frozenset[str]
    cluster: str | None
    """The cluster that the agent is in."""


def is_admitted(claims: AgentClaims, *, cluster: str, issuers: Collection[str]) -> bool:
    """Whether the bearer is the agent of this cluster, by an issuer that is trusted."""
    return claims.issuer in issuers and AGENT_ROLE in claims.roles and claims.cluster == cluster


def refusal_of(
    claims: AgentClaims | None, *, cluster: str, issuers: Collection[str], is_known: bool
) -> HTTPStatus | None:
    """The status that refuses a request before its body is read. None: it isn't refused."""
    if claims is None:
        return HTTPStatus.UNAUTHORIZED
    if not is_admitted(claims, cluster=cluster, issuers=issuers):
        return HTTPStatus.NOT_FOUND
    return None if is_known else HTTPStatus.BAD_REQUEST
