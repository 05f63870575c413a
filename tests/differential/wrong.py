"""Functions as somebody would write them who believes what `mistakes` says beside each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth.scheduling import (
    attach_limits,
    fits,
    pod_affinity,
    requests,
    resources,
    selectors,
)
from growth.scheduling.resources import Resources, Shortage
from growth.scheduling.selectors import LabelSelector, Requirement, Selector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.containers import Container
    from growth.scheduling.node import Node
    from growth.scheduling.node_affinity import NodeSelector
    from growth.scheduling.pod import Pod
    from growth.scheduling.pod_spec import PodSpec, PodStatus
    from growth.scheduling.ports import HostPort
    from growth.scheduling.spread_constraints import SpreadConstraint
    from growth.scheduling.storage import (
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
    )
    from growth.scheduling.taints import Taint, Toleration

    Asked = Callable[[Container], Resources]


def no_objection(*_: object) -> None: ...


# How much a pod takes.


def rounded_down(finely: Resources) -> Resources:
    return Resources(
        {
            name: amount if name == resources.CPU else amount // 1000
            for name, amount in finely.amounts.items()
        }
    )


def rounded_one_by_one(amounts: Mapping[str, str]) -> Resources:
    return Resources(
        {
            name: amount if name == resources.CPU else amount * 1000
            for name, amount in resources.parse_resources(amounts).amounts.items()
        }
    )


def as_before_sidecars(spec: PodSpec, *, requests_of: Asked) -> Resources:
    widest = resources.NOTHING
    for container in spec.init_containers:
        widest = resources.larger(widest, requests_of(container))
    return resources.larger(resources.total(map(requests_of, spec.containers)), widest)


def started_beside_all_sidecars(spec: PodSpec, *, requests_of: Asked) -> Resources:
    sidecars = resources.total(
        requests_of(each) for each in spec.init_containers if each.is_sidecar
    )
    widest = resources.total(map(requests_of, spec.containers))
    for container in spec.init_containers:
        if not container.is_sidecar:
            widest = resources.larger(widest, requests_of(container))
    return widest + sidecars


def all_at_once(spec: PodSpec, *, requests_of: Asked) -> Resources:
    return resources.total(map(requests_of, (*spec.init_containers, *spec.containers)))


def as_its_spec_says(spec: PodSpec, _: PodStatus) -> Resources:
    return requests.requests_when_pending(spec)


def without_overhead(asked: Resources, _: PodSpec) -> Resources:
    return Resources(resources.rounded(asked).amounts | requests.ONE_POD.amounts)


def of_containers_only(containers: Resources, _: PodSpec, *, total: Resources) -> Resources:
    del total
    return containers


def even_of_nothing(
    wanted: Resources, *, have: Resources, taken: Resources
) -> tuple[Shortage, ...]:
    left = have - taken
    return tuple(
        Shortage(name, amount, left[name])
        for name, amount in wanted.amounts.items()
        if amount > left[name]
    )


# Which nodes a pod accepts, and which accept it.


def whatever_the_effect(self: Toleration, taint: Taint) -> bool:
    if self.key not in {"", taint.key}:
        return False
    return self.operator == "Exists" or self.value == taint.value


def by_key_only(self: Toleration, taint: Taint) -> bool:
    return self.key == taint.key and self.effect in {"", taint.effect}


def all_terms(self: NodeSelector, name: str, labels: Mapping[str, str]) -> bool:
    return all(term.matches(name, labels) for term in self.node_selector_terms or ())


_matches = Requirement.matches


def not_in_needs_the_label(self: Requirement, labels: Mapping[str, str]) -> bool:
    return _matches(self, labels) and (self.operator != "NotIn" or self.key in labels)


def or_equal(self: Requirement, value: str | None) -> bool:
    have, limit = selectors.integer(value or ""), selectors.integer((self.values or ("",))[0])
    if have is None or limit is None:
        return False
    return have >= limit if self.operator == "Gt" else have <= limit


def same_port_and_address(self: HostPort, other: HostPort) -> bool:
    return self == other


def whatever_the_protocol(self: HostPort, other: HostPort) -> bool:
    addresses = {self.address, other.address}
    return self.port == other.port and (len(addresses) == 1 or "0.0.0.0" in addresses)


# Pods and their neighbours.


def null_is_everything(selector: LabelSelector | None) -> Selector:
    selector = selector or LabelSelector()
    labels = selectors.exactly(selector.match_labels or {})
    return Selector((*labels, *(selector.match_expressions or ())))


def in_listed_namespaces_only(term: Term, namespace: str, _: Cluster) -> bool:
    return namespace in term.namespaces


def each_term_by_itself(terms: tuple[Term, ...], cluster: Cluster) -> pod_affinity.Found:
    return pod_affinity._where_any_is_meant(terms, cluster)


def terminating_too(other: Pod, constraint: SpreadConstraint) -> bool:
    return constraint.selector.matches(other.metadata.labels)


def every_node(_pod: Pod, _constraint: SpreadConstraint, _node: Node) -> bool:
    return True


def enough_domains(
    pod: Pod, constraint: SpreadConstraint, *, counts: Mapping[str, int], domain: str
) -> fits.Rejected | None:
    least = min(counts.values(), default=0)
    there = counts.get(domain, 0) + constraint.selector.matches(pod.metadata.labels)
    is_even = there - least <= constraint.max_skew
    return None if is_even else fits.Rejected(fits.RejectionReason.TOPOLOGY_SPREAD, "crowded")


def without_the_pod_itself(
    _: Pod, constraint: SpreadConstraint, *, counts: Mapping[str, int], domain: str
) -> fits.Rejected | None:
    least = min(counts.values()) if len(counts) >= constraint.min_domains else 0
    is_even = counts.get(domain, 0) - least < constraint.max_skew
    return None if is_even else fits.Rejected(fits.RejectionReason.TOPOLOGY_SPREAD, "crowded")


# Volumes.


def one_zone(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def made_anywhere(claim: PersistentVolumeClaim, _: Node, cluster: Cluster) -> bool:
    storage_class: StorageClass = cluster.storage_classes[claim.storage_class]
    return storage_class.can_provision


def reserved_or_not(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return volume.size >= claim.size


def any_one_mode(volume: PersistentVolume, claim: PersistentVolumeClaim, node: Node) -> bool:
    shared = set(claim.spec.access_modes) & set(volume.spec.access_modes)
    return bool(shared) and volume.is_reachable_from(node.labels)


def named_is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name)


def of_any_owner(_pod: Pod, _claim: PersistentVolumeClaim) -> bool:
    return True


def not_on_their_own(_node: Node, _cluster: Cluster) -> tuple[attach_limits.Attached, ...]:
    return ()
