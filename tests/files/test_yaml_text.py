"""YAML is read as kubectl reads it, and every value keeps its line."""

from __future__ import annotations

from textwrap import dedent

import pytest

from growth.api.yaml_text import MAXIMUM_DEPTH, BrokenText, documents


def only(text: str) -> object:
    (document,) = documents(dedent(text))
    return document.data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
        ("17", 17),
        ("-3", -3),
        ("0x1f", 31),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        ("'17'", "17"),
        ("2Gi", "2Gi"),
        ("yes", True),
        ("~", None),
        (".5.5", ".5.5"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_scalars_mean_what_they_mean_to_kubernetes(text: str, value: object) -> None:
    assert only(f"key: {text}") == {"key": value}


def test_every_value_knows_its_line_and_a_missing_one_that_of_its_parent() -> None:
    (document,) = documents("a:\n  - b: 1\n  - c: 2\n    d: {e: 3}\n")
    assert document.line_of(()) == 1
    assert document.line_of(("a", 0, "b")) == 2
    assert document.line_of(("a", 1, "d", "e")) == 4
    assert document.line_of(("a", 1, "missing", "deeper")) == 3
    assert document.line_of(("a", 7)) == 2


def test_empty_documents_are_passed_over() -> None:
    assert [document.data for document in documents("---\n---\na: 1\n---\n# nothing\n")] == [
        {"a": 1}
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a is given twice (first on line 1)"),
        ("- x\n- y: 1\n  y: 2\n", 3, "y is given twice"),
        ("ok: 1\na: ]\n", 2, "not valid YAML"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("ok: 1\nbad: \x07\n", 2, "not text"),
        ("a: !!python/object:os.system 1\n", 1, "not valid YAML"),
        ("a: &a [*a]\n", 1, "lies inside of its own anchor"),
        ("a: *nobody\n", 1, "not valid YAML"),
        ("[" * 100_000, 1, f"more than {MAXIMUM_DEPTH} levels"),
    ],
)
def test_broken_text_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(BrokenText) as refused:
        list(documents(text))
    assert said in str(refused.value)
    assert refused.value.line == line


def test_a_text_whose_aliases_multiply_costs_no_more_than_its_length() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]" for n in range(1, 30)]
    (document,) = documents("\n".join(lines))
    assert document.line_of(("a29",)) == 30


def test_lines_and_spots_are_right_behind_letters_of_more_than_one_byte() -> None:
    text = "# größer\na: 'ü'\napiVersion: growth/v1alpha1\n"
    (document,) = documents(text)
    (spot,) = document.scalars_named("apiVersion")
    assert text[spot.start_mark.index : spot.end_mark.index] == "growth/v1alpha1"
