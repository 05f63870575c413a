"""Asks the API server to move a pod away, and remembers what it said.

The server checks the pod's budgets and refuses an eviction that would break one. Only if the time
of the pod's drain is up (`terminationGracePeriod`), growth deletes a pod whose eviction was
refused; it ends pods in no other way. If the pod is gone, or another one has its name, the eviction
has succeeded. A refusal is an answer, not an error: it concerns this pod only and delays no other.
The step fails only if the server itself has a problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.errors import GiveUp, Misconfigured
from growth.kube.cache.resource import Key
from growth.kube.errors import ApiError, BudgetExhausted, Conflict, NotFound, Overloaded
from growth.scheduling.objects import decode_pod
from reconciler.core.actions import Evict, Evicted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.instant import Instant
    from growth.kube.transport import Connection
    from growth.scheduling.pod import Pod

SEVERAL_BUDGETS: Final = 500
"""The server's answer if two budgets select one pod."""


class EvictionRefusal(msgspec.Struct, frozen=True):
    """Why a pod stays, and how long to wait before the next try."""

    why: str
    seconds: float = 0.0


async def evict(connection: Connection, pod: Evict) -> EvictionRefusal | None:
    """Evict one pod; None if it goes, or has gone already."""
    refusal = await _asked(connection, "POST", f"{_path(pod)}/eviction", _eviction(pod))
    if refusal is None or pod.ends_within is None:
        return refusal
    return await _asked(connection, "DELETE", _path(pod), _options(pod))


async def _asked(
    connection: Connection, verb: str, path: str, body: dict[str, object]
) -> EvictionRefusal | None:
    try:
        await connection.request(verb, path, body=body)
    except (NotFound, Conflict):
        return None
    # A 429, as for an overloaded server, but about this pod: waiting for it must delay nothing
    # else.
    except BudgetExhausted as error:
        return EvictionRefusal(error.message, error.after or 0.0)
    except Overloaded as error:
        if error.status != SEVERAL_BUDGETS:
            raise
        return EvictionRefusal(error.message)
    except (GiveUp, Misconfigured) as error:
        return EvictionRefusal(error.message if isinstance(error, ApiError) else str(error))
    return None


async def pod_is_gone(connection: Connection, pod: Evict) -> bool:
    """Whether the pod no longer exists, or another one has its name."""
    try:
        found = decode_pod((await connection.request("GET", _path(pod))).body)
    except NotFound:
        return True
    return found.metadata.uid != pod.uid


def _path(pod: Evict) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _eviction(pod: Evict) -> dict[str, object]:
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": _options(pod),
    }


def _options(pod: Evict) -> dict[str, object]:
    # Without the uid, the new pod of a StatefulSet, which has the same name, would end in turn.
    told: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": pod.uid},
    }
    return told if pod.ends_within is None else {**told, "gracePeriodSeconds": pod.ends_within}


def evicted(
    known: Mapping[str, Evicted],
    pod: Evict,
    refused: EvictionRefusal | None,
    *,
    now: Instant,
    pods: Mapping[Key, Pod],
) -> dict[str, Evicted]:
    """The answers after another one, without those for pods that are gone."""
    before = known.get(pod.uid)
    answer = Evicted(pod=pod, at=now.monotonic)
    if refused is not None:
        answer = msgspec.structs.replace(
            answer,
            refused=refused.why,
            seconds=refused.seconds,
            times=1 + (before.times if before is not None else 0),
        )
    there = {uid: each for uid, each in known.items() if _is_there(each.pod, pods)}
    return {**there, pod.uid: answer}


def _is_there(pod: Evict, pods: Mapping[Key, Pod]) -> bool:
    found = pods.get(Key(pod.namespace, pod.name))
    return found is not None and found.metadata.uid == pod.uid
