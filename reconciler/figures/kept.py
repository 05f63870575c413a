"""Metrics of why nodes are kept, with the same reasons as pool status and `growth explain node`.

They are computed when they are scraped. For nodes with pods, the answers of the last pass are
reused if they still hold.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client.core import GaugeMetricFamily

from growth.keeping.answer import PODS_AT_ONCE, keeping_answers
from growth.keeping.marks import pool_of_node
from reconciler.facts.keeping_scene import scene_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from prometheus_client import Metric

    from growth.instant import Instant
    from growth.keeping.wanting import Keeping
    from reconciler.core.world import World


def kept_families(world: World, now: Instant) -> Iterator[Metric]:
    """The metrics of why nodes are kept."""
    nodes, before = world.cluster.nodes, world.ledger.pools.occupants
    answers = keeping_answers(scene_of(world), now, before=before, most=PODS_AT_ONCE)
    if not answers.is_complete:
        # The passes of a new leader haven't asked about all pods yet.
        return
    found = answers.keepings
    of_pools = [(pool_of_node(nodes[name]), keeping) for name, keeping in found.items()]
    yield _counts(of_pools)
    yield _ends(of_pools)


def _counts(of_pools: Iterable[tuple[str, Keeping]]) -> Metric:
    counts = GaugeMetricFamily(
        "growth_nodes_kept",
        "Nodes by the reason why they are kept, and by the first word of the reason's owner: a "
        "kind, growth, annotation, person, other",
        labels=("pool", "reason", "owner_kind"),
    )
    found = Counter((pool, each.reason.value, each.owner_kind) for pool, each in of_pools)
    for labels, count in sorted(found.items()):
        counts.add_metric(labels, count)
    return counts


def _ends(of_pools: Iterable[tuple[str, Keeping]]) -> Metric:
    ends = GaugeMetricFamily(
        "growth_nodes_kept_until_timestamp_seconds",
        "Latest time until which a node is kept for a reason, in seconds since 1970; only if known",
        labels=("pool", "reason"),
    )
    latest: dict[tuple[str, str], float] = {}
    for pool, each in of_pools:
        if each.until is not None:
            labels = pool, each.reason.value
            latest[labels] = max(latest.get(labels, 0.0), each.until.timestamp())
    for labels, end in sorted(latest.items()):
        ends.add_metric(labels, end)
    return ends
