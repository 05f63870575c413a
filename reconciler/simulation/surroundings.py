"""What everybody in a simulated world shares."""

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
    """Time, history, the API server, and what goes wrong."""

    story: Story
    timeline: Timeline
    trace: Trace
    server: SimulatedApiServer
    faults: Faults


def surroundings(story: Story, *, keep: int | None) -> Surroundings:
    """Those of an empty world; `keep` lines of its history are kept, None keeps all."""
    timeline = Timeline()
    trace = Trace(timeline, keep=keep)
    return Surroundings(
        story=story,
        timeline=timeline,
        trace=trace,
        server=SimulatedApiServer(timeline, trace),
        faults=Faults(story.faults, seed=story.seed, timeline=timeline, until=story.noisy),
    )
