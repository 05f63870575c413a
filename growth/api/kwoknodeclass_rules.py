"""The rules between the fields of a KwokNodeClass.

Offers are lists within a list: a rule over them would be estimated at 256 x 64 entries, so only the
model checks offers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from growth.api.rule_patterns import no_reserved_labels, no_two_spellings
from growth.api.rules import AnyRule, ModelRule, Rule, RuleBreach, holds, repeated
from growth.api.wellknown import RESERVED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

    from growth.api.kwoknodeclass import (
        BootDelay,
        InjectedFault,
        KwokNodeClassSpec,
        KwokOffer,
        KwokServerType,
    )


def _delays_in_order(delay: BootDelay) -> bool:
    return delay.min <= delay.max


MIN_AT_MOST_MAX: Final = Rule(
    cel="duration(self.min) <= duration(self.max)",
    text="min is longer than max: lower min or raise max",
    breaches=holds(_delays_in_order, at=("min",)),
)


def _has_size(server_type: KwokServerType) -> bool:
    return {"cpu", "memory"} <= server_type.resources.keys()


def _same_offers(offers: tuple[KwokOffer, ...]) -> Iterable[RuleBreach]:
    def key(offer: KwokOffer) -> tuple[str, frozenset[tuple[str, str]]]:
        return offer.location.lower(), frozenset(offer.labels.items())

    for place, first in repeated(offers, key=key):
        words = {"location": offers[place].location}
        yield RuleBreach(at=(place,), related=(first,), words=words)


def _reserved_in_offers(offers: tuple[KwokOffer, ...]) -> Iterable[RuleBreach]:
    return (
        RuleBreach(at=(place, "labels", key))
        for place, offer in enumerate(offers)
        for key in offer.labels
        if key.startswith(RESERVED_PREFIX)
    )


SERVER_TYPE: Final[tuple[AnyRule, ...]] = (
    Rule(
        cel="'cpu' in self.resources && 'memory' in self.resources",
        text="resources must include cpu and memory",
        breaches=holds(_has_size, at=("resources",)),
    ),
    no_reserved_labels("labels"),
    ModelRule(
        at="offers",
        text="an offer in {location} is listed twice: keep one, or give them different labels",
        because="CEL over nested lists costs too much",
        breaches=_same_offers,
    ),
    ModelRule(
        at="offers",
        text=f"labels below {RESERVED_PREFIX} are reserved for growth: use another prefix",
        because="CEL over nested lists costs too much",
        breaches=_reserved_in_offers,
    ),
)


def _delay_given(fault: InjectedFault) -> bool:
    return (fault.kind == "SlowBoot") == (fault.delay is not None)


def _price_given(fault: InjectedFault) -> bool:
    return (fault.kind == "PriceChange") == (fault.price is not None)


def _price_is_not_counted(fault: InjectedFault) -> bool:
    return fault.kind != "PriceChange" or fault.count is None


FAULT: Final[tuple[AnyRule, ...]] = (
    Rule(
        cel="(self.kind == 'SlowBoot') == has(self.delay)",
        text="delay is required for SlowBoot, and not allowed for other kinds",
        breaches=holds(_delay_given, at=("delay",)),
    ),
    Rule(
        cel="(self.kind == 'PriceChange') == has(self.price)",
        text="price is required for PriceChange, and not allowed for other kinds",
        breaches=holds(_price_given, at=("price",)),
    ),
    Rule(
        cel="self.kind != 'PriceChange' || !has(self.count)",
        text="count isn't used for PriceChange: remove it",
        breaches=holds(_price_is_not_counted, at=("count",)),
    ),
)


def _one_catalogue(spec: KwokNodeClassSpec) -> bool:
    return bool(spec.types) != (spec.catalogue_from is not None)


SPEC: Final[tuple[AnyRule, ...]] = (
    Rule(
        cel="(has(self.types) && self.types.size() > 0) != has(self.catalogueFrom)",
        text="set either types or catalogueFrom",
        breaches=holds(_one_catalogue, at=("types",)),
    ),
    no_two_spellings(
        "types",
        field="name",
        text="{names} are the same server type: keep one entry with all its offers",
    ),
)
