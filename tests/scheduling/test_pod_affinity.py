from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling.fits import FITS, Rejected, RejectionReason, verdict
from tests.scheduling.build import HOSTNAME, ZONE, Json, cluster, namespace, node, patient, pod

if TYPE_CHECKING:
    from growth.scheduling.affinity_terms import Term
    from growth.scheduling.cluster import Cluster
    from growth.scheduling.objects import Node, Pod

DB: Json = {"app": "db"}
WEB: Json = {"app": "web"}


def term(labels: Json | None = None, /, *, key: str = ZONE, **more: Any) -> Json:
    selector = {"labelSelector": {"matchLabels": DB if labels is None else labels}}
    return {"topologyKey": key} | selector | more


def near(*terms: Json) -> Json:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def away(*terms: Json) -> Json:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


A = node("a", labels={ZONE: "za"})
A2 = node("a2", labels={ZONE: "za"})
B = node("b", labels={ZONE: "zb"})
BARE = node("bare")
NODES = (A, A2, B, BARE)


def fits(new: Pod, world: Cluster) -> str:
    return " ".join(each.name for each in NODES if verdict(new, each, world) == FITS)


def test_a_pod_goes_near_the_pods_it_names() -> None:
    world = cluster(*NODES, pod("db", labels=DB, on="a"))
    assert fits(pod(affinity=near(term())), world) == "a a2"
    assert fits(pod(affinity=near(term(key=HOSTNAME))), world) == "a"
    assert verdict(pod(affinity=near(term())), B, world) == Rejected(
        RejectionReason.POD_AFFINITY, f"has pod affinity, and no matching pod is in {ZONE}=zb"
    )


def test_a_pod_stays_away_from_the_pods_it_names() -> None:
    world = cluster(*NODES, pod("db", labels=DB, on="a"))
    assert fits(pod(affinity=away(term())), world) == "b bare"
    assert verdict(pod(affinity=away(term())), A2, world) == Rejected(
        RejectionReason.POD_ANTI_AFFINITY, f"has anti-affinity to shop/db, which is in {ZONE}=za"
    )


def test_a_pod_is_kept_away_by_pods_that_name_it() -> None:
    world = cluster(*NODES, pod("db", on="a", affinity=away(term(WEB))))
    assert fits(pod(labels=WEB), world) == "b bare"
    assert fits(pod(labels=DB), world) == "a a2 b bare"
    assert verdict(pod(labels=WEB), A, world) == Rejected(
        RejectionReason.REPELLED, f"shop/db, which is in {ZONE}=za, has anti-affinity to it"
    )


def test_every_term_must_find_the_same_pod() -> None:
    both = near(term(DB), term(WEB, key=HOSTNAME))
    apart = cluster(*NODES, pod("one", labels=DB, on="a"), pod("two", labels=WEB, on="a"))
    assert fits(pod(affinity=both), apart) == ""
    tiered = near(term(DB), term({"tier": "1"}, key=HOSTNAME))
    together = cluster(*NODES, pod("one", labels=DB | {"tier": "1"}, on="a"))
    assert fits(pod(affinity=tiered), together) == "a"


def test_the_first_pod_of_its_own_group_needs_no_company() -> None:
    own = near(term(WEB))
    assert fits(pod(labels=WEB, affinity=own), cluster(*NODES)) == "a a2 b"
    assert fits(pod(labels=DB, affinity=own), cluster(*NODES)) == ""


def test_the_second_pod_of_its_own_group_needs_the_first() -> None:
    world = cluster(*NODES, pod("first", labels=WEB, on="b"))
    assert fits(pod("second", labels=WEB, affinity=near(term(WEB))), world) == "b"


def test_company_on_nodes_without_the_label_is_no_company() -> None:
    world = cluster(*NODES, pod("first", labels=WEB, on="bare"))
    assert fits(pod("second", labels=WEB, affinity=near(term(WEB))), world) == "a a2 b"


def test_company_that_is_being_deleted_counts_until_it_is_gone() -> None:
    leaving = pod("db", labels=DB, on="a", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert fits(pod(affinity=away(term())), cluster(*NODES, leaving)) == "b bare"


def test_pods_of_nodes_that_do_not_exist_play_no_part() -> None:
    world = cluster(B, pod("db", labels=DB, on="a"))
    assert fits(pod(affinity=away(term())), world) == "a a2 b bare"


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        pytest.param({}, {"shop"}, id="by default its own namespace"),
        pytest.param({"namespaces": ["bank"]}, {"bank"}, id="named ones"),
        pytest.param({"namespaceSelector": {}}, {"shop", "bank", "void"}, id="an empty selector"),
        pytest.param(
            {"namespaceSelector": {"matchLabels": {"pci": "yes"}}}, {"bank"}, id="a selector"
        ),
        pytest.param(
            {"namespaces": ["shop"], "namespaceSelector": {"matchLabels": {"pci": "yes"}}},
            {"shop", "bank"},
            id="both",
        ),
        pytest.param({"namespaces": [], "namespaceSelector": None}, {"shop"}, id="neither"),
        pytest.param(
            {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "pci", "operator": "DoesNotExist"}]
                }
            },
            {"shop"},
            id="a selector finds only namespaces that are known",
        ),
    ],
)
def test_namespaces_of_a_term(scope: Json, seen: set[str]) -> None:
    known = (namespace("shop"), namespace("bank", pci="yes"))
    new = pod(affinity=away(term(**scope)))
    found = {
        name
        for name in ("shop", "bank", "void")
        if fits(new, cluster(*NODES, *known, pod("db", labels=DB, namespace=name, on="a")))
        == "b bare"
    }
    assert found == seen


