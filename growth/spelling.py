"""What a person has probably meant by a word that isn't known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ALIKE: Final = 0.6
"""How much of two words has to be the same, from 0 to 1."""


def did_you_mean(word: str, known: Iterable[str], *, alike: float = ALIKE) -> str:
    """The question, with the name that is nearest; empty where none is near."""
    nearest = _nearest(word, sorted(known), alike)
    return f"did you mean {nearest}?" if nearest else ""


def _nearest(word: str, known: list[str], alike: float) -> str:
    """A name that goes on where the word ends counts as near, however long it is."""
    by_lower = {name.lower(): name for name in known}
    longer = (name for name in by_lower if word and name.startswith(word.lower()))
    close = get_close_matches(word.lower(), by_lower, n=1, cutoff=alike)
    nearest = min(longer, key=len, default=None) or next(iter(close), None)
    return by_lower[nearest] if nearest else ""
