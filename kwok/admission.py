"""`up --growth`: the cluster's API server calls the webhook process next to it.

This works as in a real cluster, with two differences: there is no Service, so the webhook
configuration contains a loopback address; and no kubelet mounts Secrets for the process, so the
certificate that `certs` has created is written into the cluster's folder.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from typing import TYPE_CHECKING, Any, Final

from certs.files import files_of, write_files
from certs.objects import Objects
from certs.tending import tend
from certs.wanted import POLICY, WANTED, WEBHOOKS
from growth.errors import GiveUp
from growth.kube.transport import connect
from webhooks.registration.names import PATH
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from pathlib import Path

    from certs.objects import CertificatesFound
    from certs.state import LeafSecret
    from kwok.clusters import LocalCluster

_PORT: Final = "growth-webhook"
# The reconciler's Lease is in this namespace, and so are the certificates that its leader manages.
_NAMESPACE: Final = "kube-system"
_PATIENCE: Final = 5.0


def registration(cluster: LocalCluster) -> dict[str, Any]:
    """The shipped webhook configuration with a loopback address."""
    shipped = configuration()
    [webhook] = shipped["webhooks"]
    url = {"url": f"https://{cluster.address(_PORT)}{PATH}"}
    return {**shipped, "webhooks": [{**webhook, "clientConfig": url}]}


def certify(cluster: LocalCluster) -> None:
    """Create the certificates, let the configuration trust them, and write the webhook's own."""
    leaf = asyncio.run(_leaf(cluster))
    write_files(_folder(cluster), files_of(leaf))


async def _leaf(cluster: LocalCluster) -> LeafSecret:
    async with await connect(kubeconfig=cluster.kubeconfig, process="kwok") as connection:
        kept = Objects(connection, namespace=_NAMESPACE, wanted=WANTED, policy=POLICY)
        done = await tend(kept, may_write=lambda: None)
    if done.found is None or done.problems:
        raise GiveUp(f"no certificate for the webhook: {'; '.join(done.problems)}")
    return _webhooks_leaf(done.found)


def _webhooks_leaf(found: CertificatesFound) -> LeafSecret:
    leaves = (leaf for authority in found.state for leaf in authority.leaves)
    return next(leaf for leaf in leaves if leaf.wanted == WEBHOOKS)


def webhook_settings(cluster: LocalCluster) -> dict[str, str]:
    """The settings of the webhook process."""
    return {
        "GROWTH_WEBHOOK_ADDRESS": cluster.address(_PORT),
        "GROWTH_WEBHOOK_TLS_FOLDER": str(_folder(cluster)),
    }


def is_served(cluster: LocalCluster) -> bool:
    """Whether the webhook answers: it rejects an invalid review, but only once it can serve."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.load_verify_locations(_folder(cluster) / "ca.crt")
    port = cluster.ports[_PORT]
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls, timeout=_PATIENCE)
    try:
        connection.request("POST", PATH, json.dumps({}))
        return connection.getresponse().status == 400
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _folder(cluster: LocalCluster) -> Path:
    return cluster.folder / "webhook-tls"
