"""Effective requests: how much of a node one pod takes.

Containers run side by side, init containers one after the other, sidecars from their start until
the end; a pod may name a total of its own; the runtime may add overhead. While a pod is being
resized in place, what it may grow to is kept free, unless the node has refused the resize.
The order of the steps is the scheduler's; each resource is counted by itself. All of it is added up
in thousandths and rounded up at the end: two containers that ask for 0.1Gi ask for 0.2Gi together.
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
    """What a pod will take that has no node yet: its spec alone decides."""
    total = _own_total(spec)
    return _whole(_with_own_total(_of_containers(spec), spec, total=total), spec)


def requests_when_bound(spec: PodSpec, status: PodStatus) -> Resources:
    """What a pod takes where it runs: the most of what it asks for, was promised and was given."""
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
    """What the containers ask for together, before the pod's own total and overhead."""
    return resources.rounded(_of_containers(spec))


def _of_containers(spec: PodSpec) -> Resources:
    return _containers_together(spec, requests_of=_specified)


def _containers_together(
    spec: PodSpec, *, requests_of: Callable[[Container], Resources]
) -> Resources:
    """Containers and sidecars at once, or the widest moment of the start if that is wider."""
    running = resources.total(requests_of(container) for container in spec.containers)
    sidecars, widest = resources.NOTHING, resources.NOTHING
    for container in spec.init_containers:
        if container.is_sidecar:
            sidecars += requests_of(container)
            moment = sidecars
        else:
            # A status tells of an init container that ended: only sidecars can be resized.
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
    """A pod's own total replaces the sum of its containers, for the resources it may name."""
    # Kubelets refuse a total of other resources; a request for one is the containers' own matter.
    named = [name for name in _own_total(spec).amounts if _may_be_a_total(name)]
    if not named:
        return containers
    return Resources(containers.amounts | {name: total[name] for name in named})


def _may_be_a_total(name: str) -> bool:
    return name in {CPU, MEMORY} or name.startswith("hugepages-")


def _whole(requests: Resources, spec: PodSpec) -> Resources:
    """With the runtime's overhead, and rounded."""
    together = resources.rounded(requests + resources.parse_finely(spec.overhead))
    # A pod takes one place, whatever it may say of the resource "pods" itself.
    return Resources(together.amounts | ONE_POD.amounts)


def _resize_is_refused(status: PodStatus) -> bool:
    resize = next((each for each in status.conditions if each.type == "PodResizePending"), None)
    return resize is not None and resize.reason == "Infeasible"
