"""Rules over several fields, written once: CEL, its equivalent in Python, one message for both.

The API server and the offline commands must refuse the same documents with the same words. So a
rule is one value: the place to which it is attached, the CEL expression, the Python function that
finds the same mistakes, and a single message. A message with `{words}` gets them from CEL
expressions in the API server (as a `messageExpression`) and from the breach in Python.

Rules are attached to their model (`Model.rules`). The model runs the Python functions whenever it
is created and writes the CEL into its schema. A few rules can't be CEL, because their cost over
nested lists or unbounded keys exceeds the API server's budget. They say why, and an object that
breaks one gets a condition instead of being refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Path = tuple[str | int, ...]
"""A path in a document, such as ("spec", "serverTypes", 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBreach:
    """One place that breaks a rule."""

    at: Path = ()
    """Relative to the place to which the rule is attached."""
    related: Path | None = None
    """The other half of a contradiction, such as the first of two entries with one name."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The values of the message's `{words}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What an object must satisfy beyond the schema of its fields."""

    at: str = ""
    """The field (as written in YAML) that it is attached to; empty = the object itself."""
    cel: str
    """True for a valid object; `self` is the place to which the rule is attached."""
    text: str
    """What is wrong and what to write instead; `{words}` come from CEL or from the breach."""
    words: Mapping[str, str] = field(default_factory=dict)
    """A CEL expression for each of the message's `{words}`."""
    breaches: Callable[[Any], Iterable[RuleBreach]]
    """The Python equivalent: all places of the value that break the rule."""

    def as_schema(self) -> dict[str, str]:
        """The entry of `x-kubernetes-validations`."""
        if not self.words:
            return {"rule": self.cel, "message": self.text}
        return {
            "rule": self.cel,
            "message": with_places(self.text),
            "messageExpression": _as_cel(self.text, self.words),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """A rule that the API server can't check."""

    at: str = ""
    """The field (as written in YAML) that it is attached to; empty = the object itself."""
    text: str
    """As in Rule."""
    because: str
    """Why it can't be CEL."""
    breaches: Callable[[Any], Iterable[RuleBreach]]
    """As in Rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionRule:
    """A value that may not change.

    There is no Python equivalent, because only the API server sees both.
    """

    at: str
    """The field that it is attached to."""
    cel: str
    """True if `oldSelf` may become `self`."""
    text: str
    """What is wrong and what to do instead."""

    def as_schema(self) -> dict[str, str]:
        """The entry of `x-kubernetes-validations`."""
        return {"rule": self.cel, "message": self.text}


AnyRule = Rule | ModelRule | TransitionRule


def refuse_breaches(value: Any, rules: Iterable[AnyRule]) -> None:
    """Raise pydantic's error with one entry per breach, at the place of the breach."""
    errors = [
        _error(rule, breach, value)
        for rule in rules
        if not isinstance(rule, TransitionRule)
        for breach in _breaches(rule, value)
    ]
    if errors:
        raise ValidationError.from_exception_data(type(value).__name__, errors)


def _breaches(rule: Rule | ModelRule, value: Any) -> Iterable[RuleBreach]:
    subject = value.field(rule.at) if rule.at else value
    return () if subject is None else rule.breaches(subject)


def _error(rule: Rule | ModelRule, breach: RuleBreach, value: Any) -> InitErrorDetails:
    attached: Path = (rule.at,) if rule.at else ()
    text = rule.text.format_map(breach.words)
    return rule_refusal(text, value=value, attached=attached, at=breach.at, related=breach.related)


def rule_refusal(
    text: str, *, value: Any, at: Path, related: Path | None = None, attached: Path = ()
) -> InitErrorDetails:
    """One entry of pydantic's error; `depth` lets the reader find what `related` is relative to."""
    context = {"text": text, "related": related, "depth": len(at)}
    error = PydanticCustomError("rule", "{text}", context)
    return InitErrorDetails(type=error, loc=attached + at, input=value)


def with_places(text: str) -> str:
    """The message without a document: `{name}` becomes `<name>`."""
    return re.sub(r"\{(\w+)\}", r"<\1>", text)


def _as_cel(text: str, words: Mapping[str, str]) -> str:
    # format() instead of +, because the estimated cost of adding texts of unknown length exceeds
    # any budget.
    names = re.findall(r"\{(\w+)\}", text)
    template = re.sub(r"\{\w+\}", "%s", text.replace("%", "%%"))
    return f"{_literal(template)}.format([{', '.join(words[name] for name in names)}])"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def as_cel_prints(texts: list[str]) -> str:
    """A list of texts, as a `messageExpression` shows it."""
    return json.dumps(texts, ensure_ascii=False)


def holds(
    condition: Callable[[Any], bool], *, at: Path = ()
) -> Callable[[Any], Iterable[RuleBreach]]:
    """The Python equivalent of a rule that is simply true or not: one breach, at one place."""
    return lambda value: () if condition(value) else (RuleBreach(at=at),)


def repeated(entries: Sequence[Any], *, key: Callable[[Any], Any]) -> Iterable[tuple[int, int]]:
    """The places of entries with a repeated key: (place, place of the first)."""
    first: dict[Any, int] = {}
    for place, entry in enumerate(entries):
        earlier = first.setdefault(key(entry), place)
        if earlier != place:
            yield place, earlier
