"""Where the time goes between a pod and its node, stage by stage, in seconds.

Our own watches show what the API server reports (`benchmarks.lives`); the reconciler's log has the
times inside it. All use one clock.
"""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import datetime
from statistics import quantiles
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.lives import Lives

STAGES: Final = {
    "judged": "the scheduler finds no node",
    "asked": "the solver is asked",
    "planned": "its plan is applied",
    "requested": "the NodeRequest exists",
    "made": "its Node exists",
    "ready": "the Node is Ready",
    "released": "growth's start-up taint is removed",
    "serves": "Kubernetes' taints are removed",
    "bound": "the pod is bound",
}
"""The stages, in order."""

Moments = dict[str, float]
"""Seconds since the pod was created, by stage."""


def moments_of(lives: Lives, log: Sequence[tuple[float, str, str]]) -> Iterator[Moments]:
    """The stages of each bound pod, counted from its creation."""
    machines = _machines(lives)
    planned = {subject: at for at, subject, _ in reversed(log)}
    asked = [at for at, subject, why in log if subject == "demand" and why.startswith("plan ")]
    for name, life in lives.of("pod").items():
        if "bound" in life.moments:
            machine = machines.get(name, life.newest["spec"]["nodeName"])
            found = _found(lives, name, machine)
            found["planned"] = planned.get(machine, 0.0)
            found["asked"] = max((at for at in asked if at <= found["planned"]), default=0.0)
            begun = life.moments["created"]
            yield {stage: at - begun for stage, at in found.items() if at}


def _machines(lives: Lives) -> dict[str, str]:
    """The machine that was requested for each pod."""
    return {
        pod["name"]: name
        for name, life in lives.of("request").items()
        for pod in life.newest["spec"].get("pods", ())
    }


def _found(lives: Lives, pod: str, machine: str) -> Moments:
    told = {kind: lives.of(kind).get(machine) for kind in ("request", "node")}
    node = told["node"].moments if told["node"] else {}
    request = told["request"].moments if told["request"] else {}
    of_pod = lives.of("pod")[pod].moments
    return {
        "judged": of_pod.get("judged", 0.0),
        "requested": request.get("created", 0.0),
        "made": node.get("created", 0.0),
        **{stage: node.get(stage, 0.0) for stage in ("ready", "released", "serves")},
        "bound": of_pod["bound"],
    }


def decided(log: Path, *, since: int) -> list[tuple[float, str, str]]:
    """What the reconciler has decided since this place in its log: when, about what, and why."""
    found = []
    for line in log.read_bytes()[since:].splitlines():
        said = _said(line)
        if said.get("message") == "decided":
            at = datetime.fromisoformat(said["time"]).timestamp()
            found.append((at, said["subject"], said["why"]))
    return found


def _said(line: bytes) -> dict[str, str]:
    try:
        said: dict[str, str] = json.loads(line)
    except ValueError:
        return {}
    return said


def table(pods: Sequence[Moments]) -> Iterator[str]:
    """One line per stage: percentiles since the creation, and the median of its own share."""
    yield f"  {'stage':42} {'p50':>8} {'p90':>8} {'p99':>8} {'its own':>9}"
    for stage, meaning in STAGES.items():
        since = [each[stage] for each in pods if stage in each]
        if since:
            shown = " ".join(f"{percentile(since, part) * 1000:8.0f}" for part in (50, 90, 99))
            yield f"  {meaning:42} {shown} {_own(pods, stage) * 1000:9.0f}   ms"


def _own(pods: Sequence[Mapping[str, float]], stage: str) -> float:
    """The time of the stage itself, in the median: since the one before it."""
    order = list(STAGES)
    shares = defaultdict(list)
    for each in pods:
        before = [each[other] for other in order[: order.index(stage)] if other in each]
        if stage in each:
            shares[stage].append(each[stage] - max(before, default=0.0))
    return percentile(shares[stage], 50)


def percentile(values: Sequence[float], part: int) -> float:
    """The value that this percentage of them doesn't exceed."""
    if len(values) == 1:
        return values[0]
    return quantiles(values, n=100, method="inclusive")[part - 1]
