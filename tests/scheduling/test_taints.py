from __future__ import annotations

import pytest

from growth.scheduling.fits import FITS, Rejected, RejectionReason, verdict
from growth.scheduling.taints import Taint, Toleration, untolerated
from tests.scheduling.build import cluster, node, pod

TAINT = Taint("team", "NoSchedule", "blue")
NUMBER = Taint("level", "NoSchedule", "5")


@pytest.mark.parametrize(
    ("toleration", "taint", "tolerated"),
    [
        (Toleration("team", "Equal", "blue"), TAINT, True),
        (Toleration("team", "", "blue"), TAINT, True),
        (Toleration("team", "Equal", "red"), TAINT, False),
        (Toleration("team", "Equal"), TAINT, False),
        (Toleration("team", "Exists"), TAINT, True),
        (Toleration("other", "Exists"), TAINT, False),
        (Toleration("", "Exists"), TAINT, True),
        (Toleration("", "Equal", "blue"), TAINT, True),
        (Toleration("team", "Exists", effect="NoSchedule"), TAINT, True),
        (Toleration("team", "Exists", effect="NoExecute"), TAINT, False),
        (Toleration("level", "Gt", "4"), NUMBER, True),
        (Toleration("level", "Gt", "5"), NUMBER, False),
        (Toleration("level", "Lt", "6"), NUMBER, True),
        (Toleration("level", "Lt", "5"), NUMBER, False),
        (Toleration("level", "Lt", "06"), NUMBER, False),
        (Toleration("level", "Gt", "four"), NUMBER, False),
        (Toleration("team", "Gt", "4"), TAINT, False),
        (Toleration("team", "Near", "blue"), TAINT, False),
    ],
)
def test_what_a_toleration_tolerates(
    toleration: Toleration, taint: Taint, *, tolerated: bool
) -> None:
    assert toleration.tolerates(taint) is tolerated


@pytest.mark.parametrize(
    ("effect", "blocks"), [("NoSchedule", True), ("NoExecute", True), ("PreferNoSchedule", False)]
)
def test_which_taints_keep_pods_off(effect: str, *, blocks: bool) -> None:
    assert (untolerated((Taint("team", effect),), ()) is not None) is blocks


def test_each_taint_needs_a_toleration() -> None:
    taints = (TAINT, NUMBER)
    assert untolerated(taints, (Toleration("team", "Exists"),)) == NUMBER


def test_a_pod_is_told_which_taint_it_does_not_tolerate() -> None:
    there = node(taints=[{"key": "team", "value": "blue", "effect": "NoSchedule"}])
    assert verdict(pod(), there, cluster(there)) == Rejected(
        RejectionReason.TAINT, "doesn't tolerate the taint team=blue:NoSchedule"
    )


def test_a_cordoned_node_takes_only_pods_that_tolerate_it() -> None:
    there = node(unschedulable=True)
    daemon = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}
    assert verdict(pod(), there, cluster(there)) == Rejected(
        RejectionReason.NODE_UNSCHEDULABLE, "the node is cordoned"
    )
    assert verdict(pod(tolerations=[daemon]), there, cluster(there)) == FITS
