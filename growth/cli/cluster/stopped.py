"""Whether a reconciler has stopped writing because it was about to break an invariant.

It writes this to its Lease, and what it has put aside. An expired Lease belongs to a process that
no longer runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import RECONCILER
from growth.api.wellknown import PUT_ASIDE_ANNOTATION, WRITING_STOPPED_ANNOTATION
from growth.installation.awaiting import is_over

if TYPE_CHECKING:
    from datetime import datetime

LEASES: Final = "/apis/coordination.k8s.io/v1/leases"
ASIDE_REMEDY: Final = "docs/runbooks/GrowthSubjectsPutAside.md"
REMEDY: Final = (
    "save its log, see docs/runbooks/GrowthWritingStopped.md, then kubectl -n {namespace} "
    f"rollout restart deployment/{RECONCILER}"
)


def stopped_by(lease: dict[str, Any], now: datetime) -> str:
    """The invariant and the decision for which its holder stopped; empty while it works."""
    return _said(lease, WRITING_STOPPED_ANNOTATION, now)


def put_aside_by(lease: dict[str, Any], now: datetime) -> str:
    """What its holder can't decide about, and why; empty if there is nothing."""
    return _said(lease, PUT_ASIDE_ANNOTATION, now)


def _said(lease: dict[str, Any], annotation: str, now: datetime) -> str:
    spec = lease["spec"]
    if not spec.get("holderIdentity") or is_over(spec, now):
        return ""
    return str((lease["metadata"].get("annotations") or {}).get(annotation, ""))
