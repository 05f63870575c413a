"""The process that keeps the certificates of growth's other processes, and approves kubelets'.

Start it with `python -m certs` or growth-certs. It has an account of its own, so that the
reconciler's token opens neither a CA nor a webhook configuration. It needs no leader: each write
names the version that it was decided on, so several of them do no harm.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from certs.approving import Approver
from certs.metrics import ApprovalMetrics, CertsMetrics
from certs.settings import CertsSettings
from certs.tending import keep_certificates
from growth.api.installed import CERTS
from growth.api.joining import JoinApproval
from growth.kube.cache.metrics import CacheMetrics
from growth.kube.transport import connect
from growth.service import process

if TYPE_CHECKING:
    from growth.kube.transport import Connection
    from growth.service.context import Service


async def tend_for_ever(service: Service[CertsSettings]) -> None:
    """Keep the certificates current, and approve those of machines, until cancelled."""
    settings = service.settings
    connection = await connect(
        kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
    )
    async with connection, asyncio.TaskGroup() as tasks:
        if settings.join_approval is JoinApproval.GROWTH:
            tasks.create_task(_approver(connection, service).run(), name="approve")
        await keep_certificates(
            connection,
            namespace=await asyncio.to_thread(lambda: settings.namespace),
            metrics=CertsMetrics(service.registry),
            may_write=lambda: None,
            wanted=settings.wanted,
        )


def _approver(connection: Connection, service: Service[CertsSettings]) -> Approver:
    return Approver(
        connection,
        metrics=ApprovalMetrics(service.registry),
        caches=CacheMetrics(service.registry),
    )


PROCESS = process.Process(
    name=CERTS,
    purpose="creates and renews the certificates of the other processes, and approves kubelets'",
    settings=CertsSettings,
    parts={"certificates": tend_for_ever},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
