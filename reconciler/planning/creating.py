"""Requests that were decided on are written, again and again until the cache shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconciler.core.actions import CreateNodeRequest, Sequence, machine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from growth.api.noderequest import NodeRequest
    from reconciler.core.world import World


def creations(
    unconfirmed: Mapping[str, NodeRequest], world: World, *, purpose: Callable[[NodeRequest], str]
) -> Iterator[Sequence]:
    """The intent to buy each machine that no cache shows yet."""
    for name, request in unconfirmed.items():
        # To create it again is harmless: it has the same name, and a request that is there already
        # is answered as such and noted as growth's own write.
        if world.is_free(machine(name)):
            yield Sequence(
                subject=machine(name),
                steps=(CreateNodeRequest(request=request),),
                why=f"{request.spec.target_offering} {purpose(request)}",
            )


def for_pods(request: NodeRequest) -> str:
    """Whom a machine is bought for."""
    pods = ", ".join(f"{pod.namespace}/{pod.name}" for pod in request.spec.pods)
    # Pods that aren't there yet have no name, but their workload has.
    coming = (f"{each.pods} of {each.namespace}/{each.name}" for each in request.spec.workloads)
    return f"for {pods or ', '.join(coming) or 'no pod yet'}"
