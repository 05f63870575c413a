"""Pods that don't exist yet, from the templates of their owners.

The API server fills in a pod when it is created, not the template: what has a limit and no request
asks for its limit, and every port of a pod on the host's network is a host port. A template is
judged as the pod that it will be, so the same is done here.
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
    """The pod of this name that the owner would make. Its uid is made of names, so it is stable."""
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
    """The spec as the API server would store it in a pod, in what matters for placing it."""
    filled = msgspec.structs.replace(
        spec,
        containers=tuple(_filled(each, spec) for each in spec.containers),
        init_containers=tuple(_filled(each, spec) for each in spec.init_containers),
    )
    return _with_own_total(filled)


def _filled(container: Container, spec: PodSpec) -> Container:
    resources, ports = container.resources, container.ports
    if resources is not None and resources.limits:
        # A request that is written down wins, also where it is less than the limit.
        asked = {**resources.limits, **resources.requests}
        resources = ResourceRequirements(requests=asked, limits=resources.limits)
    if ports is not None and spec.host_network:
        ports = tuple(
            msgspec.structs.replace(port, host_port=port.host_port or port.container_port)
            for port in ports
        )
    return msgspec.structs.replace(container, resources=resources, ports=ports)


def _with_own_total(spec: PodSpec) -> PodSpec:
    """A limit for the whole pod asks for as much, where no container asks for any."""
    own = spec.resources
    if own is None or not own.limits:
        return spec
    of_containers = requests.of_containers(spec).amounts
    limits = {name: limit for name, limit in own.limits.items() if name not in of_containers}
    total = ResourceRequirements(requests={**limits, **own.requests}, limits=own.limits)
    return msgspec.structs.replace(spec, resources=total)
