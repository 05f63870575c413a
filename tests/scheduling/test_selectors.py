from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.scheduling import selectors
from growth.scheduling.selectors import EVERYTHING, NOTHING, LabelSelector, Requirement, integer
from tests.scheduling.build import patient

KEYS = st.sampled_from(["app", "tier", "size"])
VALUES = st.sampled_from(["web", "db", "3", "10", ""])
LABELS = st.dictionaries(KEYS, VALUES)


@pytest.mark.parametrize(
    ("operator", "values", "labels", "selected"),
    [
        ("In", ("web", "db"), {"app": "web"}, True),
        ("In", ("web",), {"app": "db"}, False),
        ("In", ("web",), {}, False),
        ("In", ("",), {"app": ""}, True),
        ("NotIn", ("web",), {"app": "db"}, True),
        ("NotIn", ("web",), {"app": "web"}, False),
        ("NotIn", ("web",), {}, True),
        ("Exists", None, {"app": ""}, True),
        ("Exists", None, {}, False),
        ("DoesNotExist", None, {}, True),
        ("DoesNotExist", None, {"app": "web"}, False),
        ("Gt", ("9",), {"app": "10"}, True),
        ("Gt", ("10",), {"app": "10"}, False),
        ("Gt", ("9",), {"app": "ten"}, False),
        ("Gt", ("9",), {}, False),
        ("Lt", ("9",), {"app": "-1"}, True),
        ("Lt", ("9",), {"app": "10"}, False),
        ("Lt", ("nine",), {"app": "1"}, False),
        ("Lt", ("1", "2"), {"app": "0"}, False),
        ("Near", ("web",), {"app": "web"}, False),
    ],
)
def test_what_an_operator_selects(
    operator: str, values: tuple[str, ...] | None, labels: dict[str, str], *, selected: bool
) -> None:
    assert Requirement("app", operator, values).matches(labels) is selected


@patient
@given(LABELS)
def test_a_null_selector_selects_nothing_and_an_empty_one_everything(
    labels: dict[str, str],
) -> None:
    assert not selectors.compiled_selector(None).matches(labels)
    assert selectors.compiled_selector(LabelSelector()).matches(labels)


@patient
@given(wanted=LABELS, labels=LABELS)
def test_match_labels_selects_whoever_has_all_of_them(
    wanted: dict[str, str], labels: dict[str, str]
) -> None:
    selector = selectors.compiled_selector(LabelSelector(match_labels=wanted))
    assert selector.matches(labels) == (wanted.items() <= labels.items())


@patient
@given(key=KEYS, values=st.lists(VALUES, min_size=1, max_size=3), labels=LABELS)
def test_not_in_is_the_opposite_of_in(key: str, values: list[str], labels: dict[str, str]) -> None:
    inside = Requirement(key, "In", tuple(values)).matches(labels)
    assert Requirement(key, "NotIn", tuple(values)).matches(labels) != inside


@patient
@given(wanted=LABELS, more=LABELS, labels=LABELS)
def test_more_conditions_select_where_both_do(
    wanted: dict[str, str], more: dict[str, str], labels: dict[str, str]
) -> None:
    first, second = selectors.exactly(wanted), selectors.exactly(more)
    both = EVERYTHING.and_also(*first).and_also(*second)
    assert both.matches(labels) == (
        EVERYTHING.and_also(*first).matches(labels) and EVERYTHING.and_also(*second).matches(labels)
    )


@patient
@given(more=LABELS, labels=LABELS)
def test_more_conditions_make_something_of_nothing_never(
    more: dict[str, str], labels: dict[str, str]
) -> None:
    assert not NOTHING.and_also(*selectors.exactly(more)).matches(labels)


def test_the_same_condition_is_kept_once() -> None:
    once = EVERYTHING.and_also(*selectors.exactly({"app": "web"}))
    assert once.and_also(*selectors.exactly({"app": "web"})) == once


def test_keys_of_a_pod_stand_for_the_values_that_it_has() -> None:
    found = selectors.from_keys(("app", "tier"), {"app": "web", "size": "3"}, operator="In")
    assert found == (Requirement("app", "In", ("web",)),)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("007", 7),
        (str(2**63 - 1), 2**63 - 1),
        (str(2**63), None),
        ("", None),
        ("7.0", None),
        (" 7", None),
        ("1_0", None),
        ("\u0667", None),
    ],
)
def test_integers_are_read_as_go_reads_them(text: str, number: int | None) -> None:
    assert integer(text) == number
