"""The steps of a proof: what each waits for, how long, and where to look if it fails.

All pods take the same steps, so the step that fails identifies the part that is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api.nodepool import PaidHour
from growth.api.noderequest import RequestPhase
from growth.cli.doctor.proof.sight import ProofSight
from growth.cli.terminal.money import hourly
from growth.demand.detection import is_demand
from growth.keeping.marks import is_marked
from growth.keeping.paid_hours import HOUR

if TYPE_CHECKING:
    from growth.api.nodepool import NodePool

SPARE: Final = 60.0
"""Seconds in addition to a pool's own times, and for steps that take a moment."""
ANSWER: Final = 300.0
"""Seconds for a provider to answer, including the pauses of its rate limit."""


class Before(Enum):
    """What is done at the start of a step."""

    NOTHING = auto()
    DELETE_THE_POD = auto()


class ProofStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a proof."""

    name: str
    awaited: str
    """What it waits for, as in `waiting for ...`."""
    reached: Callable[[ProofSight], str]
    """The result when it is done; empty until then."""
    seconds: float
    """The time limit."""
    look_at: str
    """Where to look if it fails; `{pod}` and `{machine}` are replaced."""
    impossible: Callable[[ProofSight], str] = lambda _: ""
    """Why it can't succeed any more, if that is visible."""
    before: Before = Before.NOTHING


def steps_for(pool: NodePool, paid_hour: PaidHour) -> tuple[ProofStep, ...]:
    """All steps, from the pod to the removal of its machine."""
    return (*_coming(pool), *_going(pool, paid_hour))


def _coming(pool: NodePool) -> tuple[ProofStep, ...]:
    """The steps from the pod to its place on a new machine."""
    return (
        ProofStep(
            name="scheduler",
            awaited="kube-scheduler to find no node for the pod",
            reached=_unschedulable,
            seconds=SPARE,
            look_at="does kube-scheduler run? growth explain pod {pod}",
            impossible=_bound_elsewhere,
        ),
        ProofStep(
            name="request",
            awaited="a NodeRequest for the pod",
            reached=_requested,
            seconds=2 * SPARE,
            look_at="growth explain pod {pod}",
            impossible=lambda sight: sight.without_place or _bound_elsewhere(sight),
        ),
        ProofStep(
            name="machine",
            awaited="the provider to accept the request",
            reached=_accepted,
            seconds=ANSWER,
            look_at="growth explain node {machine}",
        ),
        ProofStep(
            name="node",
            awaited="the machine to join as a node that is Ready",
            reached=lambda sight: "is Ready" if sight.node and sight.node.is_ready else "",
            seconds=pool.spec.readiness_wait.seconds + SPARE,
            look_at="growth explain node {machine}; the machine's own "
            "log shows why it doesn't join",
        ),
        ProofStep(
            name="pod",
            awaited="kube-scheduler to bind the pod",
            reached=_bound,
            seconds=2 * SPARE,
            look_at="growth explain pod {pod}",
            impossible=_bound_elsewhere,
        ),
    )


def _going(pool: NodePool, paid_hour: PaidHour) -> tuple[ProofStep, ...]:
    """The steps from the deletion of the pod to the removal of the machine."""
    idle_after = pool.spec.scale_down.idle_after.seconds
    return (
        ProofStep(
            name="pod",
            awaited="the pod to be gone",
            reached=lambda sight: "is deleted" if sight.pod is None else "",
            seconds=SPARE,
            look_at="kubectl get pod {pod} -o yaml: does it have a finalizer?",
            before=Before.DELETE_THE_POD,
        ),
        ProofStep(
            name="node",
            awaited="the node to be marked as idle",
            reached=_marked,
            seconds=2 * SPARE + (HOUR if paid_hour is PaidHour.USE else 0.0),
            look_at="growth explain node {machine}",
        ),
        ProofStep(
            name="machine",
            awaited="the machine to be gone",
            reached=_gone,
            seconds=idle_after + ANSWER,
            look_at="growth explain node {machine}; kubectl get noderemovalrequests",
        ),
    )


def _unschedulable(sight: ProofSight) -> str:
    has_found_none = sight.pod is not None and is_demand(sight.pod)
    return "finds no node for the pod" if has_found_none or sight.request is not None else ""


def _requested(sight: ProofSight) -> str:
    if sight.request is None:
        return ""
    spec = sight.request.spec
    return f"{spec.server_type} in {spec.location} at {hourly(spec.price)} per hour"


def _accepted(sight: ProofSight) -> str:
    accepted = {RequestPhase.PROVISIONING, RequestPhase.READY}
    is_accepted = sight.request is not None and sight.request.status.phase in accepted
    return "accepted by the provider" if is_accepted else ""


def _bound(sight: ProofSight) -> str:
    is_bound = sight.pod is not None and bool(sight.pod.spec.node_name)
    return "is bound" if is_bound and not _bound_elsewhere(sight) else ""


def _bound_elsewhere(sight: ProofSight) -> str:
    """Whether the pod was bound to a machine that was bought for others, which proves nothing."""
    place = sight.pod.spec.node_name if sight.pod is not None else ""
    requested = sight.request.name if sight.request is not None else ""
    if not place or place == requested:
        return ""
    return f"the pod was bound to {place}, which was bought for others: try again"


def _marked(sight: ProofSight) -> str:
    is_leaving = sight.removal is not None or (sight.node is not None and is_marked(sight.node))
    return "is marked as idle" if is_leaving or sight.node is None else ""


def _gone(sight: ProofSight) -> str:
    return "is gone" if sight.node is None and sight.removal is None else ""
