"""Waits until an installation works.

Each check returns what is missing, or nothing. All checks run until nothing is missing, so that
after a timeout everything is reported at once.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import RECONCILER_LEASE
from growth.errors import GiveUp, RetryLater
from growth.foreign_text import time_or_none
from growth.installation.asking import ask_patiently, find_object, list_objects
from growth.installation.resources import object_path, title_of
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from growth.installation.shipped import Object
    from growth.kube.transport import Connection

PAUSE: Final = 0.3


async def until_nothing_is_missing(
    look: Callable[[], Awaitable[Sequence[str]]], *, seconds: float
) -> None:
    """Repeat a check until nothing is missing; after the timeout, raise what is missing."""
    deadline = asyncio.get_running_loop().time() + seconds
    while missing := await _seen(look):
        if asyncio.get_running_loop().time() > deadline:
            raise GiveUp("\n".join(missing))
        await asyncio.sleep(PAUSE)


async def _seen(look: Callable[[], Awaitable[Sequence[str]]]) -> Sequence[str]:
    """What is missing; an unavailable API server counts too, as it may only be restarting."""
    try:
        return await look()
    except RetryLater as error:
        return [str(error)]


async def missing_of(
    connection: Connection, items: Sequence[Object], *, namespace: str
) -> list[str]:
    """What is missing of these objects, one line each."""
    return [line for item in items async for line in _missing_of(connection, item)] + [
        line async for line in _leader(connection, namespace)
    ]


async def _missing_of(connection: Connection, item: Object) -> AsyncIterator[str]:
    match item["kind"]:
        case "Deployment" | "DaemonSet":
            installed = await find_object(connection, object_path(item))
            short = "it doesn't exist" if installed is None else shortage(installed)
            if short:
                why = await complaint(connection, item)
                yield f"{title_of(item)}: {short}{why}"
        case "MutatingWebhookConfiguration":
            installed = await find_object(connection, object_path(item))
            if not trusted(installed or {"webhooks": ()}):
                yield f"{title_of(item)}: the API server doesn't trust it yet: no caBundle"
        case _:
            return


def shortage(workload: Object) -> str:
    """What a Deployment or DaemonSet lacks; "" if all pods are ready and up to date."""
    status = workload.get("status", {})
    if status.get("observedGeneration", 0) < workload["metadata"]["generation"]:
        return "not seen by its controller yet"
    if workload["kind"] == "DaemonSet":
        wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
        new = status.get("updatedNumberScheduled", 0)
    else:
        wanted, ready = workload["spec"]["replicas"], status.get("readyReplicas", 0)
        new = status.get("updatedReplicas", 0)
    return f"{min(ready, new)} of {wanted} are ready" if min(ready, new) < wanted else ""


def trusted(configuration: Object) -> bool:
    """Whether the API server has the authority of the webhook's certificate."""
    clients = [each["clientConfig"] for each in configuration["webhooks"]]
    return bool(clients) and all(client.get("caBundle") for client in clients)


async def complaint(connection: Connection, item: Object) -> str:
    """The first problem of one of its pods."""
    labels = item["spec"]["selector"]["matchLabels"]
    query = {"labelSelector": ",".join(f"{key}={value}" for key, value in labels.items())}
    path = f"/api/v1/namespaces/{item['metadata']['namespace']}/pods"
    pods = await list_objects(connection, path, **query)
    complaints = [complaint for pod in pods for complaint in _complaints(pod)]
    return f": {complaints[0]}" if complaints else ""


def _complaints(pod: Object) -> list[str]:
    status = pod.get("status", {})
    waiting = [
        each["state"]["waiting"]
        for each in status.get("containerStatuses", ())
        if "waiting" in each.get("state", {})
    ]
    unplaced = [
        each
        for each in status.get("conditions", ())
        if each["type"] == "PodScheduled" and each["status"] == "False"
    ]
    return [_spoken(each) for each in (*unplaced, *waiting)]


def _spoken(state: dict[str, Any]) -> str:
    text = " ".join(str(state.get("message", "")).split())[:200]
    return f"{state.get('reason', 'waiting')}{': ' if text else ''}{text}"


async def _leader(connection: Connection, namespace: str) -> AsyncIterator[str]:
    if not await lease_holder(connection, namespace):
        yield f"Lease {RECONCILER_LEASE}: no reconciler leads yet; see the log of a reconciler"


async def lease_holder(connection: Connection, namespace: str) -> str:
    """The reconciler that leads; "" if there is none."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{RECONCILER_LEASE}"
    try:
        answer = await ask_patiently(connection, "GET", path)
    except NotFound:
        return ""
    spec = answer.json().get("spec", {})
    return "" if is_over(spec, answer.date) else str(spec.get("holderIdentity") or "")


def is_over(spec: dict[str, Any], now: datetime) -> bool:
    """Whether the Lease has expired.

    `now` is the date of the API server's answer. The clock of a person's machine may be minutes
    off, and then a live leader would look dead, or a dead one alive.
    """
    renewed = time_or_none(spec.get("renewTime"))
    if renewed is None:
        return False
    silent = now - renewed
    return silent > timedelta(seconds=spec.get("leaseDurationSeconds", 0))
