"""Which kubelet gets its first certificate; a pure rule.

A join token is for one machine, but Kubernetes lets it ask for a certificate under any name. The
token's id follows from the uid of the machine's NodeRequest and is part of the user's name, which
the API server writes. So the rule can insist on the name of the one machine that is coming.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from certs.signing_requests import machine_in
from growth.api.joining import token_user

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from certs.signing_requests import SigningRequest


class JoinVerdict(StrEnum):
    """What becomes of a request; only the first one changes it."""

    APPROVED = "approved"
    MALFORMED = "malformed"
    """It isn't what a kubelet asks for."""
    NO_REQUEST = "no_request"
    """There is no NodeRequest of this name, or the token is for another one."""
    NOT_UNDER_WAY = "not_under_way"
    """The NodeRequest isn't Provisioning."""
    JOINED = "joined"
    """There is a Node of this name already."""


FINAL: Final = frozenset({JoinVerdict.MALFORMED, JoinVerdict.NO_REQUEST})
"""The verdicts that time doesn't change: a NodeRequest is older than its token."""


class JoiningMachine(msgspec.Struct, frozen=True):
    """A NodeRequest, as far as its certificate is concerned."""

    uid: str
    is_under_way: bool
    """Whether the provider has accepted it, its node hasn't joined and nothing deletes it."""


def verdict_on(
    asked: SigningRequest,
    *,
    machines: Mapping[str, JoiningMachine],
    nodes: Collection[str],
) -> JoinVerdict:
    """The verdict, with the NodeRequests by name and the names of Nodes that exist."""
    name = machine_in(asked)
    if not name:
        return JoinVerdict.MALFORMED
    machine = machines.get(name)
    if machine is None or asked.spec.username != token_user(machine.uid):
        return JoinVerdict.NO_REQUEST
    if not machine.is_under_way:
        return JoinVerdict.NOT_UNDER_WAY
    return JoinVerdict.JOINED if name in nodes else JoinVerdict.APPROVED
