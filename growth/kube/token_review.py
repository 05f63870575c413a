"""Asks the API server who a bearer token belongs to, and whether its owner may read a page.

Kubernetes' own components protect their metrics in this way: a TokenReview names the owner, and a
SubjectAccessReview says whether a role grants the owner `get` on the page's path.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from growth.kube.transport import Connection


PATIENCE: Final = 4.0
"""Seconds for each of the two requests; a Prometheus usually waits ten seconds for its answer."""


class TokenVerdict(enum.Enum):
    """What the owner of a token may do."""

    ALLOWED = enum.auto()
    UNKNOWN = enum.auto()
    """The token isn't one of this cluster, or has expired."""
    FORBIDDEN = enum.auto()


class TokenOwner(msgspec.Struct, frozen=True):
    """Who a token belongs to."""

    username: str


async def owner_for(connection: Connection, token: str, *, audience: str) -> TokenOwner | None:
    """The owner of a token that was made for this audience; None if it wasn't, or isn't valid."""
    spec = {"token": token, "audiences": [audience]}
    review = await _created(connection, "authentication", "TokenReview", spec)
    # An API server that knows no audiences names none; its tokens are for itself.
    if not review.get("authenticated") or audience not in review.get("audiences", ()):
        return None
    return TokenOwner(review.get("user", {}).get("username", ""))


async def reviewed(connection: Connection, token: str, *, path: str) -> TokenVerdict:
    """Whether the owner of a token may read the page at a path."""
    review = await _created(connection, "authentication", "TokenReview", {"token": token})
    if not review.get("authenticated"):
        return TokenVerdict.UNKNOWN
    owner = review.get("user", {})
    spec = {
        "user": owner.get("username", ""),
        "uid": owner.get("uid", ""),
        "groups": owner.get("groups", []),
        "extra": owner.get("extra", {}),
        "nonResourceAttributes": {"path": path, "verb": "get"},
    }
    access = await _created(connection, "authorization", "SubjectAccessReview", spec)
    return TokenVerdict.ALLOWED if access.get("allowed") is True else TokenVerdict.FORBIDDEN


async def _created(
    connection: Connection, group: str, kind: str, spec: dict[str, Any]
) -> dict[str, Any]:
    """The status of a review, which the API server answers and doesn't store."""
    version = f"{group}.k8s.io/v1"
    body = {"apiVersion": version, "kind": kind, "spec": spec}
    path = f"/apis/{version}/{kind.lower()}s"
    answer = await connection.request("POST", path, body=body, timeout=PATIENCE)
    status: dict[str, Any] = answer.json().get("status", {})
    return status
