"""The memory of provisioning, brought up to this moment before anything is decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from growth.api.noderequest import RequestPhase
from reconciler.facts.nodes import node_of
from reconciler.providers.port import Failed, FailureClass
from reconciler.provisioning.ledger import FailedCreates, RequestStage, StageSeen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from growth.api.noderequest import NodeRequest
    from growth.instant import Instant
    from reconciler.core.world import World
    from reconciler.facts.sighted_clock import SightedClock
    from reconciler.provisioning.ledger import ProvisioningLedger

FINISHED = frozenset({RequestPhase.READY, RequestPhase.UNMET})


def remembered_requests(world: World, now: Instant, clock: SightedClock) -> ProvisioningLedger:
    """What is known about each request that isn't finished; deleted ones are forgotten."""
    before = world.ledger.provisioning
    unfinished = [each for each in world.requests.values() if each.status.phase not in FINISHED]
    return replace(
        before,
        seen={each.name: _seen(each, before, now, clock) for each in unfinished},
        troubles=dict(_troubles(world, before)),
        asked_of={name: of for name, of in before.asked_of.items() if name in world.requests},
        ready=dict(_ready(unfinished, world, now)),
        held={name: held for name, held in before.held.items() if name in world.requests},
    )


def _seen(
    request: NodeRequest, before: ProvisioningLedger, now: Instant, clock: SightedClock
) -> StageSeen:
    metadata, accepted = request.metadata, request.status.accepted_at
    stage = RequestStage(
        metadata.uid, request.status.phase, metadata.deletion_timestamp is not None
    )
    # Evidence is about one stage: a listing from before the purchase says nothing about the
    # machine.
    known = before.seen.get(request.name)
    if known is not None and known.stage == stage:
        return known
    waited = 0.0 if accepted is None else max(0.0, now.seconds_since(accepted))
    return StageSeen(stage=stage, at=now.monotonic, since=clock.now - waited)


def _troubles(world: World, before: ProvisioningLedger) -> Iterator[tuple[str, FailedCreates]]:
    for name, answered in world.answers.items():
        known = before.troubles.get(name)
        match answered.answer:
            case Failed(failure=FailureClass.TRANSIENT):
                is_known = known is not None and known.at == answered.at
                count = 1 if known is None else known.count + 1
                yield (
                    name,
                    known if is_known and known else FailedCreates(count=count, at=answered.at),
                )
            case _:
                continue


def _ready(
    requests: Iterable[NodeRequest], world: World, now: Instant
) -> Iterator[tuple[str, float]]:
    before = world.ledger.provisioning.ready
    for request in requests:
        node = node_of(request, world)
        if node is not None and node.is_ready:
            yield request.name, before.get(request.name, now.monotonic)
