"""YAML text read as kubectl reads it, with the line of every value.

Mistakes in a manifest are reported with their line, so the node tree that PyYAML composes is kept
together with the plain data. Two habits of PyYAML are turned off, because Kubernetes doesn't share
them and they change what people wrote: `12:30` is a text here (not 750), and a date stays a text
too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]

MAXIMUM_DEPTH = 100
"""Maximum nesting. A pod that uses everything has about 15 levels."""


class BrokenText(ValueError):
    """The text isn't YAML, or contains a key twice. Has the line, counted from 1."""

    def __init__(self, text: str, *, line: int) -> None:
        super().__init__(text)
        self.line = line


class _Loader(yaml.CSafeLoader):
    """The C loader, with other resolvers for numbers and dates (see the module's docstring)."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML looks for a class attribute
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag.rsplit(":", 1)[1] not in {"timestamp", "int", "float"}
        ]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"[-+]?(?:(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
        r"|[0-9][0-9_]*[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))$|\.(?:nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)


@dataclass(frozen=True)
class YamlDocument:
    """One document: its data, and where each part of it is in the text."""

    data: Any
    node: yaml.Node

    def line_of(self, path: Path) -> int:
        """The line of the value at a path, or of its nearest parent."""
        return _line(_walk(self.node, path))

    def source_of(self, path: Path) -> str | None:
        """The scalar at a path as written; None if there is none."""
        node = _walk(self.node, path)
        return str(node.value) if isinstance(node, yaml.ScalarNode) else None

    def at(self, path: Path) -> YamlDocument:
        """The part at an existing path, as a document of its own (an item of a List)."""
        data = self.data
        for step in path:
            data = data[step]
        return YamlDocument(data=data, node=_walk(self.node, path))

    def scalars_named(self, key: str) -> Iterator[yaml.ScalarNode]:
        """Every plain value under a key of this name, however deep."""
        for node in _nodes(self.node):
            for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
                if name.value == key and isinstance(value, yaml.ScalarNode):
                    yield value


def documents(text: str) -> Iterator[YamlDocument]:
    """Read every document of a text; empty ones are skipped."""
    try:
        _refuse_depth(text)
        yield from _composed(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise BrokenText(f"not valid YAML: {error.problem or error.context}", line=line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BrokenText(f"not text: {error.reason}", line=line) from None


def _composed(text: str) -> Iterator[YamlDocument]:
    loader = _Loader(text)
    try:
        while loader.check_node() and (node := loader.get_node()) is not None:
            _refuse_loops(node)
            _refuse_doubled_keys(node)
            data = loader.construct_document(node)
            if data is not None:
                yield YamlDocument(data=data, node=node)
    finally:
        loader.dispose()


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _walk(node: yaml.Node, path: Path) -> yaml.Node:
    for step in path:
        child = _child(node, step)
        if child is None:
            return node
        node = child
    return node


def _child(node: yaml.Node, step: str | int) -> yaml.Node | None:
    match node, step:
        case yaml.MappingNode(), str():
            return next((value for key, value in node.value if key.value == step), None)
        case yaml.SequenceNode(), int() if step < len(node.value):
            child: yaml.Node = node.value[step]
            return child
        case _:
            return None


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    match node:
        case yaml.MappingNode():
            yield from (value for _, value in node.value)
        case yaml.SequenceNode():
            yield from node.value
        case _:
            return


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Every node once, parents first, whatever the aliases do."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting.extend(reversed(list(_children(node))))


def _refuse_doubled_keys(root: yaml.Node) -> None:
    """A duplicate key would silently lose one of its values, so it is refused, as in kubectl."""
    for node in _nodes(root):
        seen: dict[str, int] = {}
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
                continue
            if key.value in seen:
                text = f"{key.value} is given twice (first on line {seen[key.value]}); keep one"
                raise BrokenText(text, line=_line(key))
            seen[key.value] = _line(key)


def _refuse_loops(root: yaml.Node) -> None:
    """An alias inside its own anchor has no end."""
    finished: set[int] = set()
    above: set[int] = set()

    def visit(node: yaml.Node) -> None:
        if id(node) in above:
            raise BrokenText("an alias (*) lies inside of its own anchor (&)", line=_line(node))
        if id(node) in finished:
            return
        above.add(id(node))
        for child in _children(node):
            visit(child)
        above.remove(id(node))
        finished.add(id(node))

    visit(root)


def _refuse_depth(text: str) -> None:
    """The C composer recurses without a limit and would crash the process."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAXIMUM_DEPTH:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise BrokenText(f"nested more than {MAXIMUM_DEPTH} levels deep", line=line)
