"""Who reads what has happened, and says of each end whether it was right.

The judge believes nobody: it replays the events in the order of their versions and looks at each
node that ends, each pod that ends, and each cordon that is lifted. What the storm itself has done
it has written down before it did it; everything else that ends was growth's deed or an owner's.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from growth.api.wellknown import (
    CORDONED_ANNOTATION,
    DO_NOT_DISRUPT_ANNOTATION,
    INSTANCE_TYPE_LABEL,
    MANAGED_BY_LABEL,
    POOL_LABEL,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.thread.chronicle import Told

OWNER: Final = "app"
"""The label that says whose pod it is."""
HEARD_OF: Final = 10.0
"""Seconds after which growth has to know of a wish that a person has written on a node."""
EVICTED: Final = "EvictionByEvictionAPI"
COMING: Final = frozenset({"Pending", "Provisioning"})
FINISHED: Final = frozenset({"Succeeded", "Failed"})


class Violation(NamedTuple):
    """Something that must not be."""

    version: int
    rule: str
    text: str


class Deeds(msgspec.Struct):
    """What was done by who made the storm, each written down before it was done."""

    killed: set[str] = msgspec.field(default_factory=set)
    """Nodes."""
    ended: set[str] = msgspec.field(default_factory=set)
    """Pods, by uid."""
    fewer: Counter[str] = msgspec.field(default_factory=Counter)
    """So many pods less an owner has wanted, all its wishes together."""
    uncordoned: set[str] = msgspec.field(default_factory=set)
    """Nodes whose cordon was lifted again."""


class Judge:
    """The state of the cluster at a version, and what was wrong until then."""

    def __init__(self, deeds: Deeds, *, maxima: Mapping[tuple[str, str], int]) -> None:
        self.found: list[Violation] = []
        self.evicted = 0
        self.nodes_ended = 0
        """By growth."""
        self._deeds = deeds
        self._maxima = maxima
        self._left = Counter(deeds.fewer)
        self._there: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._wished_at: dict[str, float] = {}
        self._rules: dict[str, Callable[[Told, dict[str, Any] | None], None]] = {
            "pod": self._pod,
            "node": self._node,
            "request": lambda told, _: self._count(told),
            "removal": lambda *_: None,
        }

    def read(self, told: Iterable[Told]) -> None:
        """All that has happened, in its order."""
        for each in told:
            before = self._there.get(each.key)
            if each.is_gone:
                self._there.pop(each.key, None)
            else:
                self._there[each.key] = each.found
            self._rules[each.kind](each, before)

    def _wrong(self, told: Told, rule: str, text: str) -> None:
        self.found.append(Violation(told.version, rule, text))

    def _pod(self, told: Told, _: dict[str, Any] | None) -> None:
        pod = told.found
        if not told.is_gone or not is_keeper(pod):
            return
        uid, name = pod["metadata"]["uid"], pod["metadata"]["name"]
        reason, owner = why_disrupted(pod), pod["metadata"].get("labels", {}).get(OWNER, "")
        if uid in self._deeds.ended:
            return
        if reason == EVICTED:
            self.evicted += 1
            if why := why_never_evicted(pod):
                self._wrong(told, "who may not be moved stays", f"{name} was evicted: {why}")
        elif reason and pod["spec"].get("nodeName") not in self._deeds.killed:
            self._wrong(told, "no pod loses its node", f"{name} ended by {reason}")
        elif not reason:
            self._left[owner] -= 1
            if self._left[owner] < 0:
                self._wrong(told, "pods end by their owner's wish", f"{name} was deleted")

    def _node(self, told: Told, before: dict[str, Any] | None) -> None:
        node, name = told.found, told.found["metadata"]["name"]
        if MANAGED_BY_LABEL not in node["metadata"].get("labels", {}):
            return
        self._count(told)
        if not told.is_gone:
            self._wishes(told, before)
        elif name not in self._deeds.killed:
            self.nodes_ended += 1
            self._ended(told)

    def _wishes(self, told: Told, before: dict[str, Any] | None) -> None:
        name = told.found["metadata"]["name"]
        if wish_of(told.found):
            self._wished_at.setdefault(name, told.at)
        else:
            self._wished_at.pop(name, None)
        was = before is not None and is_cordoned_by_a_person(before)
        is_lifted = was and not told.found["spec"].get("unschedulable")
        if is_lifted and name not in self._deeds.uncordoned:
            self._wrong(told, "a person's cordon stays", f"{name} was uncordoned")

    def _ended(self, told: Told) -> None:
        name = told.found["metadata"]["name"]
        for pod in self._pods_on(name):
            self._wrong(told, "no node ends with pods", f"{name} with {pod['metadata']['name']}")
        if ("removal", "", name) not in self._there:
            self._wrong(told, "what ends was named", f"{name} had no removal")
        wished_at = self._wished_at.pop(name, told.at)
        if told.at - wished_at > HEARD_OF:
            self._wrong(told, "a person's node stays", f"{name}: {wish_of(told.found)}")

    def _pods_on(self, name: str) -> Iterator[dict[str, Any]]:
        for (kind, *_), found in self._there.items():
            if kind == "pod" and found["spec"].get("nodeName") == name and is_keeper(found):
                yield found

    def _count(self, told: Told) -> None:
        """No more of a type than its pool allows: nodes, and requests whose nodes are to come."""
        if told.is_gone:
            return
        sorts = {
            found["metadata"]["name"]: sort
            for (kind, *_), found in self._there.items()
            if (sort := sort_of(kind, found)) is not None
        }
        for sort, number in Counter(sorts.values()).items():
            if number > self._maxima.get(sort, 0):
                self._wrong(told, "no maximum is exceeded", f"{number} of {sort}")


def sort_of(kind: str, found: dict[str, Any]) -> tuple[str, str] | None:
    """Pool and type of what is a machine of ours or may become one."""
    labels = found["metadata"].get("labels", {})
    if kind == "node" and MANAGED_BY_LABEL in labels:
        return labels[POOL_LABEL], labels[INSTANCE_TYPE_LABEL].lower()
    if kind == "request" and found.get("status", {}).get("phase", "Pending") in COMING:
        return found["spec"]["pool"], found["spec"]["serverType"].lower()
    return None


def is_keeper(pod: dict[str, Any]) -> bool:
    """Whether somebody would miss its node because of it."""
    owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())}
    is_finished = pod.get("status", {}).get("phase") in FINISHED
    return not is_finished and not owners & {"DaemonSet", "Node"}


def why_disrupted(pod: dict[str, Any]) -> str:
    """What the cluster itself says of who has ended the pod; empty if somebody deleted it."""
    conditions = pod.get("status", {}).get("conditions", ())
    return next((each["reason"] for each in conditions if each["type"] == "DisruptionTarget"), "")


def why_never_evicted(pod: dict[str, Any]) -> str:
    """Why nobody may evict it for the sake of cost."""
    if DO_NOT_DISRUPT_ANNOTATION in pod["metadata"].get("annotations", {}):
        return "it says so"
    has_owner = any(each.get("controller") for each in pod["metadata"].get("ownerReferences", ()))
    return "" if has_owner else "nobody would bring it back"


def is_cordoned_by_a_person(node: dict[str, Any]) -> bool:
    """Whether it bears a cordon that growth hasn't signed."""
    signed = CORDONED_ANNOTATION in node["metadata"].get("annotations", {})
    return bool(node["spec"].get("unschedulable")) and not signed


def wish_of(node: dict[str, Any]) -> str:
    """What a person has written on a node, for which it is to stay; empty if nothing."""
    if DO_NOT_DISRUPT_ANNOTATION in node["metadata"].get("annotations", {}):
        return "it may not be disrupted"
    return "a person has cordoned it" if is_cordoned_by_a_person(node) else ""
