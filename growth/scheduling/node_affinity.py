"""Which nodes a pod asks for by their labels: nodeSelector and required node affinity.

Both must hold. The terms of an affinity are alternatives, what stands in one term holds together;
a term without any condition matches no node, and so does an affinity without terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from growth.scheduling.selectors import KNOWN_OPERATORS, Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One alternative: conditions on labels and on the node's own fields."""

    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the node is meant. A condition that can't be read spoils its term only."""
        expressions, fields = self.match_expressions or (), self.match_fields or ()
        if not expressions and not fields:
            return False
        return all(
            _is_readable(requirement) and requirement.matches(labels) for requirement in expressions
        ) and all(_field_matches(requirement, name) for requirement in fields)

    @property
    def text(self) -> str:
        """For people: what holds together."""
        requirements = (*(self.match_expressions or ()), *(self.match_fields or ()))
        return " and ".join(each.text for each in requirements)


def _is_readable(requirement: Requirement) -> bool:
    has_values = bool(requirement.values)
    match requirement.operator:
        case "In" | "NotIn":
            return has_values
        case "Exists" | "DoesNotExist":
            return not has_values
        case _:  # numbers that can't be read, and operators that aren't known, match nothing anyway
            return True


def _field_matches(requirement: Requirement, name: str) -> bool:
    values = requirement.values or ()
    if requirement.operator not in {"In", "NotIn"} or len(values) != 1:
        return False
    # A volume asks about labels alone; the scheduler then passes over the fields.
    if not name:
        return True
    actual = name if requirement.key == "metadata.name" else ""
    return (actual == values[0]) == (requirement.operator == "In")


class NodeSelector(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Alternatives, in pods (required affinity) and in volumes (where they can be reached)."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether any alternative means the node."""
        return any(term.matches(name, labels) for term in self.node_selector_terms or ())

    @property
    def text(self) -> str:
        """For people: the alternatives."""
        terms = (term.text for term in self.node_selector_terms or ())
        return ", or ".join(term for term in terms if term) or "nothing that a node could have"

    @property
    def unknown_operators(self) -> tuple[str, ...]:
        """Operators that this version cannot judge."""
        return tuple(
            requirement.operator
            for term in self.node_selector_terms or ()
            for requirement in (*(term.match_expressions or ()), *(term.match_fields or ()))
            if requirement.operator not in KNOWN_OPERATORS
        )


class NodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """Only what is required decides where a pod fits."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class WantedNodes(msgspec.Struct, frozen=True, gc=False):
    """The whole wish of one pod, hashable."""

    labels: tuple[tuple[str, str], ...] = ()
    affinity: NodeSelector | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the pod would accept a node of this name with these labels."""
        if any(labels.get(key) != value for key, value in self.labels):
            return False
        return self.affinity is None or self.affinity.matches(name, labels)

    @property
    def keys(self) -> frozenset[str]:
        """The labels that it says anything of."""
        terms = (self.affinity.node_selector_terms or ()) if self.affinity else ()
        named = (each.key for term in terms for each in term.match_expressions or ())
        return frozenset((*(key for key, _ in self.labels), *named))

    def unmet(self, labels: Mapping[str, str]) -> str:
        """For people: the labels that are missing, else what the affinity asks for."""
        missing = [f"{key}={value}" for key, value in self.labels if labels.get(key) != value]
        if self.affinity is None or missing:
            return f"wants a node with {', '.join(missing)}"
        return f"wants a node with {self.affinity.text}"


ANY_NODE: Final = WantedNodes()


def wanted_nodes(node_selector: Mapping[str, str], affinity: NodeAffinity | None) -> WantedNodes:
    """The wish of a pod's nodeSelector and node affinity."""
    required = affinity.required if affinity else None
    if not node_selector and required is None:
        return ANY_NODE
    return WantedNodes(tuple(sorted(node_selector.items())), required)
