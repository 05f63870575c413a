"""Mistakes that others have made, to be planted into our rules: do the cases find them?

Each is what a reasonable person could write who knows Kubernetes from its documentation, and goes
well in most clusters. A mistake takes the place of one function; everything else is the real thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from growth.scheduling import (
    attach_limits,
    claims,
    fits,
    pod_affinity,
    requests,
    resources,
    selectors,
    spread,
    storage,
    volume_binding,
    volume_conflicts,
    volume_zones,
)
from growth.scheduling.node_affinity import NodeSelector
from growth.scheduling.pod import Pod
from growth.scheduling.ports import HostPort
from growth.scheduling.resources import Resources, Shortage
from growth.scheduling.selectors import LabelSelector, Requirement, Selector
from growth.scheduling.taints import Toleration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.containers import Container
    from growth.scheduling.node import Node
    from growth.scheduling.pod_spec import PodSpec, PodStatus
    from growth.scheduling.spread_constraints import SpreadConstraint
    from growth.scheduling.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
    from growth.scheduling.taints import Taint

    Asked = Callable[[Container], Resources]


@dataclass(frozen=True)
class Mistake:
    """What somebody believes, and the function that they would write."""

    belief: str
    constraint: str
    """The cases that are made for it."""
    place: Any
    """The module or class whose function it replaces."""
    name: str
    wrong: Any


def _no_objection(*_: object) -> None: ...


# How much a pod takes.


def _rounded_down(finely: Resources) -> Resources:
    return Resources(
        {
            name: amount if name == resources.CPU else amount // 1000
            for name, amount in finely.amounts.items()
        }
    )


def _rounded_one_by_one(amounts: Mapping[str, str]) -> Resources:
    return Resources(
        {
            name: amount if name == resources.CPU else amount * 1000
            for name, amount in resources.parse(amounts).amounts.items()
        }
    )


def _as_before_sidecars(spec: PodSpec, *, requests_of: Asked) -> Resources:
    widest = resources.NOTHING
    for container in spec.init_containers:
        widest = resources.larger(widest, requests_of(container))
    return resources.larger(resources.total(map(requests_of, spec.containers)), widest)


def _started_beside_all_sidecars(spec: PodSpec, *, requests_of: Asked) -> Resources:
    sidecars = resources.total(
        requests_of(each) for each in spec.init_containers if each.is_sidecar
    )
    widest = resources.total(map(requests_of, spec.containers))
    for container in spec.init_containers:
        if not container.is_sidecar:
            widest = resources.larger(widest, requests_of(container))
    return widest + sidecars


def _all_at_once(spec: PodSpec, *, requests_of: Asked) -> Resources:
    return resources.total(map(requests_of, (*spec.init_containers, *spec.containers)))


def _as_its_spec_says(spec: PodSpec, _: PodStatus) -> Resources:
    return requests.pending(spec)


def _without_overhead(asked: Resources, _: PodSpec) -> Resources:
    return Resources(resources.rounded(asked).amounts | requests.ONE_POD.amounts)


def _of_containers_only(containers: Resources, _: PodSpec, *, total: Resources) -> Resources:
    del total
    return containers


def _even_of_nothing(
    wanted: Resources, *, have: Resources, taken: Resources
) -> tuple[Shortage, ...]:
    left = have - taken
    return tuple(
        Shortage(name, amount, left[name])
        for name, amount in wanted.amounts.items()
        if amount > left[name]
    )


# Which nodes a pod accepts, and which accept it.


def _whatever_the_effect(self: Toleration, taint: Taint) -> bool:
    if self.key not in {"", taint.key}:
        return False
    return self.operator == "Exists" or self.value == taint.value


def _by_key_only(self: Toleration, taint: Taint) -> bool:
    return self.key == taint.key and self.effect in {"", taint.effect}


def _all_terms(self: NodeSelector, name: str, labels: Mapping[str, str]) -> bool:
    return all(term.matches(name, labels) for term in self.node_selector_terms or ())


_matches = Requirement.matches


def _not_in_needs_the_label(self: Requirement, labels: Mapping[str, str]) -> bool:
    return _matches(self, labels) and (self.operator != "NotIn" or self.key in labels)


def _or_equal(self: Requirement, value: str | None) -> bool:
    have, limit = selectors.integer(value or ""), selectors.integer((self.values or ("",))[0])
    if have is None or limit is None:
        return False
    return have >= limit if self.operator == "Gt" else have <= limit


def _same_port_and_address(self: HostPort, other: HostPort) -> bool:
    return self == other


def _whatever_the_protocol(self: HostPort, other: HostPort) -> bool:
    addresses = {self.address, other.address}
    return self.port == other.port and (len(addresses) == 1 or "0.0.0.0" in addresses)


# Pods and their neighbours.


def _null_is_everything(selector: LabelSelector | None) -> Selector:
    selector = selector or LabelSelector()
    labels = selectors.exactly(selector.match_labels or {})
    return Selector((*labels, *(selector.match_expressions or ())))


def _in_listed_namespaces_only(term: Term, namespace: str, _: Cluster) -> bool:
    return namespace in term.namespaces


def _each_term_by_itself(terms: tuple[Term, ...], cluster: Cluster) -> pod_affinity.Found:
    return pod_affinity._where_any_is_meant(terms, cluster)


def _terminating_too(other: Pod, constraint: SpreadConstraint) -> bool:
    return constraint.selector.matches(other.metadata.labels)


def _every_node(_pod: Pod, _constraint: SpreadConstraint, _node: Node) -> bool:
    return True


def _enough_domains(
    pod: Pod, constraint: SpreadConstraint, *, counts: Mapping[str, int], domain: str
) -> fits.Rejected | None:
    least = min(counts.values(), default=0)
    there = counts.get(domain, 0) + constraint.selector.matches(pod.metadata.labels)
    is_even = there - least <= constraint.max_skew
    return None if is_even else fits.Rejected(fits.Reason.TOPOLOGY_SPREAD, "crowded")


def _without_the_pod_itself(
    _: Pod, constraint: SpreadConstraint, *, counts: Mapping[str, int], domain: str
) -> fits.Rejected | None:
    least = min(counts.values()) if len(counts) >= constraint.min_domains else 0
    is_even = counts.get(domain, 0) - least < constraint.max_skew
    return None if is_even else fits.Rejected(fits.Reason.TOPOLOGY_SPREAD, "crowded")


# Volumes.


def _one_zone(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def _made_anywhere(claim: PersistentVolumeClaim, _: Node, cluster: Cluster) -> bool:
    storage_class: StorageClass = cluster.storage_classes[claim.storage_class]
    return storage_class.can_provision


def _reserved_or_not(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    return volume.size >= claim.size


def _any_one_mode(volume: PersistentVolume, claim: PersistentVolumeClaim, node: Node) -> bool:
    shared = set(claim.spec.access_modes) & set(volume.spec.access_modes)
    return bool(shared) and volume.is_reachable_from(node.labels)


def _named_is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name)


def _of_any_owner(_pod: Pod, _claim: PersistentVolumeClaim) -> bool:
    return True


def _not_on_their_own(_node: Node, _cluster: Cluster) -> tuple[attach_limits.Attached, ...]:
    return ()


MISTAKES = (
    Mistake("half a byte is nothing", "parts-of-bytes", resources, "rounded", _rounded_down),
    Mistake(
        "containers are rounded one by one",
        "parts-of-bytes",
        resources,
        "parse_finely",
        _rounded_one_by_one,
    ),
    Mistake(
        "sidecars are init containers",
        "sidecars",
        requests,
        "_containers_together",
        _as_before_sidecars,
    ),
    Mistake(
        "every init container runs beside all sidecars",
        "sidecars",
        requests,
        "_containers_together",
        _started_beside_all_sidecars,
    ),
    Mistake(
        "init containers run with the others",
        "init-containers",
        requests,
        "_containers_together",
        _all_at_once,
    ),
    Mistake("a pod takes what its spec says", "resized", requests, "bound", _as_its_spec_says),
    Mistake(
        "overhead is the runtime's own matter", "overhead", requests, "_whole", _without_overhead
    ),
    Mistake(
        "a pod asks by its containers",
        "pod-level-resources",
        requests,
        "_with_own_total",
        _of_containers_only,
    ),
    Mistake(
        "an overfull node takes nobody",
        "nothing-asked-on-a-full-node",
        fits,
        "shortages",
        _even_of_nothing,
    ),
    Mistake(
        "pods that ended take room", "pod-count", Pod, "is_finished", property(lambda _: False)
    ),
    Mistake(
        "a toleration counts for any effect",
        "taints",
        Toleration,
        "tolerates",
        _whatever_the_effect,
    ),
    Mistake("a toleration needs a key only", "taints", Toleration, "tolerates", _by_key_only),
    Mistake(
        "terms of a node affinity add up", "node-affinity", NodeSelector, "matches", _all_terms
    ),
    Mistake(
        "NotIn needs the label", "absent-labels", Requirement, "matches", _not_in_needs_the_label
    ),
    Mistake("Gt is greater or equal", "numeric-node-affinity", Requirement, "_compares", _or_equal),
    Mistake(
        "addresses of ports are what they are",
        "host-ports",
        HostPort,
        "overlaps",
        _same_port_and_address,
    ),
    Mistake("TCP and UDP share ports", "host-ports", HostPort, "overlaps", _whatever_the_protocol),
    Mistake(
        "a selector that is absent selects all",
        "anti-affinity-of-others",
        selectors,
        "compiled",
        _null_is_everything,
    ),
    Mistake(
        "only the new pod's affinity counts",
        "anti-affinity-of-others",
        pod_affinity,
        "_is_repelled",
        _no_objection,
    ),
    Mistake(
        "namespaces are listed by name",
        "pod-affinity",
        pod_affinity,
        "_speaks_of",
        _in_listed_namespaces_only,
    ),
    Mistake(
        "two pods may share the terms",
        "pod-affinity",
        pod_affinity,
        "_where_all_are_meant",
        _each_term_by_itself,
    ),
    Mistake(
        "pods on their way out count in a spread",
        "spread-over-selected-nodes",
        spread,
        "_is_counted",
        _terminating_too,
    ),
    Mistake(
        "every node is a domain",
        "spread-over-selected-nodes",
        spread,
        "_counts_as_domain",
        _every_node,
    ),
    Mistake(
        "there are always enough domains",
        "spread-over-enough-domains",
        spread,
        "_crowd",
        _enough_domains,
    ),
    Mistake(
        "a spread counts who is there", "topology-spread", spread, "_crowd", _without_the_pod_itself
    ),
    Mistake("a volume is in one zone", "volume-zones", volume_zones, "_values", _one_zone),
    Mistake(
        "a class makes volumes anywhere",
        "wait-for-first-consumer",
        volume_binding,
        "_can_be_made",
        _made_anywhere,
    ),
    Mistake(
        "a claim that waits may go anywhere",
        "wait-for-first-consumer",
        volume_binding,
        "_promised_elsewhere",
        _no_objection,
    ),
    Mistake(
        "a large volume serves a claim",
        "static-volumes",
        volume_binding,
        "_has_the_form",
        _reserved_or_not,
    ),
    Mistake(
        "one common access mode will do",
        "static-volumes",
        volume_binding,
        "_is_free",
        _any_one_mode,
    ),
    Mistake(
        "a claim with a volume is bound",
        "unbound-claims",
        storage.PersistentVolumeClaim,
        "is_bound",
        property(_named_is_bound),
    ),
    Mistake(
        "a claim of this name is the pod's",
        "ephemeral-claims",
        claims,
        "_is_made_for",
        _of_any_owner,
    ),
    Mistake(
        "a claim may be shared",
        "read-write-once-pod",
        volume_conflicts,
        "_claim_in_use",
        _no_objection,
    ),
    Mistake(
        "volumes without pods are detached",
        "attach-limits",
        attach_limits,
        "_attached",
        _not_on_their_own,
    ),
)
