"""The permissions that the roles of an installation grant, as single rights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.installation.shipped import Object


class Right(NamedTuple):
    """A single permission of a role."""

    role: str
    namespace: str
    """Empty means all namespaces."""
    group: str
    resource: str
    verb: str
    name: str
    """Empty means any name."""

    def allows(self, asked: Right) -> bool:
        """Whether it allows a request."""
        return (
            (self.group, self.resource, self.verb) == (asked.group, asked.resource, asked.verb)
            and self.namespace in {"", asked.namespace}
            and self.name in {"", asked.name}
        )


def rights_of(account: str, items: Iterable[Object]) -> set[Right]:
    """All rights that the roles of an account grant."""
    known = list(items)
    bound = [
        each for each in known if each["kind"].endswith("RoleBinding") and names(each, account)
    ]
    return {right for binding in bound for right in _granted(binding, known)}


def names(binding: Object, account: str) -> bool:
    """Whether a binding is for this account."""
    return any(subject["name"] == account for subject in binding["subjects"])


def _granted(binding: Object, items: list[Object]) -> Iterator[Right]:
    role, namespace = binding["roleRef"], binding["metadata"].get("namespace", "")
    if role["name"].startswith("system:"):
        return
    found = next(
        each
        for each in items
        if (each["kind"], each["metadata"]["name"]) == (role["kind"], role["name"])
        and each["metadata"].get("namespace", "") == namespace
    )
    for rule in found["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield Right(role["name"], namespace, group, resource, verb, name)
