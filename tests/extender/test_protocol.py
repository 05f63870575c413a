"""What leaves is what came: no node is lost, reordered, renamed or added on the way."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender import protocol
from tests.extender.build import question

NAMES = st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), max_size=40)
HOPELESS = {
    "nothing": b"",
    "no object": b"[]",
    "null": b"null",
    "an empty object": b"{}",
    "neither names nor nodes": b'{"Pod":{},"Nodes":null,"NodeNames":null}',
    "names that are no list": b'{"NodeNames":5}',
    "nodes that are no object": b'{"Nodes":[]}',
    "half of a list": b'{"NodeNames":["a","b',
    "more than one value": b'{"NodeNames":["a"]}{}',
    "keys that are no text": b'{"\xff":1,"NodeNames":["a"]}',
    "nothing but brackets": b'{"NodeNames":' + b"[" * 100_000,
}


@given(NAMES)
def test_names_leave_as_they_came(names: list[str]) -> None:
    body = question(names)

    answer = protocol.read_arguments(body).unchanged

    assert json.loads(answer) == {"NodeNames": names}
    assert answer.removeprefix(b'{"NodeNames":').removesuffix(b"}") in body


def test_the_bytes_of_the_names_are_not_written_anew() -> None:
    spelled = b'[ "a" ,"\\u00e4\\/b",\t"a"]'

    answer = protocol.read_arguments(
        b'{"Pod":{},"NodeNames":' + spelled + b',"Nodes":null}'
    ).unchanged

    assert answer == b'{"NodeNames":' + spelled + b"}"


def test_whole_nodes_leave_as_they_came() -> None:
    nodes = b'{"metadata":{},"items":[{"metadata":{"name":"a"},"spec":{"unknown": 1.0e3}}]}'

    arguments = protocol.read_arguments(b'{"Pod":{},"NodeNames":null,"Nodes":' + nodes + b"}")

    assert arguments.unchanged == b'{"Nodes":' + nodes + b"}"
    assert arguments.hosts == ["a"]


def test_names_and_nodes_both_leave_when_both_came() -> None:
    body = b'{"NodeNames":["a"],"Nodes":{"items":[]}}'

    assert protocol.read_arguments(body).unchanged == body


@pytest.mark.parametrize("key", ["NodeNames", "nodeNames", "nodenames", "NODENAMES"])
def test_keys_are_known_in_any_case_as_go_knows_them(key: str) -> None:
    assert (
        protocol.read_arguments(b'{"%b":["a"]}' % key.encode()).unchanged == b'{"NodeNames":["a"]}'
    )


@pytest.mark.parametrize("body", HOPELESS.values(), ids=HOPELESS.keys())
def test_what_holds_no_nodes_is_refused_and_never_answered(body: bytes) -> None:
    with pytest.raises(protocol.Malformed) as refused:
        protocol.read_arguments(body)
    assert "\n" not in str(refused.value)


@given(
    st.binary() | st.dictionaries(st.text(), st.integers()).map(lambda it: json.dumps(it).encode())
)
def test_whatever_comes_is_refused_or_left_as_it_is(body: bytes) -> None:
    with suppress(protocol.Malformed):
        answer = protocol.read_arguments(body).unchanged
        assert answer not in {b"{}", b"null", b""}


@pytest.mark.parametrize("pod", ["5", "null", '{"metadata":5}', '{"metadata":{"uid":5}}'])
def test_a_pod_that_cannot_be_read_costs_no_node(pod: str) -> None:
    arguments = protocol.read_arguments(b'{"Pod":%b,"NodeNames":["a"]}' % pod.encode())

    assert arguments.unchanged == b'{"NodeNames":["a"]}'
    assert arguments.head == protocol.PodHead()


def test_of_the_pod_its_head_is_read() -> None:
    head = protocol.read_arguments(question(["a"])).head

    assert head == protocol.PodHead(
        name="web-1", namespace="shop", uid="uid-1", resource_version="7"
    )


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
def test_of_a_pod_whose_identity_is_longer_than_any_nothing_is_read(field: str) -> None:
    long = {"name": "web-1", "uid": "uid-1", field: "x" * (protocol.LONGEST_ID + 1)}

    arguments = protocol.read_arguments(question(["a"], Pod={"metadata": long}))

    assert (arguments.head.uid, arguments.metadata.uid) == ("", "")
    assert arguments.hosts == ["a"]


@pytest.mark.parametrize("names", ["[1]", '["\\ud800"]', "[null]", '[["a"]]'])
def test_names_that_are_no_text_cannot_be_ranked(names: str) -> None:
    with pytest.raises(protocol.Malformed):
        _ = protocol.read_arguments(b'{"NodeNames":%b}' % names.encode()).hosts


def test_scores_are_written_as_the_scheduler_reads_them() -> None:
    assert json.loads(protocol.priority_list({"a": 10, "b": 0})) == [
        {"Host": "a", "Score": 10},
        {"Host": "b", "Score": 0},
    ]
