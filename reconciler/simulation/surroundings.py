"""What all parts of a simulated cluster share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reconciler.simulation.faults import Faults
from reconciler.simulation.server import SimulatedApiServer
from reconciler.simulation.timeline import Timeline
from reconciler.simulation.trace import Trace

if TYPE_CHECKING:
    from reconciler.simulation.story import Story


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """The timeline, the trace, the API server and the faults."""

    story: Story
    timeline: Timeline
    trace: Trace
    server: SimulatedApiServer
    faults: Faults


def surroundings(story: Story, *, keep: int | None) -> Surroundings:
    """New surroundings; `keep` is the number of trace lines to keep, None for all."""
    timeline = Timeline()
    trace = Trace(timeline, keep=keep)
    return Surroundings(
        story=story,
        timeline=timeline,
        trace=trace,
        server=SimulatedApiServer(timeline, trace),
        faults=Faults(story.faults, seed=story.seed, timeline=timeline, until=story.noisy),
    )
