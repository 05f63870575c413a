"""The process that keeps the certificates of growth's other processes.

Start it with `python -m certs` or growth-certs. It has an account of its own, so that the
reconciler's token opens neither a CA nor a webhook configuration. It needs no leader: each write
names the version that it was decided on, so several of them do no harm.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from certs.metrics import CertsMetrics
from certs.settings import CertsSettings
from certs.tending import keep_certificates
from growth.api.installed import CERTS
from growth.kube.transport import connect
from growth.service import process

if TYPE_CHECKING:
    from growth.service.context import Service


async def tend_for_ever(service: Service[CertsSettings]) -> None:
    """Keep the certificates current until cancelled."""
    settings = service.settings
    connection = await connect(
        kubeconfig=settings.kubeconfig, context=settings.context, process=service.name
    )
    async with connection:
        await keep_certificates(
            connection,
            namespace=await asyncio.to_thread(lambda: settings.namespace),
            metrics=CertsMetrics(service.registry),
            may_write=lambda: None,
            wanted=settings.wanted,
        )


PROCESS = process.Process(
    name=CERTS,
    purpose="creates and renews the certificates of the other processes",
    settings=CertsSettings,
    parts={"certificates": tend_for_ever},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
