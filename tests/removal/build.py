"""Clouds that are believed, and machines on their way out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.wellknown import (
    INSTANCE_TYPE_LABEL,
    MANAGED_BY,
    MANAGED_BY_LABEL,
    NODE_REQUEST_LABEL,
    POOL_LABEL,
    SCALE_DOWN_AT_ANNOTATION,
)
from growth.api.written import write_time
from growth.scheduling.metadata import ObservedCondition
from reconciler import removal as removing
from reconciler.brakes.trust import Trust
from reconciler.ledger import Ledger
from reconciler.loop import chosen
from reconciler.providers.port import (
    ClassKey,
    DeleteAnswer,
    DeleteOutcome,
    GivenBack,
    Listing,
    Machine,
    MachineState,
    Sight,
)
from tests.reconciler.build import RELEASED, START, at, node_class, pool
from tests.reconciler.build import world as seen
from tests.scheduling import build

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from reconciler.core.actions import Action
    from reconciler.core.world import World
    from reconciler.providers.port import Occupied

CLOUD = ClassKey("KwokNodeClass", "default")
NAME = "default-1"
SCALE_DOWN = {"key": "growth.dev/scale-down", "value": "1", "effect": "NoSchedule"}


def machine(name: str = NAME, /, **fields: Any) -> Machine:
    known = {
        "machine_id": f"kwok://{name}",
        "name": name,
        "request_uid": f"uid-{name}",
        "pool": "default",
        "state": MachineState.RUNNING,
    }
    return Machine(**(known | fields))


def listing(*machines: Machine, seconds: float = 0.0) -> Listing:
    return Listing(
        at=at(seconds), is_complete=True, machines={each.name: each for each in machines}
    )


def removal(
    name: str = NAME,
    /,
    *,
    reason: str = "NeverJoined",
    deleting: bool = False,
    held: bool = True,
    made_at: float = 0.0,
    status: Any = None,
    **spec: Any,
) -> NodeRemovalRequest:
    return NodeRemovalRequest.model_validate(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-removal-{name}",
                "resourceVersion": "5",
                "finalizers": ["growth.dev/provider-cleanup"] if held else [],
                "creationTimestamp": START + timedelta(seconds=made_at),
                "deletionTimestamp": START if deleting else None,
            },
            "spec": {
                "pool": "default",
                "nodeName": name,
                "nodeID": f"kwok://{name}",
                "requestUID": f"uid-{name}",
                "reason": reason,
            }
            | spec,
            "status": status or {},
        }
    )


def node(
    name: str = NAME,
    /,
    *,
    ready: bool = True,
    annotations: dict[str, str] | None = None,
    made_at: float = 0.0,
    server_type: str = "small",
    **spec: Any,
) -> Node:
    labels = {
        POOL_LABEL: "default",
        MANAGED_BY_LABEL: MANAGED_BY,
        INSTANCE_TYPE_LABEL: server_type,
        NODE_REQUEST_LABEL: name,
    }
    made = build.node(name, labels=labels, **({"providerID": f"kwok://{name}"} | spec))
    conditions = (ObservedCondition(type="Ready", status="True"),) if ready else ()
    return msgspec.structs.replace(
        made,
        metadata=msgspec.structs.replace(
            made.metadata,
            annotations=annotations or {},
            creation_timestamp=write_time(START + timedelta(seconds=made_at)),
        ),
        status=msgspec.structs.replace(made.status, conditions=conditions),
    )


def marked(name: str = NAME, /, *, until: float, **fields: Any) -> Node:
    """An idle node that goes at a second."""
    annotations = {SCALE_DOWN_AT_ANNOTATION: write_time(START + timedelta(seconds=until))}
    return node(name, annotations=annotations, taints=[SCALE_DOWN], **fields)


def world(
    *objects: Any,
    shown: tuple[Machine, ...] = (),
    before: tuple[Machine, ...] | None = None,
    listed_at: float = 90.0,
    **changes: Any,
) -> World:
    """A cloud that shows these machines, and showed them before unless something else is said."""
    removals = {each.name: each for each in objects if isinstance(each, NodeRemovalRequest)}
    others = [each for each in objects if not isinstance(each, NodeRemovalRequest)]
    sight = Sight(
        listing=listing(*shown, seconds=listed_at),
        before=listing(*(shown if before is None else before), seconds=listed_at - 1),
    )
    believed = replace(RELEASED, clouds={CLOUD: Trust(judged=listed_at)})
    told = {"clouds": {CLOUD: sight}, "removals": removals, "ledger": Ledger(brakes=believed)}
    if not any(each.__class__.__name__ == "NodePool" for each in others):
        others.append(pool())
    return seen(node_class(), *others, **(told | changes))


def deleted(
    outcome: DeleteOutcome = DeleteOutcome.ACCEPTED, *, seconds: float = 0.0, after: float = 80.0
) -> dict[str, GivenBack]:
    reason = "no answer" if outcome is DeleteOutcome.FAILED else ""
    answer = DeleteAnswer(outcome=outcome, reason=reason, seconds=seconds)
    return {NAME: GivenBack(at=after, answer=answer)}


def occupied(answer: Occupied, *, after: float = 80.0) -> dict[str, GivenBack]:
    return {NAME: GivenBack(at=after, answer=answer)}


def attempted(times: int = 1, *, seconds: float = 80.0) -> dict[str, Any]:
    """The status of a removal after so many tries, the last one at a second."""
    return {
        "phase": "Deprovisioning",
        "removalAttempt": times,
        "removeAttemptedAt": START + timedelta(seconds=seconds),
    }


def steps(given: World, seconds: float = 100.0) -> list[Action]:
    wanted = removing.decide(given, at(seconds)).sequences
    return [step for sequence in chosen(wanted, given) for step in sequence.steps]


def kinds(given: World, seconds: float = 100.0) -> list[str]:
    """What is done, events apart."""
    done = [
        " ".join([type(step).__name__, getattr(step, "kind", "")]).strip()
        for step in steps(given, seconds)
    ]
    return [each for each in done if each != "EmitEvent"]
