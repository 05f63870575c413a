"""Pods that don't exist yet, from the templates of their owners.

The API server sets defaults when a pod is created, not in the template: a container with a limit
and no request requests its limit, and with host networking each port is a host port. The same is
done here, so that a template is judged as the pod that it will be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from growth.scheduling import requests
from growth.scheduling.containers import Container, ResourceRequirements
from growth.scheduling.metadata import Metadata, OwnerReference
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from growth.scheduling.pod_spec import PodSpec
    from growth.scheduling.workloads import PodTemplate


def pod_of(template: PodTemplate, *, name: str, namespace: str, owner: OwnerReference) -> Pod:
    """The pod that the owner would create with this name; its uid is stable."""
    metadata = Metadata(
        name=name,
        namespace=namespace,
        uid=f"{owner.uid or owner.name}/{name}",
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
        owner_references=(owner,),
    )
    return Pod(metadata, defaulted(template.spec))


def defaulted(spec: PodSpec) -> PodSpec:
    """The spec with the API server's defaults, as far as they matter for scheduling."""
    filled = msgspec.structs.replace(
        spec,
        containers=tuple(_filled(each, spec) for each in spec.containers),
        init_containers=tuple(_filled(each, spec) for each in spec.init_containers),
    )
    return _with_own_total(filled)


def _filled(container: Container, spec: PodSpec) -> Container:
    resources, ports = container.resources, container.ports
    if resources is not None and resources.limits:
        # An explicit request wins, even if it is less than the limit.
        asked = {**resources.limits, **resources.requests}
        resources = ResourceRequirements(requests=asked, limits=resources.limits)
    if ports is not None and spec.host_network:
        ports = tuple(
            msgspec.structs.replace(port, host_port=port.host_port or port.container_port)
            for port in ports
        )
    return msgspec.structs.replace(container, resources=resources, ports=ports)


def _with_own_total(spec: PodSpec) -> PodSpec:
    """The spec with a pod-level limit as the pod's request, if no container has a request."""
    own = spec.resources
    if own is None or not own.limits:
        return spec
    of_containers = requests.of_containers(spec).amounts
    limits = {name: limit for name, limit in own.limits.items() if name not in of_containers}
    total = ResourceRequirements(requests={**limits, **own.requests}, limits=own.limits)
    return msgspec.structs.replace(spec, resources=total)
