"""The rules between the fields of a NodePool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from growth.api.bounds import DNS_LABEL
from growth.api.rule_patterns import no_reserved_labels, no_two_spellings
from growth.api.rules import AnyRule, Rule, RuleBreach, as_cel_prints
from growth.api.wellknown import RESERVED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.nodepool import NodePool, NodePoolSpec, PoolServerType
    from growth.api.taints import PoolTaint


def _wrong_name(pool: NodePool) -> Iterable[RuleBreach]:
    name = pool.metadata.name
    if len(name) > 26 or not re.fullmatch(f"^{DNS_LABEL}$", name):
        yield RuleBreach(at=("metadata", "name"))


POOL_NAME: Final = Rule(
    cel=f"self.metadata.name.size() <= 26 && self.metadata.name.matches('^{DNS_LABEL}$')",
    text=(
        "metadata.name must be a DNS label of at most 26 characters (a-z, 0-9 and -), because the "
        "names of its machines begin with it"
    ),
    breaches=_wrong_name,
)


def _min_above_max(entry: PoolServerType) -> Iterable[RuleBreach]:
    if entry.min > entry.max:
        words = {"name": entry.name.written, "min": str(entry.min), "max": str(entry.max)}
        yield RuleBreach(at=("min",), words=words)


MIN_AT_MOST_MAX: Final = Rule(
    cel="self.min <= self.max",
    text="min {min} of {name} is above its max {max}: lower min or raise max",
    words={"name": "self.name", "min": "self.min", "max": "self.max"},
    breaches=_min_above_max,
)


UNIQUE_SERVER_TYPES: Final = no_two_spellings(
    "serverTypes",
    field="name",
    text="{names} are the same server type: keep one entry and add up their max",
)

UNIQUE_REGIONS: Final = no_two_spellings(
    "locations",
    field="region",
    text="{names} are the same region: keep one entry with all its zones",
)


def _reserved_taints(taints: tuple[PoolTaint, ...]) -> Iterable[RuleBreach]:
    return (
        RuleBreach(at=(place, "key"))
        for place, taint in enumerate(taints)
        if taint.key.startswith(RESERVED_PREFIX)
    )


def _no_reserved_taints(at: str) -> Rule:
    return Rule(
        at=at,
        cel=f"self.all(taint, !taint.key.startsWith('{RESERVED_PREFIX}'))",
        text=f"taints below {RESERVED_PREFIX} are reserved for growth: use another prefix",
        breaches=_reserved_taints,
    )


def _taints_in_both(spec: NodePoolSpec) -> Iterable[RuleBreach]:
    lasting = {(taint.key, taint.effect): place for place, taint in enumerate(spec.taints)}
    for place, taint in enumerate(spec.startup_taints):
        first = lasting.get((taint.key, taint.effect))
        if first is not None:
            words = {"keys": as_cel_prints([taint.key])}
            yield RuleBreach(at=("startupTaints", place), related=("taints", first), words=words)


UNIQUE_TAINTS: Final = Rule(
    cel=(
        "!has(self.taints) || !has(self.startupTaints) || self.startupTaints.all(s, "
        "!self.taints.exists(t, t.key == s.key && t.effect == s.effect))"
    ),
    text="taints and startupTaints both contain {keys} with the same effect: keep each in one "
    "of them",
    words={
        "keys": (
            "self.startupTaints.filter(s, self.taints.exists(t, t.key == s.key && "
            "t.effect == s.effect)).map(s, s.key)"
        )
    },
    breaches=_taints_in_both,
)


def _minima_above_limit(spec: NodePoolSpec) -> Iterable[RuleBreach]:
    wanted = sum(entry.min for entry in spec.server_types)
    if spec.limits.nodes is not None and wanted > spec.limits.nodes:
        words = {"sum": str(wanted), "limit": str(spec.limits.nodes)}
        yield RuleBreach(at=("limits", "nodes"), words=words)


MINIMA_WITHIN_LIMIT: Final = Rule(
    cel="!has(self.limits.nodes) || self.serverTypes.map(t, t.min).sum() <= self.limits.nodes",
    text="the min of all types add up to {sum}, above limits.nodes {limit}: raise limits.nodes "
    "or lower min",
    words={
        "sum": "self.serverTypes.map(t, t.min).sum()",
        "limit": "self.limits.nodes",
    },
    breaches=_minima_above_limit,
)

SPEC: Final[tuple[AnyRule, ...]] = (
    UNIQUE_SERVER_TYPES,
    UNIQUE_REGIONS,
    no_reserved_labels("labels"),
    _no_reserved_taints("taints"),
    _no_reserved_taints("startupTaints"),
    UNIQUE_TAINTS,
    MINIMA_WITHIN_LIMIT,
)
