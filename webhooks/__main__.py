"""The webhooks process, which kube-apiserver calls before it stores a pod.

Start it with `python -m webhooks` or growth-webhooks. Several replicas run independently.
"""

from __future__ import annotations

import sys

from growth.api.installed import WEBHOOKS
from growth.service import process
from webhooks.serving import admit
from webhooks.settings import WebhooksSettings

PROCESS = process.Process(
    name=WEBHOOKS,
    purpose="adds the pool and its tolerations to new pods",
    settings=WebhooksSettings,
    parts={"admit": admit},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
