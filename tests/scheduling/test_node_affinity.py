from __future__ import annotations

import pytest

from growth.scheduling.fits import FITS, Rejected, RejectionReason, verdict
from tests.scheduling.build import Json, cluster, node, pod


def affinity(*terms: Json) -> Json:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def label(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator} | ({"values": list(values)} if values else {})


def labels(*expressions: Json) -> Json:
    return {"matchExpressions": list(expressions)}


def name(operator: str, *values: str) -> Json:
    return {"matchFields": [label("metadata.name", operator, *values)]}


FAST = label("disk", "In", "ssd", "nvme")

TABLE = [
    ("no terms at all", affinity(), False),
    ("an empty term", affinity({}), False),
    ("an empty term beside one that holds", affinity({}, labels(FAST)), True),
    ("a term that holds", affinity(labels(FAST)), True),
    ("conditions of a term hold together", affinity(labels(FAST, label("gpu", "Exists"))), False),
    ("terms are alternatives", affinity(labels(label("gpu", "Exists")), labels(FAST)), True),
    ("NotIn of a missing label", affinity(labels(label("gpu", "NotIn", "yes"))), True),
    ("DoesNotExist", affinity(labels(label("disk", "DoesNotExist"))), False),
    ("Gt", affinity(labels(label("cores", "Gt", "7"))), True),
    ("Lt", affinity(labels(label("cores", "Lt", "8"))), False),
    ("Gt with a limit that is no number", affinity(labels(label("cores", "Gt", "many"))), False),
    ("NotIn without values spoils its term", affinity(labels(label("gpu", "NotIn"))), False),
    ("Exists with a value spoils its term", affinity(labels(label("disk", "Exists", "x"))), False),
    (
        "a spoilt term leaves the others",
        affinity(labels(label("gpu", "Near", "x")), labels(FAST)),
        True,
    ),
    ("the node by name", affinity(name("In", "one")), True),
    ("another node by name", affinity(name("In", "two")), False),
    ("not this node", affinity(name("NotIn", "one")), False),
    ("not another node", affinity(name("NotIn", "two")), True),
    ("two names in one condition can't be read", affinity(name("In", "one", "two")), False),
    ("a name and labels hold together", affinity(labels(FAST) | name("In", "two")), False),
]


@pytest.mark.parametrize(("wish", "holds"), [row[1:] for row in TABLE], ids=[r[0] for r in TABLE])
def test_required_node_affinity(wish: Json, *, holds: bool) -> None:
    there = node("one", labels={"disk": "ssd", "cores": "8"})
    answer = verdict(pod(affinity=wish), there, cluster(there))
    assert (answer == FITS) is holds


def test_node_selector_and_affinity_must_both_hold() -> None:
    there = node("one", labels={"disk": "ssd"})
    wish = affinity(labels(FAST))
    assert verdict(pod(affinity=wish, nodeSelector={"disk": "ssd"}), there, cluster()) == FITS
    answer = verdict(pod(affinity=wish, nodeSelector={"disk": "nvme"}), there, cluster())
    assert answer == Rejected(RejectionReason.NODE_AFFINITY, "requires a node with disk=nvme")


def test_preferred_affinity_keeps_no_pod_off_a_node() -> None:
    term = {"weight": 1, "preference": labels(label("gpu", "Exists"))}
    wish = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert verdict(pod(affinity=wish), node(), cluster()) == FITS


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        (affinity(labels(label("disk", "In", "a", "b"))), "disk in (a, b)"),
        (affinity(labels(label("disk", "NotIn", "ssd"))), "disk not in (ssd)"),
        (
            affinity(labels(label("gpu", "Exists"), label("cores", "Gt", "8"))),
            "gpu and cores gt (8)",
        ),
        (
            affinity(labels(label("disk", "DoesNotExist")), name("In", "x")),
            "no disk, or metadata.name=x",
        ),
        (affinity({}), "labels that no node can have"),
    ],
)
def test_an_affinity_that_is_not_met_is_told_in_words(wish: Json, text: str) -> None:
    there = node("one", labels={"disk": "ssd", "cores": "8"})
    assert verdict(pod(affinity=wish), there, cluster(there)) == Rejected(
        RejectionReason.NODE_AFFINITY, f"requires a node with {text}"
    )
