"""Is the cluster reachable, its version supported, and its clock right?"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from growth.cli.doctor.examination.finding import PATIENCE, fail, ok, warn
from growth.cli.support import SUPPORTED_KUBERNETES, version_range
from growth.clocks import wall_clock

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings
    from growth.kube.transport import Response

SKEW: Final = 30.0
"""The largest acceptable difference in seconds; beyond it, Leases and certificates mislead."""


async def examine_cluster(place: ExaminedCluster) -> Findings:
    """Examine version and clock, both from one answer."""
    answer = await place.connection.request("GET", "/version", timeout=PATIENCE)
    said = answer.json()
    version = str(said["gitVersion"]).removeprefix("v")
    minor = (int(said["major"]), int(said["minor"].rstrip("+")))
    oldest, newest = SUPPORTED_KUBERNETES
    known = version_range(SUPPORTED_KUBERNETES)
    text = f"Kubernetes {version} at {place.connection.server}"
    if minor < oldest:
        hint = f"upgrade the cluster; growth is tested with {known}"
        yield fail("cluster", f"{text} is too old", hint)
    elif minor > newest:
        hint = f"growth is tested with {known}; check for a newer version of growth"
        yield warn("cluster", f"{text} is newer than this version of growth supports", hint)
    else:
        yield ok("cluster", f"{text} (tested: {known})")
    async for finding in _clock(answer):
        yield finding


async def _clock(answer: Response) -> Findings:
    told = answer.headers.get("Date")
    if told is None:
        return
    apart = (wall_clock() - parsedate_to_datetime(told)).total_seconds()
    if abs(apart) > SKEW:
        side = "ahead of" if apart > 0 else "behind"
        text = f"this machine is {abs(apart):.0f} s {side} the API server"
        hint = (
            "synchronize both clocks (chronyc tracking); times shown here are off by this "
            "difference"
        )
        yield fail("clock", text, hint)
    else:
        yield ok("clock", f"within {SKEW:.0f} s of the API server's")
