"""The flag `--load`: what the load of a workload goes through, such as cpu=0..12."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from growth.errors import Misconfigured
from growth.scheduling.resources import CPU, MEMORY, parse_one

FORM: Final = re.compile(r"(?P<resource>[a-z]+)=(?P<lowest>[^.]+(?:\.[^.]+)?)\.\.(?P<highest>.+)")
RESOURCES: Final = frozenset({CPU, MEMORY})


class PlannedLoad(NamedTuple):
    """One resource, from its lowest total to its highest."""

    resource: str
    lowest: int
    highest: int


def planned_loads(written: list[str]) -> list[PlannedLoad]:
    """All loads of one command; each resource once."""
    found = [_load(each) for each in written]
    if not found:
        raise Misconfigured("growth plan hvpa: which load? Add --load cpu=0..12")
    twice = [each for each in found if [one.resource for one in found].count(each.resource) > 1]
    if twice:
        raise Misconfigured(f"growth plan hvpa: two loads of {twice[0].resource}: keep one --load")
    return found


def _load(written: str) -> PlannedLoad:
    form = FORM.fullmatch(written)
    if form is None or form["resource"] not in RESOURCES:
        raise Misconfigured(
            f"--load {written}: write cpu=LOWEST..HIGHEST or memory=LOWEST..HIGHEST, "
            "such as cpu=0..12 or memory=1Gi..64Gi"
        )
    name = form["resource"]
    try:
        ends = (parse_one(name, form[end]) for end in ("lowest", "highest"))
        load = PlannedLoad(name, *ends)
    except ValueError as error:
        raise Misconfigured(f"--load {written}: {error}") from None
    if not 0 <= load.lowest < load.highest:
        raise Misconfigured(f"--load {written}: the second amount must be the larger one")
    return load
