"""The process that kube-apiserver asks before it stores a pod: admission.

`python -m webhooks`, or growth-webhooks. Several run at once; each is complete by itself.
"""

from __future__ import annotations

import sys

from growth.api.installed import WEBHOOKS
from growth.service import process
from webhooks.serving import admit
from webhooks.settings import WebhooksSettings

PROCESS = process.Process(
    name=WEBHOOKS,
    purpose="admits pods with the pool they belong to",
    settings=WebhooksSettings,
    parts={"admit": admit},
)


def main() -> int:
    """Run the process and return its exit code."""
    return process.main(PROCESS)


if __name__ == "__main__":
    sys.exit(main())
