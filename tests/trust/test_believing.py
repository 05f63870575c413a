"""What growth believes of a Node: its record, and nothing that the Node says in growth's words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api import wellknown
from growth.cli.cluster.survey import survey
from growth.keeping import marks
from growth.keeping.believing import OF_PEOPLE, believed, recorded_annotations, recorded_labels
from tests.reconciler.build import START, pool, record
from tests.removal.build import node
from tests.scheduling import build
from tests.trust.build import bought, with_uid, with_words

WORDS = sorted(
    value
    for value in vars(wellknown).values()
    if isinstance(value, str) and value.startswith(wellknown.RESERVED_PREFIX)
)
TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["growth", "default", "1e999999", "-1000", "true", "2026-01-01T00:00:00Z"]),
)
LIES = st.dictionaries(st.sampled_from(WORDS), TEXTS, max_size=len(WORDS))


@build.patient
@given(labels=LIES, annotations=LIES)
def test_a_node_without_a_record_says_nothing_in_our_words(
    labels: dict[str, str], annotations: dict[str, str]
) -> None:
    foreign = with_words(
        build.node("foreign", taints=[{"key": key, "effect": "NoSchedule"} for key in WORDS]),
        labels=labels | {"team": "a"},
        annotations=annotations | {"cni": "b"},
    )
    seen = believed(foreign, None)
    ours = {
        key
        for words in (seen.labels, seen.metadata.annotations)
        for key in words
        if key.startswith(wellknown.RESERVED_PREFIX)
    }
    assert ours <= {*OF_PEOPLE, wellknown.POOL_LABEL}
    assert not marks.is_marked(seen)
    assert not marks.is_unregistered(seen)
    assert marks.pool_of_node(seen) == ""
    assert (seen.labels["team"], seen.metadata.annotations["cni"]) == ("a", "b")
    assert len(seen.spec.taints) == len(WORDS)


@build.patient
@given(labels=LIES, annotations=LIES)
def test_a_node_with_a_record_is_what_the_record_says(
    labels: dict[str, str], annotations: dict[str, str]
) -> None:
    honest = with_uid(node())
    known = bought(honest)
    seen = believed(with_words(honest, labels=labels, annotations=annotations), known)
    assert recorded_labels(known).items() <= seen.labels.items()
    assert recorded_annotations(known).items() <= seen.metadata.annotations.items()
    said = {**seen.labels, **seen.metadata.annotations}
    others = said.keys() - recorded_labels(known).keys() - recorded_annotations(known).keys()
    allowed = {*OF_PEOPLE, wellknown.CORDONED_ANNOTATION}
    assert {key for key in others if key.startswith(wellknown.RESERVED_PREFIX)} <= allowed


def test_growths_cordon_that_is_seen_before_its_record_is_not_a_persons() -> None:
    joined = with_words(with_uid(node()), annotations={wellknown.CORDONED_ANNOTATION: "Drift"})
    cordoned = msgspec.structs.replace(
        joined, spec=msgspec.structs.replace(joined.spec, unschedulable=True)
    )
    assert not marks.is_cordoned_by_a_person(believed(cordoned, bought(joined)))
    assert marks.is_cordoned_by_a_person(believed(cordoned, None))


def test_what_people_write_on_a_node_is_heard() -> None:
    kept = with_words(with_uid(node()), annotations={"growth.dev/do-not-disrupt": "true"})
    assert marks.protection(believed(kept, bought(kept))) == "annotation growth.dev/do-not-disrupt"
    assert marks.protection(believed(kept, None)) == "annotation growth.dev/do-not-disrupt"


@pytest.mark.parametrize(
    ("name", "provider_id", "uid", "is_believed"),
    [
        ("default-1", "kwok://default-1", "any", True),
        ("default-1", "", "any", True),
        ("default-1", "kwok://default-2", "any", False),
        ("default-1", "kwok://default-2", "uid-joined", True),
        ("default-2", "kwok://default-1", "any", False),
        ("default-2", "kwok://default-1", "uid-joined", False),
    ],
)
def test_a_node_is_known_by_its_name_and_id_together_and_then_by_its_uid(
    *, name: str, provider_id: str, uid: str, is_believed: bool
) -> None:
    joined: dict[str, Any] = {"node": {"name": "default-1", "uid": "uid-joined"}}
    claims = with_uid(build.node(name, providerID=provider_id), uid)
    assert (marks.pool_of_node(believed(claims, record(status=joined))) == "default") is is_believed


@pytest.mark.parametrize(
    ("node_id", "provider_id"),
    [("42", "hcloud://42"), ("i-0abc", "aws:///eu-central-1a/i-0abc"), ("kwok://a", "kwok://a")],
)
def test_the_id_is_found_in_what_each_cloud_writes(node_id: str, provider_id: str) -> None:
    joined = with_uid(build.node("default-1", providerID=provider_id))
    assert marks.pool_of_node(believed(joined, record(nodeID=node_id))) == "default"
    other = with_uid(build.node("default-1", providerID=f"{provider_id}0"))
    assert marks.pool_of_node(believed(other, record(nodeID=node_id))) == ""


def test_a_person_is_shown_what_growth_believes() -> None:
    ours, lies = with_uid(node()), with_uid(node("foreign"))
    shown = survey([pool(), bought(ours)], [ours, lies], now=START)
    assert set(shown.kept) == {"default-1"}


def test_nodes_of_a_growth_that_writes_no_records_are_shown_as_they_are_written() -> None:
    shown = survey([pool()], [with_uid(node())], now=START)
    assert set(shown.kept) == {"default-1"}


def test_a_node_that_says_nothing_of_ours_stays_the_same_object() -> None:
    plain = build.node("plain", labels={"team": "a"})
    assert believed(plain, None) is plain
