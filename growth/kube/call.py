"""A request to the API server as a value, and its text for people: the verb and resource of RBAC.

"list pods in shop" is easier to act on than "GET /api/v1/namespaces/shop/pods".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from growth.errors import GiveUp

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Query = Mapping[str, str] | Sequence[tuple[str, str]]

# Also the colon of roles (`system:node`), and of a proxied port (`http:name:80`).
_PATH = re.compile(r"/[-\w.:/]*", re.ASCII)
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request, independent of the server and the credentials."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    content_type: str = "application/json"

    @property
    def action(self) -> str:
        """The text, such as `list pods in shop` or `create pods/eviction web-0 in shop`."""
        namespace, resource, name = _target(self.path)
        where = f" in {namespace}" if namespace else ""
        return f"{self._verb(name)} {resource}{' ' + name if name else ''}{where}"

    def _verb(self, name: str) -> str:
        if self.method in _VERBS:
            return _VERBS[self.method]
        if ("watch", "true") in self.query:
            return "watch"
        return "get" if name else "list"


def checked_path(path: str) -> str:
    """The path, if it can lead to nothing else.

    Names in paths come from objects that others write. Kubernetes allows no name that changes the
    path, so such a name is refused instead of quoted. `..` leaves a namespace, and `?` cuts off
    the rest.
    """
    if not _PATH.fullmatch(path) or not {".", ".."}.isdisjoint(path.split("/")):
        raise GiveUp(f"{path!r} isn't the path of an object: a name in it isn't allowed")
    return path


def pairs(query: Query) -> tuple[tuple[str, str], ...]:
    """A query of either form as pairs."""
    return tuple(query.items()) if isinstance(query, Mapping) else tuple(query)


def _target(path: str) -> tuple[str, str, str]:
    """The namespace, the resource with its subresource, and the name; `/healthz` stays as it is."""
    match [part for part in path.split("/") if part]:
        case ["api", _, *rest] | ["apis", _, _, *rest] if rest:
            return _within(rest)
        case _:
            return "", path, ""


def _within(rest: list[str]) -> tuple[str, str, str]:
    match rest:
        case ["namespaces", namespace, resource, *more] if resource not in {"status", "finalize"}:
            return namespace, *_named(resource, more)
        case _:
            return "", *_named(rest[0], rest[1:])


def _named(resource: str, more: list[str]) -> tuple[str, str]:
    name = more[0] if more else ""
    return "/".join([resource, *more[1:]]), name
