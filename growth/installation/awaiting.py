"""What has to be true of an installation before a person is told that it works.

Each question answers with what is missing, or with nothing. All of them are asked until none is
missing any more, so that whoever waits in vain is told everything at once.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import RECONCILER_LEASE
from growth.errors import GiveUp, RetryLater
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
    """Ask again and again; at the end what is missing is the error."""
    deadline = asyncio.get_running_loop().time() + seconds
    while missing := await _seen(look):
        if asyncio.get_running_loop().time() > deadline:
            raise GiveUp("\n".join(missing))
        await asyncio.sleep(PAUSE)


async def _seen(look: Callable[[], Awaitable[Sequence[str]]]) -> Sequence[str]:
    """An API server that restarts meanwhile answers again before the wait is over."""
    try:
        return await look()
    except RetryLater as error:
        return [str(error)]


async def missing_of(
    connection: Connection, items: Sequence[Object], *, namespace: str
) -> list[str]:
    """What isn't as it should be yet, one line each."""
    return [line for item in items async for line in _missing_of(connection, item)] + [
        line async for line in _leader(connection, namespace)
    ]


async def _missing_of(connection: Connection, item: Object) -> AsyncIterator[str]:
    match item["kind"]:
        case "Deployment" | "DaemonSet":
            installed = await find_object(connection, object_path(item))
            short = "it is gone" if installed is None else shortage(installed)
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
    """What a Deployment or DaemonSet lacks; nothing when all of it is ready and new."""
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
    """Whether the API server knows by whom the webhook's certificate is signed."""
    clients = [each["clientConfig"] for each in configuration["webhooks"]]
    return bool(clients) and all(client.get("caBundle") for client in clients)


async def complaint(connection: Connection, item: Object) -> str:
    """The first thing that one of its pods complains of."""
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
        yield f"Lease {RECONCILER_LEASE}: no reconciler leads yet; the log of one says why"


async def lease_holder(connection: Connection, namespace: str) -> str:
    """The reconciler that leads; empty while none does."""
    path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{RECONCILER_LEASE}"
    try:
        answer = await ask_patiently(connection, "GET", path)
    except NotFound:
        return ""
    spec = answer.json().get("spec", {})
    return "" if is_over(spec, answer.date) else str(spec.get("holderIdentity") or "")


def is_over(spec: dict[str, Any], now: datetime) -> bool:
    """Whether a holder has been silent for longer than its Lease lasts.

    `now` is the date of the answer that the Lease came with: the clock of the machine on which a
    person asks may be minutes off, and a leader would be taken for dead, or a dead one for alive.
    """
    renewed = spec.get("renewTime")
    if not renewed:
        return False
    silent = now - datetime.fromisoformat(renewed)
    return silent > timedelta(seconds=spec.get("leaseDurationSeconds", 0))
