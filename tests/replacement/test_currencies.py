"""A saving is one in a currency: what is paid in another is neither cheaper nor dearer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from growth.api.wellknown import CURRENCY_ANNOTATION
from growth.cli.plan.reading import consolidating
from tests.reconciler.build import at, node_class
from tests.replacement.renewer import Renewer, running, standing

if TYPE_CHECKING:
    from growth.scheduling.node import Node

EUR: Final = node_class(currency="EUR")
LONG: Final = 300.0
"""Seconds in which whatever is cheaper has been found."""


def paid_in(currency: str, name: str, server_type: str = "large") -> Node:
    told = {CURRENCY_ANNOTATION: currency} if currency else {}
    return standing(name, server_type, annotations=told)


@pytest.mark.parametrize("currency", ["EUR", ""])
def test_a_node_is_replaced_for_less_of_what_it_is_paid_in(currency: str) -> None:
    """One of which nobody has written the currency down is paid in what its pool buys in."""
    renewer = Renewer(EUR, paid_in(currency, "default-1"), running("web-1", "default-1"))
    renewer.passes(LONG)
    ((spec,), (note,)) = (
        [each.spec for each in renewer.created],
        [note for _, reason, note in renewer.events if reason == "Consolidating"],
    )
    assert (spec.server_type.canonical, spec.currency) == ("small", "EUR")
    assert note.endswith("this saves 2.0000 EUR of 3.0000 per hour")


def test_a_node_is_not_replaced_for_a_lower_number_of_another_currency() -> None:
    renewer = Renewer(EUR, paid_in("USD", "default-1"), running("web-1", "default-1"))
    renewer.passes(LONG)
    assert (renewer.created, renewer.gone) == ([], [])
    assert consolidating(renewer.world(), effort="quick", now=at(renewer.now)).goes == ()


def test_each_currency_is_searched_in() -> None:
    """The euros are searched in first and come to nothing."""
    fixed = running("fixed", "default-0", nodeSelector={"kubernetes.io/hostname": "default-0"})
    renewer = Renewer(
        EUR,
        paid_in("EUR", "default-0", "small"),
        fixed,
        *(paid_in("USD", f"default-{number}") for number in (1, 2)),
        *(running(f"web-{number}", f"default-{number}", cpu="3") for number in (1, 2)),
    )
    renewer.passes(LONG)
    assert renewer.gone == ["default-1"]
    assert renewer.created == []
    assert renewer.asked.count("Renewal") >= 2
