from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, Rejected, RejectionReason, verdict
from growth.scheduling.taints import untolerated
from tests.scheduling.build import HOSTNAME, ZONE, Json, cluster, node, patient, pod

if TYPE_CHECKING:
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.objects import Node, Pod
    from growth.scheduling.spread_constraints import SpreadConstraint

WEB: Json = {"app": "web"}


def evenly(key: str = ZONE, /, *, skew: int = 1, **more: Any) -> Json:
    selector = {"labelSelector": {"matchLabels": WEB}}
    required = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"}
    return required | selector | more


def web(name: str = "new", /, *constraints: Json, **more: Any) -> Pod:
    return pod(name, labels=WEB, topologySpreadConstraints=list(constraints), **more)


def in_zone(zone: str, /, **more: Any) -> Node:
    return node(zone, **{"labels": {ZONE: zone}} | more)


A, B = in_zone("a"), in_zone("b")


def test_a_pod_goes_where_its_like_are_fewest() -> None:
    world = cluster(A, B, web("one", on="a"))
    assert verdict(web("new", evenly()), B, world) == FITS
    assert verdict(web("new", evenly()), A, world) == Rejected(
        RejectionReason.TOPOLOGY_SPREAD,
        f"{ZONE}=a would have 2 matching pods, 2 more than the emptiest domain; maxSkew is 1",
    )


def test_a_larger_skew_allows_more() -> None:
    world = cluster(A, B, web("one", on="a"))
    assert verdict(web("new", evenly(skew=2)), A, world) == FITS


def test_a_wish_is_no_constraint() -> None:
    world = cluster(A, B, web("one", on="a"))
    wish = evenly(whenUnsatisfiable="ScheduleAnyway")
    assert verdict(web("new", wish), A, world) == FITS


def test_a_node_without_the_label_is_no_place_and_no_domain() -> None:
    bare = node("bare")
    world = cluster(A, bare, web("one", on="a"))
    answer = verdict(web("new", evenly()), bare, world)
    assert answer == Rejected(
        RejectionReason.TOPOLOGY_SPREAD,
        f"has a spread by {ZONE}, a label that the node doesn't have",
    )
    assert verdict(web("new", evenly()), A, world) == FITS


def test_a_node_that_lacks_one_of_several_labels_is_no_domain_of_the_others() -> None:
    racked = in_zone("a", labels={ZONE: "a", "rack": "r"})
    world = cluster(racked, B, web("one", on="a"))
    by_zone_and_rack = [evenly(), evenly("rack")]
    assert verdict(web("new", *by_zone_and_rack), racked, world) == FITS
    assert isinstance(verdict(web("new", evenly()), racked, world), Rejected)


def test_with_fewer_domains_than_wanted_the_emptiest_counts_as_zero() -> None:
    world = cluster(A, B, web("one", on="a"), web("two", on="b"))
    assert verdict(web("new", evenly()), A, world) == FITS
    assert isinstance(verdict(web("new", evenly(minDomains=3)), A, world), Rejected)
    assert verdict(web("new", evenly(minDomains=2)), A, world) == FITS


def test_nodes_that_the_pod_does_not_want_are_no_domains_unless_it_says_so() -> None:
    world = cluster(A, B, web("one", on="a"))
    choosy = {"nodeSelector": {ZONE: "a"}}
    assert verdict(web("new", evenly(), **choosy), A, world) == FITS
    indifferent = evenly(nodeAffinityPolicy="Ignore")
    assert isinstance(verdict(web("new", indifferent, **choosy), A, world), Rejected)


def test_tainted_nodes_are_domains_unless_it_says_so() -> None:
    closed = in_zone("b", taints=[{"key": "closed", "effect": "NoSchedule"}])
    world = cluster(A, closed, web("one", on="a"))
    assert isinstance(verdict(web("new", evenly()), A, world), Rejected)
    assert verdict(web("new", evenly(nodeTaintsPolicy="Honor")), A, world) == FITS


def test_pods_with_other_wishes_count_other_domains_in_the_same_snapshot() -> None:
    closed = in_zone("b", taints=[{"key": "closed", "effect": "NoSchedule"}])
    world = cluster(A, closed, web("one", on="a"))
    honoring = evenly(nodeTaintsPolicy="Honor")
    tolerant = web("tolerant", honoring, tolerations=[{"operator": "Exists"}])
    choosy = web("choosy", evenly(), nodeSelector={ZONE: "a"})
    assert verdict(web("new", honoring), A, world) == FITS
    assert isinstance(verdict(tolerant, A, world), Rejected)
    assert isinstance(verdict(web("new", evenly()), A, world), Rejected)
    assert verdict(choosy, A, world) == FITS


