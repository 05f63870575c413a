"""Which nodes a pod requires by their labels: nodeSelector and required node affinity.

Both must match. The terms of an affinity are alternatives; all conditions of a term must match. A
term without conditions matches no node, and neither does an affinity without terms.
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
        """Whether the node matches. An unreadable condition invalidates only its own term."""
        expressions, fields = self.match_expressions or (), self.match_fields or ()
        if not expressions and not fields:
            return False
        return all(
            _is_readable(requirement) and requirement.matches(labels) for requirement in expressions
        ) and all(_field_matches(requirement, name) for requirement in fields)

    @property
    def text(self) -> str:
        """For people: all conditions."""
        requirements = (*(self.match_expressions or ()), *(self.match_fields or ()))
        return " and ".join(each.text for each in requirements)


def _is_readable(requirement: Requirement) -> bool:
    has_values = bool(requirement.values)
    match requirement.operator:
        case "In" | "NotIn":
            return has_values
        case "Exists" | "DoesNotExist":
            return not has_values
        case _:  # unreadable numbers and unknown operators match nothing anyway
            return True


def _field_matches(requirement: Requirement, name: str) -> bool:
    values = requirement.values or ()
    if requirement.operator not in {"In", "NotIn"} or len(values) != 1:
        return False
    # A volume's node affinity is checked without a name; the scheduler then ignores fields.
    if not name:
        return True
    actual = name if requirement.key == "metadata.name" else ""
    return (actual == values[0]) == (requirement.operator == "In")


class NodeSelector(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Alternative terms, in pods (required affinity) and in volumes (where they can be mounted)."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether any of the terms matches the node."""
        return any(term.matches(name, labels) for term in self.node_selector_terms or ())

    @property
    def text(self) -> str:
        """For people: the alternatives."""
        terms = (term.text for term in self.node_selector_terms or ())
        return ", or ".join(term for term in terms if term) or "labels that no node can have"

    @property
    def unknown_operators(self) -> tuple[str, ...]:
        """The operators that this version doesn't support."""
        return tuple(
            requirement.operator
            for term in self.node_selector_terms or ()
            for requirement in (*(term.match_expressions or ()), *(term.match_fields or ()))
            if requirement.operator not in KNOWN_OPERATORS
        )


class NodeAffinity(msgspec.Struct, frozen=True, gc=False):
    """The required affinity; preferences don't decide where a pod fits."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class WantedNodes(msgspec.Struct, frozen=True, gc=False):
    """All that one pod requires of node labels; hashable."""

    labels: tuple[tuple[str, str], ...] = ()
    affinity: NodeSelector | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether the pod can use a node with this name and these labels."""
        if any(labels.get(key) != value for key, value in self.labels):
            return False
        return self.affinity is None or self.affinity.matches(name, labels)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all labels that it mentions."""
        terms = (self.affinity.node_selector_terms or ()) if self.affinity else ()
        named = (each.key for term in terms for each in term.match_expressions or ())
        return frozenset((*(key for key, _ in self.labels), *named))

    def unmet(self, labels: Mapping[str, str]) -> str:
        """For people: the labels that are missing, or what the affinity requires."""
        missing = [f"{key}={value}" for key, value in self.labels if labels.get(key) != value]
        if self.affinity is None or missing:
            return f"requires a node with {', '.join(missing)}"
        return f"requires a node with {self.affinity.text}"


ANY_NODE: Final = WantedNodes()


def wanted_nodes(node_selector: Mapping[str, str], affinity: NodeAffinity | None) -> WantedNodes:
    """The requirements of a pod's nodeSelector and node affinity."""
    required = affinity.required if affinity else None
    if not node_selector and required is None:
        return ANY_NODE
    return WantedNodes(tuple(sorted(node_selector.items())), required)
