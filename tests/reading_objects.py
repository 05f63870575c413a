"""What `kubectl get` and `kubectl create` would do, by requests of this process.

Only in the forms that tests use again and again; kubectl is for all others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlencode

from growth.api.wellknown import GROUP_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.raw_api import Answer, Api

VERSIONS: Final = (
    *(
        "v1",
        "apps/v1",
        "batch/v1",
        "policy/v1",
        "coordination.k8s.io/v1",
        "apiextensions.k8s.io/v1",
    ),
    GROUP_VERSION,
)
"""Of the kinds that are read here."""
QUERIES: Final = {
    "--selector": "labelSelector",
    "-l": "labelSelector",
    "--field-selector": "fieldSelector",
}
NAMESPACE: Final = ("--namespace", "-n")
EVERYWHERE: Final = ("--all-namespaces", "-A")


class Wanted(NamedTuple):
    """What the words of `kubectl get` ask for."""

    kind: str
    name: str
    namespace: str
    """None is every namespace."""
    query: dict[str, str]


class ServedKind(NamedTuple):
    """A kind as the API server calls it."""

    path: str
    """Of its group and version."""
    plural: str
    is_namespaced: bool

    def place(self, namespace: str) -> str:
        """Where its objects are."""
        within = f"namespaces/{namespace}/" if self.is_namespaced and namespace else ""
        return f"{self.path}/{within}{self.plural}"


@dataclass
class LiveObjects:
    """The objects of one cluster."""

    api: Api
    _known: dict[tuple[str, str], ServedKind] = field(default_factory=dict)
    """By version, and by each name of a kind."""

    def get(self, *words: str) -> Any:
        """What kubectl prints as JSON; None if only kubectl knows."""
        wanted = wanted_by(words)
        served = wanted and self._of_name(wanted.kind)
        if wanted is None or served is None:
            return None
        place = served.place(wanted.namespace)
        if wanted.name:
            return _shown(self._asked(f"{place}/{wanted.name}"))
        listed = self._asked(f"{place}?{urlencode(wanted.query)}")
        kind = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
        return {**listed, "items": [{**kind, **_shown(item)} for item in listed["items"] or ()]}

    def create(self, objects: Sequence[dict[str, Any]], *, namespace: str) -> bool:
        """Whether they are created; otherwise kubectl has to do it."""
        served = [self._served(each["apiVersion"], each["kind"]) for each in objects]
        found = [each for each in served if each is not None]
        if len(found) < len(served):
            return False
        for kind, item in zip(found, objects, strict=True):
            within = item["metadata"].get("namespace", namespace)
            self.api.do("POST", f"{kind.place(within)}?fieldValidation=Strict", item)
        return True

    def _asked(self, path: str) -> Any:
        answer = self._ask(path)
        assert answer.status < HTTPStatus.MULTIPLE_CHOICES, f"get {path}: {answer.body}"
        return answer.body

    def _ask(self, path: str) -> Answer:
        try:
            answer = self.api.ask("GET", path)
        except (OSError, HTTPException) as failure:
            # As if kubectl had failed.
            raise AssertionError(f"get {path}: {failure}") from failure
        if answer.status != HTTPStatus.TOO_MANY_REQUESTS:
            return answer
        # As kubectl does. A kind that was just defined has no storage yet.
        time.sleep(0.5)
        return self._ask(path)

    def _of_name(self, name: str) -> ServedKind | None:
        return next((found for version in VERSIONS if (found := self._served(version, name))), None)

    def _served(self, version: str, name: str) -> ServedKind | None:
        if (version, name) not in self._known:
            self._known |= {(version, each): kind for each, kind in self._discovered(version)}
        return self._known.get((version, name))

    def _discovered(self, version: str) -> Iterable[tuple[str, ServedKind]]:
        path = f"/{'apis' if '/' in version else 'api'}/{version}"
        answer = self._ask(path)
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            return
        for each in answer.body["resources"]:
            kind = ServedKind(path, each["name"], each["namespaced"])
            names = (each["name"], each["singularName"], each["kind"], each["kind"].lower())
            for name in {*names, *each.get("shortNames", ())} if "/" not in each["name"] else ():
                yield name, kind


def _shown(item: dict[str, Any]) -> dict[str, Any]:
    """An object as kubectl shows it, without who wrote which field."""
    item["metadata"].pop("managedFields", None)
    return item


def wanted_by(words: Sequence[str]) -> Wanted | None:
    """What the words ask for; None if only kubectl can tell."""
    plain, query, namespace = list[str](), dict[str, str](), "default"
    left = list(words)
    while left:
        word, _, value = left.pop(0).partition("=")
        if word in EVERYWHERE:
            namespace = ""
        elif word in QUERIES:
            query[QUERIES[word]] = value or left.pop(0)
        elif word in NAMESPACE:
            namespace = value or left.pop(0)
        elif word.startswith("-") or (not word.isidentifier() and not plain):
            return None
        else:
            plain.append(word)
    if not 1 <= len(plain) <= 2:
        return None
    return Wanted(plain[0], plain[1] if len(plain) > 1 else "", namespace, query)
