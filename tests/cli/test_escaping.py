"""What others write never controls the terminal on which a command prints it."""

from __future__ import annotations

import json
import sys
import unicodedata
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.wellknown import DO_NOT_DISRUPT_ANNOTATION
from growth.cli.__main__ import main
from growth.cli.explain.node import explained_node
from growth.cli.explain.story import explanation_lines
from growth.cli.terminal.escaping import OVERWRITE, escaped, escaped_output, write_control
from growth.cli.terminal.output import coloured, print_answer
from tests.cli.installed import installed
from tests.cli.seen import NOW, node, owned, pod, pool, seen, waiting
from tests.cli.serving import served
from tests.cli.test_warnings import Terminal

if TYPE_CHECKING:
    from pathlib import Path

POISON = "1h\x1b[2J\x1b]0;title\x07\r\x9b1A\x7f\u202etxt\u2066"
TURNS_TEXT = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
COLOURS = {f"\x1b[{code}m" for code in (0, 1, 2, *range(31, 37))}

controls = st.characters(categories=["Cc", "Cf", "Zl", "Zp"])
texts = st.text(st.characters(exclude_categories=["Cs"]) | controls)


def is_control(character: str) -> bool:
    is_ours = character in "\t\n"
    turns = unicodedata.bidirectional(character) in TURNS_TEXT or character in "\u061c\u200e\u200f"
    return turns or (unicodedata.category(character) in {"Cc", "Zl", "Zp"} and not is_ours)


@given(texts)
def test_no_control_character_gets_through(text: str) -> None:
    assert not any(map(is_control, escaped(text)))


@given(texts)
def test_text_without_control_characters_stays_as_it_is(text: str) -> None:
    harmless = "".join(each for each in text if not is_control(each))
    assert escaped(harmless) == harmless


@given(st.lists(texts | st.sampled_from(sorted(COLOURS))).map("".join))
def test_on_a_terminal_only_colours_get_through(text: str) -> None:
    shown = escaped(text, colours=True)
    for colour in COLOURS:
        shown = shown.replace(colour, "")
    assert not any(map(is_control, shown))


@given(texts)
def test_a_document_says_the_same_afterwards(text: str) -> None:
    assert json.loads(escaped(msgspec.json.encode(text).decode())) == text


@pytest.mark.parametrize("output", ["text", "json"])
def test_an_annotation_that_growth_explains_is_escaped(
    capsys: pytest.CaptureFixture[str], output: str
) -> None:
    metadata = owned("StatefulSet", "web") | {"annotations": {DO_NOT_DISRUPT_ANNOTATION: POISON}}
    here = seen(node(), pool(), pod("web-0", metadata=metadata))
    story = explained_node(node(), here)
    with escaped_output():
        lines = explanation_lines(story, NOW, here.names)
        print_answer(Namespace(output=output), story, lines)
    printed = capsys.readouterr().out
    assert f"{DO_NOT_DISRUPT_ANNOTATION} is 1h\\u001b[2J" in " ".join(printed.split())
    assert not any(map(is_control, printed))


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_message_on_a_pod_is_escaped_by_the_whole_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: str
) -> None:
    cluster = installed()
    cluster.put("/api/v1/namespaces/shop/pods/web-0", poisoned())
    with served(cluster, tmp_path) as kubeconfig:
        words = ["explain", "pod", "shop/web-0", "--kubeconfig", kubeconfig, "-o", output]
        assert main(words) == 0
    printed = capsys.readouterr().out
    assert "\\u001b[2J" in printed
    assert not any(map(is_control, printed))


def poisoned() -> Any:
    found = msgspec.to_builtins(waiting("web-0"), str_keys=True)
    found["status"]["conditions"][0]["message"] = POISON
    return found


def test_an_error_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "-f", "missing\x1b[2J"]) == 2
    assert "missing\\u001b[2J" in capsys.readouterr().err


def test_others_can_not_end_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(Namespace(output="text"), None, ["web-0\nok everything", "second"])
    assert capsys.readouterr().out == "web-0\\u000aok everything\nsecond\n"


def test_our_own_colours_and_movements_reach_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.delenv("NO_COLOR", raising=False)
    with escaped_output():
        sys.stdout.write(coloured("ok", "green"))
        write_control(OVERWRITE, sys.stdout)
    assert terminal.getvalue() == "\x1b[32mok\x1b[0m\r\x1b[2K"
