"""What allowed a swap at its beginning is asked again before its old nodes go."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from growth.api.disruption import DisruptionReason
from growth.api.wellknown import REPLACES_ANNOTATION
from reconciler.facts.swap_annotation import swap_text
from tests.reconciler.build import pool
from tests.replacement.renewer import Renewer, running, standing

OLD = ("default-1", "default-2")
NEVER = {"disruption": {"budgets": [{"nodes": 0}]}}


def cluster(reason: DisruptionReason, **of_pool: Any) -> Renewer:
    """Two nodes in use, and a third one that claims to be bought in their place."""
    text = swap_text(OLD, of=1, reason=reason)
    liar = standing("default-3", annotations={REPLACES_ANNOTATION: text})
    return Renewer(
        *(standing(name) for name in OLD),
        *(running(f"web-{name}", name, cpu="1") for name in OLD),
        liar,
        **of_pool,
    )


@pytest.mark.parametrize("reason", DisruptionReason)
def test_what_claims_a_swap_does_not_get_past_the_budget(reason: DisruptionReason) -> None:
    renewer = cluster(reason, **NEVER)
    renewer.passes(120)
    assert renewer.gone == []


def test_a_node_that_is_well_does_not_go_as_a_sick_one() -> None:
    renewer = cluster(DisruptionReason.UNHEALTHY, disruption={"consolidation": "Never"})
    renewer.passes(120)
    assert renewer.gone == []


def test_a_node_that_is_as_its_pool_wants_it_does_not_go_as_one_that_has_drifted() -> None:
    renewer = cluster(DisruptionReason.DRIFT, disruption={"consolidation": "Never"})
    renewer.passes(120)
    assert renewer.gone == []


def test_nothing_goes_for_what_no_provider_lists() -> None:
    text = swap_text(("default-1",), of=1, reason=DisruptionReason.CONSOLIDATION)
    stranger = standing("laptop", annotations={REPLACES_ANNOTATION: text})
    labels = {**stranger.labels, "growth.dev/pool": "secure"}
    metadata = msgspec.structs.replace(stranger.metadata, labels=labels)
    stranger = msgspec.structs.replace(stranger, metadata=metadata)
    full = [running(f"web-{n}", "default-1") for n in range(4)]
    renewer = Renewer(standing("default-1"), *full, stranger)
    renewer.passes(120)
    assert renewer.gone == []


def test_a_budget_that_closes_meanwhile_ends_a_swap_and_its_machine_stays_an_ordinary_one() -> None:
    renewer = Renewer(standing("default-1", "large"), running("web-1", "default-1"))
    renewer.serves_after = 30.0
    renewer.passes(40)
    (request,) = renewer.created
    renewer.put(pool(**NEVER))
    renewer.passes(60)
    assert renewer.gone == []
    assert REPLACES_ANNOTATION not in renewer.node(request.name).metadata.annotations


def test_of_a_swap_only_as_many_go_as_the_budget_lets() -> None:
    renewer = cluster(DisruptionReason.CONSOLIDATION, disruption={"budgets": [{"nodes": 1}]})
    renewer.passes(60)
    assert len(renewer.gone) <= 1
