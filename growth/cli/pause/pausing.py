"""Writes a pause to the API server and removes it, whether or not growth is running.

The pause of a pool is an annotation on it. The pause of all pools is a ConfigMap in growth's own
namespace, which is where its Lease is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import PAUSE_CONFIG_MAP, RECONCILER_LEASE
from growth.api.nodepool import NodePool
from growth.api.wellknown import (
    PAUSE_REASON_KEY,
    PAUSE_UNTIL_KEY,
    PAUSED_REASON_ANNOTATION,
    PAUSED_UNTIL_ANNOTATION,
)
from growth.cli.cluster.names import bare, unknown
from growth.cli.cluster.stopped import LEASES
from growth.errors import GiveUp, Misconfigured
from growth.kube.call import APPLY_PATCH, MERGE_PATCH
from growth.kube.errors import NotFound
from growth.kube.reads import Reads

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from growth.kube.transport import Connection

POOLS: Final = NodePool.collection()


def add_pool_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument: one pool, or all of them."""
    parser.add_argument(
        "pool", metavar="POOL", nargs="?", type=_pool_name, help="default: every pool"
    )
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        help="growth's namespace (default: where its Lease is)",
    )


def _pool_name(word: str) -> str:
    return bare(word, kind="pool")


async def pause_pool(connection: Connection, pool: str, *, until: str, reason: str) -> None:
    """Annotate a pool."""
    annotations = {PAUSED_UNTIL_ANNOTATION: until, PAUSED_REASON_ANNOTATION: reason or None}
    await _annotate(connection, pool, annotations)


async def resume_pool(connection: Connection, pool: str) -> str | None:
    """Remove the annotation; returns its value, or None if there was none."""
    found = await _pool(connection, pool)
    until: str | None = found["metadata"].get("annotations", {}).get(PAUSED_UNTIL_ANNOTATION)
    gone = {PAUSED_UNTIL_ANNOTATION: None, PAUSED_REASON_ANNOTATION: None}
    await _annotate(connection, pool, gone)
    return until


async def pause_all(connection: Connection, namespace: str, *, until: str, reason: str) -> None:
    """Create or replace the ConfigMap."""
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": PAUSE_CONFIG_MAP, "namespace": namespace},
        "data": {PAUSE_UNTIL_KEY: until} | ({PAUSE_REASON_KEY: reason} if reason else {}),
    }
    try:
        await connection.request(
            "PATCH",
            _config_map(namespace),
            query={"fieldManager": "growth-cli", "force": "true"},
            body=body,
            content_type=APPLY_PATCH,
        )
    except NotFound:
        raise Misconfigured(f'no namespace "{namespace}"; use -n to name another one') from None


async def resume_all(connection: Connection, namespace: str) -> str | None:
    """Delete the ConfigMap; returns its end, or None if there was none."""
    until = await paused_all(connection, namespace)
    if until is not None:
        await connection.request("DELETE", _config_map(namespace))
    return until


async def paused_all(connection: Connection, namespace: str) -> str | None:
    """The written end of the pause of all pools."""
    found = await Reads(connection).found(_config_map(namespace))
    return None if found is None else found.get("data", {}).get(PAUSE_UNTIL_KEY, "")


async def own_namespace(connection: Connection, given: str | None) -> str:
    """The namespace of growth: that of its Lease, which remains when growth isn't running."""
    if given is not None:
        return given
    query = {"fieldSelector": f"metadata.name={RECONCILER_LEASE}"}
    leases = await Reads(connection).listed(LEASES, query)
    found = sorted(each["metadata"]["namespace"] for each in leases)
    match found:
        case [namespace]:
            return str(namespace)
        case []:
            raise GiveUp(f"no Lease {RECONCILER_LEASE} found; use -n to name growth's namespace")
        case _:
            places = ", ".join(found)
            raise GiveUp(
                f"Leases {RECONCILER_LEASE} found in {places}; use -n to name growth's namespace"
            )


async def _annotate(
    connection: Connection, pool: str, annotations: Mapping[str, str | None]
) -> None:
    await _pool(connection, pool)
    await connection.request(
        "PATCH",
        f"{POOLS}/{pool}",
        query={"fieldManager": "growth-cli"},
        body={"metadata": {"annotations": annotations}},
        content_type=MERGE_PATCH,
    )


async def _pool(connection: Connection, pool: str) -> dict[str, Any]:
    found = (await connection.request("GET", POOLS)).json()["items"]
    pools = {each["metadata"]["name"]: each for each in found}
    if pool not in pools:
        raise unknown(pool, pools, kind="pool")
    return dict(pools[pool])


def _config_map(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps/{PAUSE_CONFIG_MAP}"
