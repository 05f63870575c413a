"""Mistakes that others have made, to be planted into our rules: do the cases find them?

Each is what a reasonable person could write who knows Kubernetes from its documentation, and goes
well in most clusters. A mistake takes the place of one function; everything else is the real thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from growth.scheduling.selectors import Requirement
from growth.scheduling.taints import Toleration
from tests.differential import wrong


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


MISTAKES = (
    Mistake(
        "quantities are rounded down", "parts-of-bytes", resources, "rounded", wrong.rounded_down
    ),
    Mistake(
        "each container is rounded separately",
        "parts-of-bytes",
        resources,
        "parse_finely",
        wrong.rounded_one_by_one,
    ),
    Mistake(
        "sidecars are init containers",
        "sidecars",
        requests,
        "_containers_together",
        wrong.as_before_sidecars,
    ),
    Mistake(
        "every init container runs together with all sidecars",
        "sidecars",
        requests,
        "_containers_together",
        wrong.started_beside_all_sidecars,
    ),
    Mistake(
        "init containers run together with the other containers",
        "init-containers",
        requests,
        "_containers_together",
        wrong.all_at_once,
    ),
    Mistake(
        "a pod uses what its spec says, even during a resize",
        "resized",
        requests,
        "requests_when_bound",
        wrong.as_its_spec_says,
    ),
    Mistake(
        "overhead doesn't count",
        "overhead",
        requests,
        "_whole",
        wrong.without_overhead,
    ),
    Mistake(
        "only container requests count",
        "pod-level-resources",
        requests,
        "_with_own_total",
        wrong.of_containers_only,
    ),
    Mistake(
        "a node that is overfull in one resource accepts no pod",
        "nothing-asked-on-a-full-node",
        fits,
        "shortages",
        wrong.even_of_nothing,
    ),
    Mistake(
        "finished pods use resources", "pod-count", Pod, "is_finished", property(lambda _: False)
    ),
    Mistake(
        "a toleration applies to any effect",
        "taints",
        Toleration,
        "tolerates",
        wrong.whatever_the_effect,
    ),
    Mistake(
        "a toleration matches by key only", "taints", Toleration, "tolerates", wrong.by_key_only
    ),
    Mistake(
        "terms of a node affinity are combined with AND",
        "node-affinity",
        NodeSelector,
        "matches",
        wrong.all_terms,
    ),
    Mistake(
        "NotIn requires the label",
        "absent-labels",
        Requirement,
        "matches",
        wrong.not_in_needs_the_label,
    ),
    Mistake(
        "Gt means greater or equal",
        "numeric-node-affinity",
        Requirement,
        "_compares",
        wrong.or_equal,
    ),
    Mistake(
        "host ports on different addresses never conflict",
        "host-ports",
        HostPort,
        "overlaps",
        wrong.same_port_and_address,
    ),
    Mistake(
        "TCP and UDP ports conflict",
        "host-ports",
        HostPort,
        "overlaps",
        wrong.whatever_the_protocol,
    ),
    Mistake(
        "a missing selector selects everything",
        "anti-affinity-of-others",
        selectors,
        "compiled_selector",
        wrong.null_is_everything,
    ),
    Mistake(
        "only the new pod's affinity counts",
        "anti-affinity-of-others",
        pod_affinity,
        "_is_repelled",
        wrong.no_objection,
    ),
    Mistake(
        "namespaces are selected only by name",
        "pod-affinity",
        pod_affinity,
        "_speaks_of",
        wrong.in_listed_namespaces_only,
    ),
    Mistake(
        "different pods may satisfy the terms",
        "pod-affinity",
        pod_affinity,
        "_where_all_are_meant",
        wrong.each_term_by_itself,
    ),
    Mistake(
        "terminating pods count in a spread",
        "spread-over-selected-nodes",
        spread,
        "_is_counted",
        wrong.terminating_too,
    ),
    Mistake(
        "every node is a domain",
        "spread-over-selected-nodes",
        spread,
        "_counts_as_domain",
        wrong.every_node,
    ),
    Mistake(
        "there are always enough domains",
        "spread-over-enough-domains",
        spread,
        "_crowd",
        wrong.enough_domains,
    ),
    Mistake(
        "a spread ignores the new pod",
        "topology-spread",
        spread,
        "_crowd",
        wrong.without_the_pod_itself,
    ),
    Mistake("a volume is in one zone", "volume-zones", volume_zones, "_values", wrong.one_zone),
    Mistake(
        "a storage class can provision volumes anywhere",
        "wait-for-first-consumer",
        volume_binding,
        "_can_be_made",
        wrong.made_anywhere,
    ),
    Mistake(
        "an unbound claim fits anywhere",
        "wait-for-first-consumer",
        volume_binding,
        "_promised_elsewhere",
        wrong.no_objection,
    ),
    Mistake(
        "a large enough volume fits a claim",
        "static-volumes",
        volume_binding,
        "_has_the_form",
        wrong.reserved_or_not,
    ),
    Mistake(
        "one common access mode is enough",
        "static-volumes",
        volume_binding,
        "_is_free",
        wrong.any_one_mode,
    ),
    Mistake(
        "a claim with a volume is bound",
        "unbound-claims",
        storage.PersistentVolumeClaim,
        "is_bound",
        property(wrong.named_is_bound),
    ),
    Mistake(
        "an ephemeral claim is recognised by its name",
        "ephemeral-claims",
        claims,
        "_is_made_for",
        wrong.of_any_owner,
    ),
    Mistake(
        "a claim may be shared",
        "read-write-once-pod",
        volume_conflicts,
        "_claim_in_use",
        wrong.no_objection,
    ),
    Mistake(
        "volumes without pods are detached",
        "attach-limits",
        attach_limits,
        "_attached",
        wrong.not_on_their_own,
    ),
)