@pytest.mark.parametrize(
    ("scope", "kept_away"),
    [
        ({}, False),
        ({"namespaces": ["shop"]}, True),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"pci": "yes"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"pci": "no"}}}, False),
    ],
)
def test_namespaces_of_a_term_of_a_pod_that_is_there(scope: Json, *, kept_away: bool) -> None:
    there = pod("db", namespace="bank", on="a", affinity=away(term(WEB, **scope)))
    world = cluster(*NODES, namespace("shop", pci="yes"), there)
    assert fits(pod(labels=WEB), world) == ("b bare" if kept_away else "a a2 b bare")


def test_a_null_selector_means_no_pod_and_an_empty_one_every_pod() -> None:
    world = cluster(*NODES, pod("db", labels=DB, on="a"))
    assert fits(pod(affinity=away(term(labelSelector=None))), world) == "a a2 b bare"
    assert fits(pod(affinity=away(term(labelSelector={}))), world) == "b bare"


def test_label_keys_stand_for_the_pods_own_values() -> None:
    other = pod("old", labels=WEB | {"revision": "1"}, on="a")
    same = pod("new", labels=WEB | {"revision": "2"}, on="b")
    world = cluster(*NODES, other, same)
    mine = WEB | {"revision": "2"}
    same_revision = away(term(WEB, matchLabelKeys=["revision"]))
    other_revisions = away(term(WEB, mismatchLabelKeys=["revision"]))
    assert fits(pod(labels=mine, affinity=same_revision), world) == "a a2 bare"
    assert fits(pod(labels=mine, affinity=other_revisions), world) == "b bare"


def test_label_keys_that_the_api_server_wrote_down_are_not_read_again() -> None:
    written = [{"key": "revision", "operator": "In", "values": ["1"]}]
    selector = {"matchLabels": WEB, "matchExpressions": written}
    relabelled = pod(
        labels=WEB | {"revision": "2"},
        affinity=away(term(labelSelector=selector, matchLabelKeys=["revision"])),
    )
    world = cluster(*NODES, pod("old", labels=WEB | {"revision": "1"}, on="a"))
    assert fits(relabelled, world) == "b bare"


def test_a_pod_does_not_keep_itself_away_from_where_it_is_nominated() -> None:
    nominated = pod(labels=WEB, affinity=away(term(WEB)), status={"nominatedNodeName": "a"})
    assert verdict(nominated, A, cluster(*NODES, nominated)) == FITS


selectors = st.sampled_from([None, {}, {"matchLabels": WEB}, {"matchLabels": DB}])
scopes = st.sampled_from(
    [
        {},
        {"namespaces": ["bank"]},
        {"namespaceSelector": {}},
        {"namespaceSelector": {"matchLabels": {"pci": "yes"}}},
    ]
)
terms = st.lists(
    st.builds(
        lambda key, selector, scope: term(key=key, labelSelector=selector, **scope),
        st.sampled_from([ZONE, HOSTNAME]),
        selectors,
        scopes,
    ),
    max_size=2,
)
affinities = st.builds(lambda close, far: near(*close) | away(*far), terms, terms)


@st.composite
def pods(draw: st.DrawFn, *, on: st.SearchStrategy[str]) -> Pod:
    return pod(
        labels=draw(st.sampled_from([{}, WEB, DB])),
        namespace=draw(st.sampled_from(["shop", "bank"])),
        affinity=draw(affinities),
        on=draw(on),
    )


def allowed(new: Pod, place: Node, world: Cluster) -> bool:
    """The three rules as they are documented: each pod is compared with each other pod."""
    others = [
        (other, world.nodes[name]) for name in world.nodes for other in world.occupancy(name).pods
    ]

    def means(own: Term, other: Pod) -> bool:
        known = world.namespaces[other.metadata.namespace].metadata.labels
        return own.means(other.metadata, known)

    def shares(own: Term, there: Node) -> bool:
        key = own.topology_key
        return key in place.labels and there.labels.get(key) == place.labels[key]

    avoided = any(
        means(own, other) and shares(own, there)
        for own in new.anti_affinity_terms
        for other, there in others
    )
    repelled = any(
        means(own, new) and shares(own, there)
        for other, there in others
        for own in other.anti_affinity_terms
    )
    wanted = [
        (other, there)
        for other, there in others
        if all(means(own, other) for own in new.affinity_terms)
    ]
    near_all = all(any(shares(own, there) for _, there in wanted) for own in new.affinity_terms)
    labelled = all(own.topology_key in place.labels for own in new.affinity_terms)
    findable = any(
        own.topology_key in there.labels for _, there in wanted for own in new.affinity_terms
    )
    first = not findable and all(means(own, new) for own in new.affinity_terms)
    return not avoided and not repelled and labelled and (near_all or first)


@patient
@given(
    st.lists(pods(on=st.sampled_from(["a", "a2", "b", "bare"])), max_size=6), pods(on=st.just(""))
)
def test_the_quick_rules_are_the_slow_definition(others: list[Pod], new: Pod) -> None:
    known = (namespace("shop"), namespace("bank", pci="yes"))
    world = cluster(*NODES, *known, *others)
    for place in NODES:
        assert (verdict(new, place, world) == FITS) == allowed(new, place, world)


@patient
@given(st.lists(pods(on=st.sampled_from(["a", "b"])), max_size=6), pods(on=st.just("")))
def test_a_template_is_judged_as_it_will_be_when_it_has_joined(others: list[Pod], new: Pod) -> None:
    world = cluster(A, B, namespace("shop"), namespace("bank", pci="yes"), *others)
    for template in (A2, BARE):
        assert verdict(new, template, world) == verdict(new, template, world.with_node(template))
