"""Rules that several kinds need, each created for its field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api.rules import Rule, RuleBreach, TransitionRule, as_cel_prints, repeated
from growth.api.wellknown import RESERVED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The lower-case names are computed once, and each is searched with one native call: comparing every
# entry with every other one in CEL took the API server two seconds for 256 entries, at each write.
_LOWERED: Final = "[self.map(entry, entry.{field}.lowerAscii())]"
_ONCE: Final = "names.indexOf({name}) == names.lastIndexOf({name})"


def no_two_spellings(at: str, *, field: str, text: str) -> Rule:
    """No two entries of a list have the same name, ignoring case.

    The message gets `{names}`, a list of all spellings that collide.
    """
    lowered = _LOWERED.format(field=field)
    alone = _ONCE.format(name=f"entry.{field}.lowerAscii()")
    colliding = f"self.filter(entry, !({alone})).map(entry, entry.{field})"

    def breaches(entries: Sequence[Any]) -> Iterable[RuleBreach]:
        names = [str(entry.field(field)) for entry in entries]
        for place, first in repeated(names, key=str.lower):
            words = {"names": as_cel_prints([names[first], names[place]])}
            yield RuleBreach(at=(place,), related=(first,), words=words)

    return Rule(
        at=at,
        cel=f"{lowered}.all(names, names.all(name, {_ONCE.format(name='name')}))",
        text=text,
        words={"names": f"{lowered}.map(names, {colliding})[0]"},
        breaches=breaches,
    )


def no_labels_below(prefix: str, *, at: str, owner: str) -> Rule:
    """A map of labels has no key with a prefix that is reserved by others."""

    def breaches(labels: Mapping[str, str]) -> Iterable[RuleBreach]:
        return (RuleBreach(at=(key,)) for key in labels if key.startswith(prefix))

    return Rule(
        at=at,
        cel=f"self.all(key, !key.startsWith('{prefix}'))",
        text=f"labels below {prefix} {owner}: use another prefix",
        breaches=breaches,
    )


def no_reserved_labels(at: str) -> Rule:
    """Labels set by people never have our own prefix."""
    return no_labels_below(RESERVED_PREFIX, at=at, owner="are reserved for growth")


def never_changes(at: str, *, text: str) -> TransitionRule:
    """A value that can't be changed."""
    return TransitionRule(at=at, cel="self == oldSelf", text=text)