def test_pods_of_other_namespaces_and_those_on_their_way_out_are_not_counted() -> None:
    gone = web("gone", on="a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    elsewhere = web("elsewhere", on="a", namespace="other")
    assert verdict(web("new", evenly()), A, cluster(A, B, gone, elsewhere)) == FITS


def test_an_empty_selector_counts_nobody_but_the_pod_itself() -> None:
    world = cluster(A, B, web("one", on="a"), web("two", on="a"))
    everybody = evenly(labelSelector={})
    assert verdict(web("new", everybody), A, world) == FITS


def test_a_null_selector_counts_nobody() -> None:
    world = cluster(A, B, web("one", on="a"))
    assert verdict(web("new", evenly(labelSelector=None)), A, world) == FITS


def test_match_label_keys_count_only_pods_of_the_same_revision() -> None:
    old = pod("old", labels=WEB | {"revision": "1"}, on="a")
    new = pod(
        "new",
        labels=WEB | {"revision": "2"},
        topologySpreadConstraints=[evenly(matchLabelKeys=["revision", "absent"])],
    )
    assert verdict(new, A, cluster(A, B, old)) == FITS


def test_a_pod_that_is_not_its_own_like_adds_nothing() -> None:
    world = cluster(A, B, web("one", on="a"))
    stranger = pod("stranger", topologySpreadConstraints=[evenly()])
    assert verdict(stranger, A, world) == FITS


def test_a_node_that_joins_is_a_domain_that_the_next_pod_must_fill() -> None:
    world = cluster(A, web("one", on="a"))
    new = web("new", evenly())
    assert verdict(new, A, world) == FITS
    assert isinstance(verdict(new, A, world.with_node(B)), Rejected)
    assert verdict(new, B, world.with_node(B)) == FITS


labels = st.dictionaries(st.sampled_from([ZONE, "rack"]), st.sampled_from(["x", "y", "z"]))
constraints = st.builds(
    evenly,
    st.sampled_from([ZONE, "rack", HOSTNAME]),
    skew=st.integers(1, 2),
    minDomains=st.sampled_from([None, 1, 2, 3]),
    nodeAffinityPolicy=st.sampled_from([None, "Honor", "Ignore"]),
    nodeTaintsPolicy=st.sampled_from([None, "Honor", "Ignore"]),
    labelSelector=st.sampled_from(
        [None, {}, {"matchLabels": WEB}, {"matchExpressions": [{"key": "v", "operator": "Exists"}]}]
    ),
    matchLabelKeys=st.sampled_from([None, ["v"]]),
)
pod_labels = st.sampled_from([{}, WEB, WEB | {"v": "1"}, WEB | {"v": "2"}])
TAINTED = [{"key": "closed", "effect": "NoSchedule"}]


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    nodes = [
        node(f"n{index}", labels=draw(labels), taints=draw(st.sampled_from([[], TAINTED])))
        for index in range(draw(st.integers(1, 5)))
    ]
    pods = [
        pod(
            f"p{index}",
            labels=draw(pod_labels),
            on=draw(st.sampled_from([each.name for each in nodes])),
            namespace=draw(st.sampled_from(["shop", "shop", "other"])),
        )
        for index in range(draw(st.integers(0, 8)))
    ]
    return cluster(*nodes, *pods)


newcomers = st.builds(
    lambda labels, spread, selector: pod(
        "new", labels=labels, topologySpreadConstraints=spread, nodeSelector=selector
    ),
    pod_labels,
    st.lists(constraints, max_size=2),
    st.sampled_from([{}, {ZONE: "x"}]),
)


def is_even(new: Pod, place: Node, world: Cluster) -> bool:
    """The rule as its documentation words it, without anything clever."""
    return all(_holds(new, constraint, place, world) for constraint in new.spread_constraints)


def _holds(new: Pod, constraint: SpreadConstraint, place: Node, world: Cluster) -> bool:
    key, domains = constraint.topology_key, dict[str, int]()
    if key not in place.labels:
        return False
    for each in world.nodes.values():
        if any(other.topology_key not in each.labels for other in new.spread_constraints):
            continue
        if constraint.honors_affinity and not new.wanted_nodes.matches(each.name, each.labels):
            continue
        if constraint.honors_taints and untolerated(each.spec.taints, new.spec.tolerations):
            continue
        alike = [
            other
            for other in world.occupancy(each.name).pods
            if other.metadata.namespace == new.metadata.namespace
            and constraint.selector.matches(other.metadata.labels)
            and not constraint.selector.is_everything
        ]
        domains[each.labels[key]] = domains.get(each.labels[key], 0) + len(alike)
    least = min(domains.values(), default=0) if len(domains) >= constraint.min_domains else 0
    itself = 1 if constraint.selector.matches(new.metadata.labels) else 0
    return domains.get(place.labels[key], 0) + itself - least <= constraint.max_skew


@patient
@given(clusters(), newcomers)
def test_the_quick_rule_is_the_slow_definition(world: Cluster, new: Pod) -> None:
    for place in world.nodes.values():
        answer = verdict(new, place, world)
        refused = isinstance(answer, Rejected) and answer.reason is RejectionReason.TOPOLOGY_SPREAD
        judged_before = isinstance(answer, Rejected) and not refused
        assert judged_before or refused != is_even(new, place, world)


@patient
@given(clusters(), newcomers, labels)
def test_a_template_is_judged_as_it_will_be_when_it_has_joined(
    world: Cluster, new: Pod, of_template: Json
) -> None:
    template = node("template", labels=of_template)
    assert verdict(new, template, world) == verdict(new, template, world.with_node(template))
