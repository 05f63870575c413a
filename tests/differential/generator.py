"""Which cases are made, and how many of each: every constraint alone, and several mixed.

Hypothesis draws them, so a seed means the same cases everywhere; it doesn't run them, because the
control plane is quick only when many cases stand in it at the same time.
"""

from __future__ import annotations

import collections
import itertools
import zlib
from typing import TYPE_CHECKING

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.differential.cases import Case, Isolation
from tests.differential.constraints import neighbours, placement, resources, storage
from tests.differential.drafts import drafts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.differential.drafts import Draft

CONSTRAINTS: dict[str, Callable[[st.DrawFn, Draft], None]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        resources.requests,
        resources.parts_of_bytes,
        resources.init_containers,
        resources.sidecars,
        resources.pod_level_resources,
        resources.overhead,
        resources.extended_resources,
        resources.ephemeral_storage,
        resources.huge_pages,
        resources.pod_count,
        resources.nothing_asked_on_a_full_node,
        resources.resized,
        resources.leavers,
        placement.taints,
        placement.unschedulable_nodes,
        placement.node_selector,
        placement.node_affinity,
        placement.absent_labels,
        placement.numeric_node_affinity,
        placement.match_fields,
        placement.host_ports,
        neighbours.pod_affinity,
        neighbours.pod_anti_affinity,
        neighbours.anti_affinity_of_others,
        neighbours.topology_spread,
        neighbours.spread_over_enough_domains,
        neighbours.spread_over_untainted_nodes,
        neighbours.spread_over_selected_nodes,
        storage.volume_node_affinity,
        storage.volume_zones,
        storage.wait_for_first_consumer,
        storage.unbound_claims,
        storage.static_volumes,
        storage.static_volumes_for_two_claims,
        storage.iscsi_disks,
        storage.missing_claims,
        storage.ephemeral_claims,
        storage.read_write_once_pod,
        storage.attach_limits,
        storage.attach_limits_with_volumes_to_come,
    )
}
_WEIGHTS = {
    "init-containers": 3,
    "sidecars": 3,
    "nothing-asked-on-a-full-node": 2,
    "resized": 4,
    "taints": 4,
    "node-affinity": 4,
    "absent-labels": 2,
    "numeric-node-affinity": 4,
    "host-ports": 4,
    "pod-affinity": 5,
    "pod-anti-affinity": 3,
    "anti-affinity-of-others": 5,
    "topology-spread": 6,
    "spread-over-enough-domains": 2,
    "spread-over-untainted-nodes": 5,
    "spread-over-selected-nodes": 5,
    "volume-zones": 4,
    "wait-for-first-consumer": 3,
    "unbound-claims": 2,
    "static-volumes": 6,
    "static-volumes-for-two-claims": 2,
    "read-write-once-pod": 3,
    "attach-limits": 3,
    "attach-limits-with-volumes-to-come": 2,
}
"""Rules with more parts need more cases before each part has decided one."""
_ORDER = tuple(reversed(CONSTRAINTS))
"""Requests come last: they set nodes on the edge, with all pods that stand there."""
_ONE_MIXED_IN = 4
_ALONE = range(40, 45)
"""Of a hundred."""


@st.composite
def cases(draw: st.DrawFn, first: str) -> Case:
    """A case about the first constraint, now and then mixed with one or two others."""
    alone = draw(st.integers(0, 99)) in _ALONE
    isolation = Isolation.ALONE if alone else Isolation.SEATS
    draft = draw(drafts(isolation))
    names = [first]
    if draw(st.integers(1, _ONE_MIXED_IN)) == 1:
        others = st.lists(st.sampled_from(tuple(CONSTRAINTS)), min_size=1, max_size=2)
        names += draw(others)
    chosen = tuple(name for at, name in enumerate(names) if _mixes(name, names[:at]))
    for name in sorted(chosen, key=_ORDER.index):
        CONSTRAINTS[name](draw, draft)
    return draft.closed(chosen, isolation)


def _mixes(name: str, others: list[str]) -> bool:
    """Each once, and one that writes requests: a second would undo what the first has set."""
    return name not in others and not (
        _writes_requests(name) and any(_writes_requests(other) for other in others)
    )


def _writes_requests(name: str) -> bool:
    return CONSTRAINTS[name].__module__ == resources.__name__


def generated(
    *, count: int, number: int, constraints: tuple[str, ...] = tuple(CONSTRAINTS)
) -> list[Case]:
    """So many cases, the same for the same seed number, each constraint by its weight."""
    weighted = [name for name in constraints for _ in range(_WEIGHTS.get(name, 1))]
    share, rest = divmod(count, len(weighted))
    shares = collections.Counter(weighted[:rest])
    for name in weighted:
        shares[name] += share
    return [
        case for name in constraints for case in _drawn(name, count=shares[name], number=number)
    ]


def _drawn(name: str, *, count: int, number: int) -> list[Case]:
    """So many different cases, each drawn for itself."""
    found: dict[bytes, Case] = {}
    for place in itertools.count():
        if len(found) == count:
            break
        # A seed of its own for each: equal ones would draw the same nodes for every constraint.
        case = _one(name, number=zlib.crc32(f"{number} {name} {place}".encode()))
        found[msgspec.json.encode(case)] = case
    return list(found.values())


def _one(name: str, *, number: int) -> Case:
    """The second example of a run of two.

    The first is always the simplest one, and later examples are mostly changes of earlier ones:
    good for finding one failure, but here every case should try something else.
    """
    found: list[Case] = []

    @seed(number)
    @settings(
        max_examples=2,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(name))
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    return found[-1]
