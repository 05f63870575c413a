"""Does this installation act, or does it only observe? All other findings depend on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.installed import RECONCILER
from growth.api.nodepool import PoolMode
from growth.cli.doctor.examination.finding import warn
from growth.cli.doctor.examination.processes import installed_workload

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings

VARIABLE: Final = "GROWTH_MODE"


async def examine_mode(place: ExaminedCluster) -> Findings:
    """Say so if growth only observes; where it acts, there is nothing to say."""
    if await observes(place):
        text = "growth only observes: it buys and removes nothing"
        hint = "growth observe report shows what it would do; growth install without --observe ends"
        yield warn("mode", text, f"{hint} this")


async def observes(place: ExaminedCluster) -> bool:
    """Whether the reconciler was installed to observe."""
    workload = await installed_workload(place, RECONCILER)
    if workload is None:
        return False
    containers = workload["spec"]["template"]["spec"]["containers"]
    variables = (each for container in containers for each in container.get("env", ()))
    return any(
        each.get("name") == VARIABLE and each.get("value") == PoolMode.OBSERVE for each in variables
    )
