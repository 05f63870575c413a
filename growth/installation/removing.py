"""Removes growth from a cluster, in an order that can be interrupted after any step.

First the registrations of webhooks, so that no caller waits for an answer. Then the processes, so
that nothing is written any more. Then our objects with their finalizers; then their definitions,
which can't be deleted while objects exist; then everything else. Missing objects are skipped, so
parts of the installation may be lost, and an uninstallation can be repeated.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import NAME_LABEL, NAMESPACE, PAUSE_CONFIG_MAP, SCHEDULER_CONFIGURATION
from growth.api.kinds import KINDS
from growth.api.wellknown import (
    LEAVING_TAINT,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    PROVIDER_CLEANUP_FINALIZER,
    SCALE_DOWN_AT_ANNOTATION,
    SCALE_DOWN_TAINT,
    UNREGISTERED_TAINT,
)
from growth.errors import DecideAgain, RetryLater
from growth.installation.asking import ask_patiently, find_object, list_objects
from growth.installation.awaiting import until_nothing_is_missing
from growth.installation.definitions import DEFINITIONS
from growth.installation.places import PARTS
from growth.installation.rendering import part_objects, renamed
from growth.installation.resources import object_path, title_of
from growth.kube.call import MERGE_PATCH
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

NODES: Final = "/api/v1/nodes"
OURS: Final = {"labelSelector": f"{MANAGED_BY_LABEL}={MANAGED_BY}"}
OUR_SECRETS: Final = {"labelSelector": f"app.kubernetes.io/managed-by={MANAGED_BY}"}
OUR_TAINTS: Final = frozenset({UNREGISTERED_TAINT, SCALE_DOWN_TAINT, LEAVING_TAINT})
OUR_CONFIG_MAPS: Final = re.compile(
    # Names with a digest of the content are of earlier installations.
    rf"{PAUSE_CONFIG_MAP}|{SCHEDULER_CONFIGURATION}-[0-9a-z]{{10}}"
)
ASKING: Final = frozenset(
    {"MutatingWebhookConfiguration", "MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"}
)
WORKING: Final = frozenset({"Deployment", "DaemonSet"})
IN_THE_BACKGROUND: Final = {"propagationPolicy": "Background"}
PATIENCE: Final = 60.0
ROUNDS: Final = 20


def everything(namespace: str) -> list[Object]:
    """All objects that an installation with any options may have, the last ones first."""
    items = [item for part in PARTS for item in part_objects(part)]
    return [renamed(item, {NAMESPACE: namespace}) for item in reversed(items)]


async def remove(connection: Connection, items: Iterable[Object]) -> list[str]:
    """Delete these objects; returns those that existed."""
    return [title_of(item) for item in items if await gone(connection, object_path(item))]


async def gone(connection: Connection, path: str) -> bool:
    """Delete the object at a path; returns whether there was one."""
    try:
        await ask_patiently(connection, "DELETE", path, body=_options())
    except NotFound:
        return False
    return True


def _options() -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "DeleteOptions", **IN_THE_BACKGROUND}


async def objects_of_kind(connection: Connection, kind: str) -> list[Object]:
    """All objects of one of our kinds; none if the kind isn't installed."""
    return await list_objects(connection, KINDS[kind].collection())


async def release_nodes(connection: Connection) -> list[str]:
    """Turn our nodes into ordinary ones, without our taints and announcements."""
    return await change_nodes(connection, released)


async def change_nodes(
    connection: Connection, change: Callable[[Object], Object | None]
) -> list[str]:
    """Change our nodes until none needs it. Kubelets write nodes too, so a try may fail."""
    changed: set[str] = set()
    for _ in range(ROUNDS):
        nodes = await list_objects(connection, NODES, **OURS)
        patches = {node["metadata"]["name"]: change(node) for node in nodes}
        due = {name: patch for name, patch in patches.items() if patch is not None}
        if not due:
            return sorted(changed)
        for name, patch in due.items():
            with suppress(NotFound, DecideAgain):
                await ask_patiently(
                    connection, "PATCH", f"{NODES}/{name}", body=patch, content_type=MERGE_PATCH
                )
                changed.add(name)
    raise RetryLater("nodes change faster than they can be written: run it again")


