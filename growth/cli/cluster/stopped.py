"""Whether a reconciler has stopped writing because it was about to break an invariant.

It writes this to its Lease, and nothing else. An expired Lease belongs to a process that no longer
runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import RECONCILER
from growth.api.wellknown import WRITING_STOPPED_ANNOTATION
from growth.installation.awaiting import is_over

if TYPE_CHECKING:
    from datetime import datetime

LEASES: Final = "/apis/coordination.k8s.io/v1/leases"
REMEDY: Final = (
    "save its log, see docs/runbooks/GrowthWritingStopped.md, then kubectl -n {namespace} "
    f"rollout restart deployment/{RECONCILER}"
)


def stopped_by(lease: dict[str, Any], now: datetime) -> str:
    """The invariant and the decision for which its holder stopped; empty while it works."""
    spec = lease["spec"]
    if not spec.get("holderIdentity") or is_over(spec, now):
        return ""
    annotations = lease["metadata"].get("annotations") or {}
    return str(annotations.get(WRITING_STOPPED_ANNOTATION, ""))
