"""Effective requests: how much of a node one pod takes.

Containers run in parallel, init containers one after another, sidecars from their start to the end.
A pod may have requests of its own, and the runtime may add overhead. During an in-place resize the
new size is reserved, unless the node has refused it. The order of the steps is the scheduler's, and
each resource is counted separately. Everything is added up in thousandths and rounded up at the
end: two containers that request 0.1Gi request 0.2Gi together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling import resources
from growth.scheduling.resources import CPU, MEMORY, PODS, Resources

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.scheduling.containers import Container, ContainerStatus
    from growth.scheduling.pod_spec import PodSpec, PodStatus

ONE_POD: Final = Resources({PODS: 1})


def requests_when_pending(spec: PodSpec) -> Resources:
    """What a pod without a node will take: only its spec counts."""
    total = _own_total(spec)
    return _whole(_with_own_total(_of_containers(spec), spec, total=total), spec)


def requests_when_bound(spec: PodSpec, status: PodStatus) -> Resources:
    """What a bound pod takes: the maximum of what it requests, was promised and was given."""
    in_force = _as_given if _resize_is_refused(status) else _with_room_to_grow
    statuses = {
        each.name: each for each in (*status.container_statuses, *status.init_container_statuses)
    }

    def requests_of(container: Container) -> Resources:
        return in_force(_specified(container), statuses.get(container.name))

    containers = _containers_together(spec, requests_of=requests_of)
    total = in_force(_own_total(spec), status)
    return _whole(_with_own_total(containers, spec, total=total), spec)


def of_containers(spec: PodSpec) -> Resources:
    """The requests of all containers, without the pod's own requests and overhead."""
    return resources.rounded(_of_containers(spec))


def _of_containers(spec: PodSpec) -> Resources:
    return _containers_together(spec, requests_of=_specified)


def _containers_together(
    spec: PodSpec, *, requests_of: Callable[[Container], Resources]
) -> Resources:
    """The maximum of the running pod and of each moment of its start, for each resource."""
    running = resources.total(requests_of(container) for container in spec.containers)
    sidecars, widest = resources.NOTHING, resources.NOTHING
    for container in spec.init_containers:
        if container.is_sidecar:
            sidecars += requests_of(container)
            moment = sidecars
        else:
            # Only sidecars can be resized, so the status of other init containers doesn't matter.
            # An init container runs beside the sidecars that were started before it.
            moment = _specified(container) + sidecars
        widest = resources.larger(widest, moment)
    return resources.larger(running + sidecars, widest)


def _specified(container: Container) -> Resources:
    return (
        resources.parse_finely(container.resources.requests)
        if container.resources
        else resources.NOTHING
    )


def _as_given(wanted: Resources, status: ContainerStatus | PodStatus | None) -> Resources:
    if status is None or status.resources is None:
        return wanted
    given = resources.parse_finely(status.resources.requests)
    return resources.larger(given, resources.parse_finely(status.allocated_resources))


def _with_room_to_grow(wanted: Resources, status: ContainerStatus | PodStatus | None) -> Resources:
    return resources.larger(wanted, _as_given(wanted, status))


def _own_total(spec: PodSpec) -> Resources:
    return resources.parse_finely(spec.resources.requests) if spec.resources else resources.NOTHING


def _with_own_total(containers: Resources, spec: PodSpec, *, total: Resources) -> Resources:
    """The pod's own requests, where it has them, in place of the sum of its containers."""
    # The kubelet accepts pod-level requests only for these resources, so others are ignored.
    named = [name for name in _own_total(spec).amounts if _may_be_a_total(name)]
    if not named:
        return containers
    return Resources(containers.amounts | {name: total[name] for name in named})


def _may_be_a_total(name: str) -> bool:
    return name in {CPU, MEMORY} or name.startswith("hugepages-")


def _whole(requests: Resources, spec: PodSpec) -> Resources:
    """The total with the runtime's overhead, rounded up."""
    together = resources.rounded(requests + resources.parse_finely(spec.overhead))
    # A pod counts as one of the node's pods, whatever it requests of the resource "pods".
    return Resources(together.amounts | ONE_POD.amounts)


def _resize_is_refused(status: PodStatus) -> bool:
    resize = next((each for each in status.conditions if each.type == "PodResizePending"), None)
    return resize is not None and resize.reason == "Infeasible"
