"""Rows that the product answers differently on purpose: few, and each one argued.

They stem from tests of the original system and contradict a rule of the seed, which counts.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.vectors.rows import Row

WAIVERS: Final[Mapping[str, str]] = {
    "lookup_zone/*": (
        "nothing is looked up: a request names the location that it buys in, and the zone of a "
        "node is what the provider says of its machine"
    ),
    "removal_step/attempts used up": (
        "G49: a removal has failed when its attempts exceed the limit, which three of three don't"
    ),
    "removal_cancel/step 2*": (
        "both marks of a node go in one write, so there is no state in which one of them is left"
    ),
    "solve/preferred anti-affinity *": (
        "a preference buys no machine: plans are ordered by who is left out, then by cost, and "
        "among the machines that are there the scheduler itself spreads"
    ),
}
"""Reasons by the name of the row; * stands for anything."""


def waiver_of(row: Row) -> str | None:
    """Why this row isn't run, if it isn't."""
    if row.system != "growth":
        return None
    found = (reason for name, reason in WAIVERS.items() if fnmatchcase(row.name, name))
    return next(found, None)
