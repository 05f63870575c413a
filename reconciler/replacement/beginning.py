"""How a swap begins and ends: requests for the new nodes, and removals of the old ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.core.actions import Sequence, machine
from reconciler.core.decision import Decision
from reconciler.facts.requested import Bought
from reconciler.facts.swap_annotation import swap_text
from reconciler.replacement.consent import asked_again
from reconciler.replacement.writing import openings, replacement_events, replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from growth.api.disruption import DisruptionReason
    from reconciler.core.actions import EmitEvent
    from reconciler.planning.applying import Applied
    from reconciler.replacement.ledger import PendingProof, ReplacementLedger
    from reconciler.replacement.scene import ReplacementScene


def swap_begun(
    asked: PendingProof, result: Applied, scene: ReplacementScene
) -> Decision[ReplacementLedger]:
    """Write down what is bought; where nothing is, the old ones go at once."""
    said = replacement_events(
        asked.nodes, result.requests.values(), scene.world, reason=asked.reason, why=asked.why
    )
    # Only plans in a row that left pods over make nodes rest longer.
    scene = scene.having(replace(scene.ledger, left_over={}))
    if not result.requests:
        goes = asked_again(asked.nodes, asked.reason, scene).goes
        return removals_opened(goes, asked.reason, scene, said=said)
    return Decision(
        section=_with_purchases(asked, result, scene),
        sequences=tuple(
            Sequence(subject=machine(name), steps=(event,), why="other nodes take its place")
            for name, event in said.items()
        ),
    )


def _with_purchases(
    asked: PendingProof, result: Applied, scene: ReplacementScene
) -> ReplacementLedger:
    ledger = scene.ledger
    text = swap_text(asked.nodes, of=len(result.requests), reason=asked.reason)
    requests = replacing(result.requests.values(), text)
    bought = {
        name: Bought(pool=each.spec.pool, at=scene.now.monotonic) for name, each in requests.items()
    }
    return replace(
        ledger,
        unconfirmed={**ledger.unconfirmed, **requests},
        bought={**ledger.bought, **bought},
        # The same nodes may have been in a swap that was given up, and would have the same text
        # now.
        given_up=ledger.given_up - {text},
    )


def removals_opened(
    names: Iterable[str],
    reason: DisruptionReason,
    scene: ReplacementScene,
    *,
    said: Mapping[str, EmitEvent],
) -> Decision[ReplacementLedger]:
    """The old nodes go, after the last words on each."""
    opened = tuple(
        openings(sorted(names), scene.world, scene.look.clouds, reason=reason, said=said)
    )
    opening = {sequence.subject.name: reason for sequence in opened}
    ledger = replace(scene.ledger, opening={**scene.ledger.opening, **opening})
    return Decision(section=ledger, sequences=opened)
