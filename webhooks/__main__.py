"""The process that kube-apiserver asks before it stores a pod: admission.

`python -m webhooks`, or growth-webhooks. Several run at once; each is complete by itself.
"""

from __future__ import annotations

import sys

from growth.service import process
from growth.service.address import Address
from growth.service.settings import MetricsAddress, ServiceSettings


class WebhooksSettings(ServiceSettings):
    """What the webhook process can be told."""

    metrics_address: MetricsAddress = Address(host="", port=10282)


PROCESS = process.Process(
    name="growth-webhooks",
    purpose="admits pods with the pool they belong to",
    settings=WebhooksSettings,
    parts={},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
