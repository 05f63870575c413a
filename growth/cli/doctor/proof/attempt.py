"""What a proof will do, known before anything is bought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from growth.api.noderequest import FAILED
from growth.cli.cluster.looking_up import pool_named
from growth.cli.cluster.survey import surveyed
from growth.cli.doctor.proof.pod import pod_for
from growth.cli.doctor.proof.steps import ProofStep, steps_for
from growth.cli.explain.pool import blocked_or_paused
from growth.errors import GiveUp
from growth.keeping.marks import pool_of_node

if TYPE_CHECKING:
    from growth.cli.cluster.lists import Lists
    from growth.cli.cluster.survey import Survey
    from growth.cli.doctor.proof.forecast import Forecast


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """The pod of a proof, and what must happen to it."""

    pool: str
    pod: dict[str, Any]
    steps: tuple[ProofStep, ...]
    machine: str
    """The machine that would be bought, shown before it is bought."""

    @property
    def pod_name(self) -> str:
        """The pod's name with its namespace."""
        metadata = self.pod["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"

    @property
    def pods(self) -> str:
        """The path at which it is created."""
        return f"/api/v1/namespaces/{self.pod['metadata']['namespace']}/pods"


async def prepared(lists: Lists, *, pool: str, namespace: str) -> Attempt:
    """The attempt; raises if it can't succeed."""
    there = await surveyed(lists)
    chosen = pool_named(pool, there)
    if there.trouble is not None and there.trouble.stands_still:
        raise GiveUp(there.trouble.line)
    for fact in blocked_or_paused(chosen, there.now.wall):
        raise GiveUp(f"pool {pool}: {fact.text}")
    steps = steps_for(chosen, there.scene.paid_hours[pool])
    pod = pod_for(
        pool,
        name=f"growth-proof-{uuid4().hex[:8]}",
        namespace=namespace,
        nodes=_there_or_coming(pool, there),
        seconds=sum(step.seconds for step in steps),
    )
    found = await _forecast(lists, pod, there)
    return Attempt(
        pool=pool,
        pod=pod,
        steps=steps,
        machine="a machine" if found is None else found.text(there.currency),
    )


def _there_or_coming(pool: str, there: Survey) -> set[str]:
    """The pool's nodes, which the pod must not use."""
    nodes = there.scene.cluster.nodes.values()
    requests = there.scene.requests.values()
    return {node.name for node in nodes if pool_of_node(node) == pool} | {
        each.name for each in requests if each.spec.pool == pool and each.status.phase not in FAILED
    }


async def _forecast(lists: Lists, pod: dict[str, Any], there: Survey) -> Forecast | None:
    try:
        from growth.cli.doctor.proof.forecast import forecast  # noqa: PLC0415
        from growth.cli.plan.cluster import seen_by  # noqa: PLC0415 - the engine takes a moment
    except ModuleNotFoundError:
        # Where only commands are installed, the price shows when the machine is requested.
        return None
    return forecast(await seen_by(lists), pod, now=there.now)
