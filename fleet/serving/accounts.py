"""Agents with a ServiceAccount of the management cluster: its API server says whose token it is.

The account is called `agent-` and the name of its cluster, and the token is made for an audience of
its own: a token that was made for the API server can't report, and this one can do nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fleet.reports.access import AGENT_ROLE, AgentClaims
from growth.kube.token_review import owner_for

if TYPE_CHECKING:
    from growth.kube.transport import Connection

AUDIENCE: Final = "growth-fleet"
ISSUER: Final = "the management cluster"
"""Stands for an API server that has vouched for a token."""
ACCOUNT_PREFIX: Final = "agent-"


class AgentAccounts:
    """Reads tokens of ServiceAccounts in one namespace."""

    def __init__(self, connection: Connection, *, namespace: str) -> None:
        self._connection = connection
        self._prefix = f"system:serviceaccount:{namespace}:"

    async def claims_of(self, token: str) -> AgentClaims | None:
        """What the API server says of the token."""
        owner = await owner_for(self._connection, token, audience=AUDIENCE)
        return None if owner is None else self._claims(owner.username)

    def _claims(self, username: str) -> AgentClaims:
        account = username.removeprefix(self._prefix)
        is_agent = account != username and account.startswith(ACCOUNT_PREFIX)
        return AgentClaims(
            issuer=ISSUER,
            roles=frozenset({AGENT_ROLE} if is_agent else ()),
            cluster=account.removeprefix(ACCOUNT_PREFIX) if is_agent else None,
        )
