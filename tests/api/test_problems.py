"""Files are read strictly, processes leniently, and every mistake has a place and a cure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.kinds import KINDS
from growth.api.meta import CustomResource
from growth.api.nodepool import NodePool
from growth.api.problems import DocumentProblem, read_strictly
from tests.api.cases import CASES, POOL, REQUEST, Document, named, spec, types


def problems(document: Document) -> tuple[DocumentProblem, ...]:
    found = read_strictly(document)
    assert isinstance(found, tuple), found
    return found


def test_a_process_ignores_what_a_newer_version_added() -> None:
    document = spec(POOL, serverTypes=[{"name": "cx33", "max": 1, "spot": True}], shiny={"a": 1})

    pool = NodePool.model_validate(document)

    assert pool.spec.server_types[0].max == 1


def test_a_file_is_refused_for_each_unknown_field_at_every_depth() -> None:
    document = spec(POOL, serverTypes=[{"name": "cx33", "max": 1, "maxx": 2}], shiny={"a": 1})

    texts = [str(problem) for problem in problems(document | {"extra": 1})]

    assert texts == [
        "spec.serverTypes[0].maxx: unknown field; did you mean max?",
        "spec.shiny: unknown field",
        "extra: unknown field; known: apiVersion, metadata, kind, spec, status",
    ]


def test_names_of_python_are_no_names_of_fields() -> None:
    (problem, *_) = problems(POOL | {"spec": {"server_types": [{"name": "cx33", "max": 1}]}})

    assert str(problem) == "spec.serverTypes: Required value"


def test_a_duplicate_tells_both_places() -> None:
    (problem,) = problems(types(("cax21", {}), ("cx33", {}), ("CAX21", {})))

    assert problem.path == ("spec", "serverTypes", 2)
    assert problem.related == ("spec", "serverTypes", 0)


def test_a_taint_in_both_lists_tells_both_places() -> None:
    taint = {"key": "team", "effect": "NoSchedule"}

    (problem,) = problems(spec(POOL, taints=[taint], startupTaints=[taint]))

    assert problem.path == ("spec", "startupTaints", 0)
    assert problem.related == ("spec", "taints", 0)


def test_a_list_with_a_wrong_entry_is_not_called_too_short_as_well() -> None:
    (problem,) = problems(spec(POOL, serverTypes=[{"name": "cx33"}]))

    assert str(problem) == "spec.serverTypes[0].max: Required value"


def test_what_is_null_is_what_is_left_out() -> None:
    pool = read_strictly(
        spec(POOL) | {"spec": POOL["spec"] | {"nodeClassRef": None, "weight": None}}
    )

    assert isinstance(pool, NodePool)
    assert pool.spec.weight == 0


def test_metadata_of_an_exported_object_is_no_mistake() -> None:
    metadata = {"name": "default", "uid": "1", "managedFields": [{"manager": "kubectl"}]}

    assert isinstance(read_strictly(POOL | {"metadata": metadata}), NodePool)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"kind": "NodePol"}, 'group growth.dev has no kind "NodePol": did you mean NodePool?'),
        ({"kind": "Pod"}, 'group growth.dev has no kind "Pod": it has NodePool, NodeRequest, '),
        ({}, "Required value"),
        ({"kind": ["NodePool"]}, "Required value"),
        (POOL | {"apiVersion": "growth.dev/v2"}, "must be growth.dev/v1alpha1"),
        (POOL | {"metadata": "default"}, 'must be of type object: "string"'),
        (POOL | {"spec": None}, "Required value"),
        (named(POOL, ""), "metadata.name must be a DNS label"),
    ],
)
def test_a_document_that_is_no_object_of_ours_is_told_why(document: Any, text: str) -> None:
    assert any(text in problem.text for problem in problems(document))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"limits": {"memory": "16GB"}}, "16GB isn't a quantity; write 16G or 16Gi"),
        ({"limits": {"memory": "16 Gi"}}, "16 Gi isn't a quantity; write 16Gi"),
        ({"limits": {"memory": "512mb"}}, "512mb isn't a quantity; write 512M or 512Mi"),
        ({"limits": {"cpu": "500 m"}}, "500 m isn't a quantity; write 500m"),
        ({"limits": {"memory": "512MB"}}, "512MB isn't a quantity; write 512M or 512Mi"),
        ({"limits": {"memory": "4 kB"}}, "4 kB isn't a quantity; write 4k or 4Ki"),
        ({"limits": {"cpu": "two"}}, "two isn't a quantity; write a number that isn't negative"),
        ({"limits": {"cpu": 0.5}}, "put it in quotes"),
        ({"limits": {"cpu": True}}, 'must be of type integer,string: "boolean"'),
        ({"limits": {"hourlyCost": 0.01}}, "put it in quotes"),
        ({"limits": {"hourlyCost": "0,50"}}, "0,50 isn't an amount of money; write it without"),
        ({"limits": {"nodes": "20"}}, "remove the quotes: 20"),
        ({"limits": {"nodes": "many"}}, 'must be of type integer: "string"'),
        ({"labels": {"debug": True}}, "put it in quotes"),
        ({"serverTypes": [{"name": True, "max": 1}]}, "put it in quotes"),
        ({"readinessWait": 600}, 'must be of type string: "integer"'),
        (
            {"disruption": {"budgets": [{"nodes": "10 %"}]}},
            "10 % isn't a number or a percentage; write it as 3",
        ),
    ],
)
def test_a_value_in_the_wrong_form_is_told_the_right_one(fields: dict[str, Any], text: str) -> None:
    (problem,) = problems(spec(POOL, **fields))
    assert problem.text.startswith(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@given(st.data())
def test_whatever_stands_in_a_file_is_read_or_told_and_never_a_crash(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from([case.document for case in CASES[:100]]))

    key = data.draw(st.sampled_from(sorted(document)))

    outcome = read_strictly(document | {key: damaged(document[key], data)})

    assert isinstance(outcome, (CustomResource, tuple))
    assert outcome != ()


def damaged(node: Any, data: st.DataObject) -> Any:
    """The document with something else at one place."""
    if isinstance(node, dict) and node and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(node)))
        return node | {key: damaged(node[key], data)}
    if isinstance(node, list) and node and data.draw(st.booleans()):
        return [damaged(node[0], data), *node[1:]]
    return data.draw(JSON)


def test_objects_are_written_as_they_were_read() -> None:
    for document in (POOL, REQUEST):
        model = KINDS[document["kind"]]
        written = model.model_validate(document).document()

        assert model.model_validate(written) == model.model_validate(document)
        assert written["metadata"] == document["metadata"]


def test_objects_can_not_be_changed() -> None:
    pool = NodePool.model_validate(POOL)

    with pytest.raises(ValueError, match="frozen"):
        pool.spec = pool.spec  # type: ignore[misc]
