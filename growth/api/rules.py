"""Rules over several fields, each written once: CEL, its twin in Python, one text for both.

The API server and the offline commands must refuse the same documents in the same words. So a rule
is one value: it knows where it is attached, the CEL expression, the Python function that finds the
same mistakes, and a single text for both. A text with `{words}` gets them from CEL expressions on
the one side (it becomes a `messageExpression`) and from the breach on the other.

Rules hang on the model they speak about (`Model.rules`); the model runs the twins whenever it is
made and writes the CEL into its schema. A few rules can't be CEL, because their cost over nested
lists or unbounded keys is beyond the API server's budget: they say why, and an object that breaks
one becomes a condition instead of a refusal.
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
"""Where something is in a document: ("spec", "serverTypes", 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBreach:
    """One place that breaks a rule."""

    at: Path = ()
    """Below what the rule is attached to."""
    related: Path | None = None
    """The other half of a contradiction, such as the first of two entries with one name."""
    words: Mapping[str, str] = field(default_factory=dict)
    """What the text's `{words}` are here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What an object must fulfil beyond the schema of its single fields."""

    at: str = ""
    """The field (as written in YAML) that it is attached to; empty = the object itself."""
    cel: str
    """Holds when the object is right; `self` is what it is attached to."""
    text: str
    """Names what is wrong and what to write instead; `{words}` come from CEL or from the breach."""
    words: Mapping[str, str] = field(default_factory=dict)
    """A CEL expression for each of the text's `{words}`."""
    breaches: Callable[[Any], Iterable[RuleBreach]]
    """The twin: every place of the value that breaks the rule."""

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
    """Why it is no CEL."""
    breaches: Callable[[Any], Iterable[RuleBreach]]
    """As in Rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionRule:
    """What may not change once it is written. It has no twin: only the API server sees both."""

    at: str
    """The field that it is attached to."""
    cel: str
    """Holds when `oldSelf` may become `self`."""
    text: str
    """Names what is wrong and what to do instead."""

    def as_schema(self) -> dict[str, str]:
        """The entry of `x-kubernetes-validations`."""
        return {"rule": self.cel, "message": self.text}


AnyRule = Rule | ModelRule | TransitionRule


def refuse_breaches(value: Any, rules: Iterable[AnyRule]) -> None:
    """Raise pydantic's error with one entry for each breach, at the place of the breach."""
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
    """A text about no document in particular: `{name}` becomes `<name>`."""
    return re.sub(r"\{(\w+)\}", r"<\1>", text)


def _as_cel(text: str, words: Mapping[str, str]) -> str:
    # format() and not +: the cost of adding texts of unknown length is estimated beyond any budget.
    names = re.findall(r"\{(\w+)\}", text)
    template = re.sub(r"\{\w+\}", "%s", text.replace("%", "%%"))
    return f"{_literal(template)}.format([{', '.join(words[name] for name in names)}])"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def as_cel_prints(texts: list[str]) -> str:
    """A list of texts as a `messageExpression` shows it."""
    return json.dumps(texts, ensure_ascii=False)


def holds(
    condition: Callable[[Any], bool], *, at: Path = ()
) -> Callable[[Any], Iterable[RuleBreach]]:
    """A twin for rules that are simply true or not: one breach, at one place."""
    return lambda value: () if condition(value) else (RuleBreach(at=at),)


def repeated(entries: Sequence[Any], *, key: Callable[[Any], Any]) -> Iterable[tuple[int, int]]:
    """The places of entries whose key came before: (place, place of the first)."""
    first: dict[Any, int] = {}
    for place, entry in enumerate(entries):
        earlier = first.setdefault(key(entry), place)
        if earlier != place:
            yield place, earlier