def released(node: Object) -> Object | None:
    """The patch that turns a node into an ordinary one; None if it isn't needed."""
    taints = node.get("spec", {}).get("taints", ())
    kept = [taint for taint in taints if taint["key"] not in OUR_TAINTS]
    annotated = SCALE_DOWN_AT_ANNOTATION in node["metadata"].get("annotations", {})
    if len(kept) == len(taints) and not annotated:
        return None
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "annotations": {SCALE_DOWN_AT_ANNOTATION: None},
        },
        "spec": {"taints": kept or None},
    }


async def remove_objects(connection: Connection) -> int:
    """Delete our objects, also those with our finalizer; returns their number."""
    count = 0
    for kind, model in KINDS.items():
        for item in await objects_of_kind(connection, kind):
            count += 1
            await _let_go(connection, f"{model.collection()}/{item['metadata']['name']}", item)
    return count


async def _let_go(connection: Connection, path: str, item: Object) -> None:
    metadata = item["metadata"]
    finalizers = metadata.get("finalizers", ())
    others = [each for each in finalizers if each != PROVIDER_CLEANUP_FINALIZER]
    state = {"resourceVersion": metadata["resourceVersion"], "finalizers": others or None}
    # If it is gone or has changed meanwhile, the next check of what is left sees that.
    with suppress(NotFound, DecideAgain):
        if len(others) < len(finalizers):
            patch = {"metadata": state}
            await ask_patiently(connection, "PATCH", path, body=patch, content_type=MERGE_PATCH)
        await gone(connection, path)


async def remove_definitions(connection: Connection) -> None:
    """Delete the definitions, and wait until they are gone."""
    for model in KINDS.values():
        await gone(connection, f"{DEFINITIONS}/{model.definition_name()}")
    await until_nothing_is_missing(partial(_definitions_left, connection), seconds=PATIENCE)


async def _definitions_left(connection: Connection) -> list[str]:
    """The definitions that are left; objects created meanwhile are deleted, as they block them."""
    await remove_objects(connection)
    installed = {each["metadata"]["name"] for each in await list_objects(connection, DEFINITIONS)}
    ours = {model.definition_name() for model in KINDS.values()}
    return [f"{name}: still exists" for name in sorted(installed & ours)]


async def remove_contents(connection: Connection, namespace: str) -> list[str]:
    """Delete what isn't in the manifests: certificates, join tokens, pauses, old ConfigMaps."""
    secrets = [
        *await list_objects(connection, f"{_within(namespace)}/secrets", **OUR_SECRETS),
        # Join tokens. They expire by themselves, but until then each one lets a machine join.
        *await list_objects(connection, f"{_within('kube-system')}/secrets", **OURS),
    ]
    maps = await list_objects(connection, f"{_within(namespace)}/configmaps")
    mine = [
        *(_place(each, "secrets") for each in secrets),
        *(
            _place(each, "configmaps")
            for each in maps
            if is_our_config_map(each["metadata"]["name"])
        ),
    ]
    return [each for each in mine if await gone(connection, each)]


def is_our_config_map(name: str) -> bool:
    """Whether we created it; a name that only begins like ours isn't enough."""
    return OUR_CONFIG_MAPS.fullmatch(name) is not None


def _within(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


def _place(item: Object, plural: str) -> str:
    metadata = item["metadata"]
    return f"{_within(metadata['namespace'])}/{plural}/{metadata['name']}"


async def remove_namespace(connection: Connection, namespace: str) -> bool:
    """Delete the namespace if we created it; one that existed before stays.

    A namespace that is already Terminating is skipped.
    """
    path = _within(namespace)
    there = await find_object(connection, path)
    metadata = {} if there is None else there["metadata"]
    is_ours = metadata.get("labels", {}).get(NAME_LABEL) == "growth"
    is_leaving = "deletionTimestamp" in metadata
    return is_ours and not is_leaving and await gone(connection, path)
