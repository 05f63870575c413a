"""Features of a pod that the rules here don't support: they are detected and named, not ignored.

No machine is bought for such a pod, as that would be a guess. The names are in its event and in its
explanation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.scheduling import pod_volumes, selectors, storage, taints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from growth.scheduling.cluster import Cluster
    from growth.scheduling.pod import Pod
    from growth.scheduling.storage import PersistentVolumeClaim

_DEVICE_CLASS_PREFIX: Final = "deviceclass.resource.kubernetes.io/"


def unsupported(pod: Pod, cluster: Cluster) -> tuple[str, ...]:
    """The names of unsupported features; empty for almost all pods."""
    found = (*pod.unsupported_words, *_of_devices(pod, cluster), *_of_claims(pod, cluster))
    return tuple(dict.fromkeys(found)) if found else ()


def unsupported_words_of(pod: Pod) -> tuple[str, ...]:
    """Those that the pod names itself, whatever else is in the cluster."""
    return (*_of_spec(pod), *_of_operators(pod))


def _of_spec(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    for claim in spec.resource_claims:
        yield f"resource claim {claim.name} (dynamic resource allocation)"
    for group in (spec.scheduling_group, spec.workload_ref):
        if group is not None:
            yield f"scheduling group {group.group} (all pods of a group at once)"
    for kind in pod_volumes.unknown_kinds(spec.volumes):
        yield f"volume of kind {kind}"
    if spec.host_network and spec.host_users is False:
        yield "user namespaces on the host network (a feature that nodes must declare)"
    if _restarts_all_containers(pod):
        yield "restart rule RestartAllContainers (a feature that nodes must declare)"


def _restarts_all_containers(pod: Pod) -> bool:
    return any(
        rule.action == "RestartAllContainers"
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for rule in container.restart_policy_rules or ()
    )


def _of_operators(pod: Pod) -> Iterator[str]:
    for toleration in pod.spec.tolerations:
        if toleration.operator not in taints.KNOWN_OPERATORS:
            yield f"toleration operator {toleration.operator}"
    if pod.wanted_nodes.affinity is not None:
        for operator in pod.wanted_nodes.affinity.unknown_operators:
            yield f"node affinity operator {operator}"
    for selector in _pod_selectors(pod):
        for requirement in selector.requirements or ():
            if requirement.operator not in selectors.KNOWN_OPERATORS:
                yield f"label selector operator {requirement.operator}"


def _pod_selectors(pod: Pod) -> Iterator[selectors.Selector]:
    for term in (*pod.affinity_terms, *pod.anti_affinity_terms):
        yield term.selector
        yield term.namespace_selector
    for constraint in pod.spread_constraints:
        yield constraint.selector


def _of_devices(pod: Pod, cluster: Cluster) -> Iterator[str]:
    served = {each.spec.extended_resource_name for each in cluster.device_classes.values()}
    for name, amount in pod.requests.amounts.items():
        if amount > 0 and (name in served or name.startswith(_DEVICE_CLASS_PREFIX)):
            yield f"extended resource {name} (served by a device class)"


def _of_claims(pod: Pod, cluster: Cluster) -> Iterator[str]:
    for use in pod.claims:
        claim = cluster.claims.get((pod.metadata.namespace, use.name))
        if claim is not None:
            yield from _of_claim(claim, cluster)


def _of_claim(claim: PersistentVolumeClaim, cluster: Cluster) -> Iterator[str]:
    volume = cluster.volumes.get(claim.spec.volume_name)
    if volume is not None and volume.spec.migrated_kind is not None:
        yield f"persistent volume of kind {volume.spec.migrated_kind}"
    storage_class = cluster.storage_classes.get(claim.storage_class)
    if claim.is_bound or storage_class is None:
        return
    if storage_class.provisioner in storage.MIGRATED_PROVISIONERS:
        yield f"in-tree provisioner {storage_class.provisioner}"
    driver = cluster.csi_drivers.get(storage_class.provisioner)
    if driver is not None and driver.spec.storage_capacity:
        yield f"storage capacity of driver {storage_class.provisioner}"
