"""The CustomResourceDefinitions: those in the cluster, those of this version, and differences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from growth.api import crd
from growth.errors import GiveUp
from growth.installation.applying import apply
from growth.installation.asking import find_object
from growth.installation.awaiting import until_nothing_is_missing
from growth.installation.narrowing import Difference, schema_differences
from growth.installation.resources import object_path
from growth.kube.errors import NotFound, Overloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.installation.applying import ApplyOutcome
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATIENCE: Final = 30.0


@dataclass(frozen=True)
class Definition:
    """A definition as it is installed and as in this version."""

    wanted: Object
    installed: Object | None

    @property
    def name(self) -> str:
        """The name, such as nodepools.growth.dev."""
        return str(self.wanted["metadata"]["name"])

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What would change for objects; empty if it isn't installed."""
        return () if self.installed is None else tuple(_changes(self.installed, self.wanted))


async def compared(connection: Connection) -> list[Definition]:
    """The definitions of this version, with those of the cluster."""
    return [
        Definition(wanted=wanted, installed=await find_object(connection, object_path(wanted)))
        for wanted in crd.definitions().values()
    ]


def refuse_narrower(kinds: list[Definition]) -> None:
    """Raise `GiveUp` if valid objects could become invalid."""
    lines = [
        f"{each.name}: {difference.path}: {difference.text}"
        for each in kinds
        for difference in each.differences
        if difference.narrows
    ]
    if lines:
        hint = "hint: stored objects may break these; check them, then apply it yourself"
        command = "growth crds | kubectl apply --server-side --force-conflicts -f -"
        raise GiveUp("\n".join([*lines, f"{hint}: {command}"]))


async def apply_definitions(connection: Connection, kinds: list[Definition]) -> list[ApplyOutcome]:
    """Apply the definitions, and wait until the API server serves them."""
    refuse_narrower(kinds)
    outcomes = [await apply(connection, each.wanted) for each in kinds]
    await until_nothing_is_missing(partial(_unserved, connection, kinds), seconds=PATIENCE)
    return outcomes


async def _unserved(connection: Connection, kinds: list[Definition]) -> list[str]:
    return [
        f"{each.name}: the API server doesn't serve it yet"
        for each in kinds
        if not is_established(await find_object(connection, object_path(each.wanted)))
        or not await _answers(connection, each.wanted["spec"])
    ]


async def _answers(connection: Connection, kind: Object) -> bool:
    """Whether the kind can be listed, which isn't the case right after it is established."""
    (version,) = (each["name"] for each in kind["versions"] if each["storage"])
    path = f"/apis/{kind['group']}/{version}/{kind['names']['plural']}"
    try:
        await connection.request("GET", path, query={"limit": "1"})
    except (NotFound, Overloaded):
        return False
    return True


def is_established(installed: Object | None) -> bool:
    """Whether objects of the kind can be created."""
    # The conditions of a new definition are null.
    conditions = (installed or {}).get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _changes(before: Object, after: Object) -> Iterator[Difference]:
    for word in ("scope", "group"):
        if before["spec"][word] != after["spec"][word]:
            yield Difference(word, f"{before['spec'][word]} -> {after['spec'][word]}", narrows=True)
    old, new = _schemas(before), _schemas(after)
    for version in sorted(old.keys() - new.keys()):
        yield Difference(version, "is no longer served", narrows=True)
    for version in sorted(new.keys() - old.keys()):
        yield Difference(version, "is new", narrows=False)
    for version in sorted(old.keys() & new.keys()):
        yield from schema_differences(old[version], new[version])


def _schemas(definition: Object) -> dict[str, Any]:
    return {
        version["name"]: version["schema"]["openAPIV3Schema"]
        for version in definition["spec"]["versions"]
        if version["served"]
    }
