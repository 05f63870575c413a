"""Any pod that the API server would take, as far as it is about nodes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from growth.api.wellknown import POOL_LABEL

NAMES = ("default", "gpu", "db", "plain", "missing")
ZONE = "topology.kubernetes.io/zone"
KEYS = ("team", "gpu", "example.org/model", "dedicated", "other")
VALUES = ("web", "a100", "db", "")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def _with(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _conditions() -> st.SearchStrategy[dict[str, Any]]:
    listed = st.builds(
        _with,
        key=st.sampled_from((POOL_LABEL, POOL_LABEL, ZONE)),
        operator=st.sampled_from(("In", "In", "NotIn")),
        values=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
    )
    bare = st.builds(
        _with,
        key=st.sampled_from((POOL_LABEL, ZONE)),
        operator=st.sampled_from(("Exists", "DoesNotExist")),
    )
    return listed | bare


def _terms() -> st.SearchStrategy[dict[str, Any]]:
    name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    return st.builds(
        _with,
        matchExpressions=st.none() | st.lists(_conditions(), min_size=1, max_size=3),
        matchFields=st.sampled_from((None, None, [name])),
    )


def _wishes() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"weight": st.integers(1, 100), "preference": _terms()})


def _affinities() -> st.SearchStrategy[dict[str, Any]]:
    required = st.fixed_dictionaries(
        {"nodeSelectorTerms": st.lists(_terms(), min_size=1, max_size=3)}
    )
    node_affinity = st.builds(
        _with,
        requiredDuringSchedulingIgnoredDuringExecution=st.none() | required,
        preferredDuringSchedulingIgnoredDuringExecution=st.none()
        | st.lists(_wishes(), min_size=1, max_size=2),
    )
    return st.builds(_with, nodeAffinity=st.none() | node_affinity)


def _tolerations() -> st.SearchStrategy[dict[str, Any]]:
    effect = st.none() | st.sampled_from(EFFECTS)
    exists = st.builds(
        _with,
        key=st.none() | st.sampled_from(KEYS),
        operator=st.just("Exists"),
        effect=effect,
    )
    equal = st.builds(
        _with,
        key=st.sampled_from(KEYS),
        operator=st.sampled_from((None, "Equal")),
        value=st.sampled_from(VALUES),
        effect=effect,
    )
    return exists | equal


def pods() -> st.SearchStrategy[dict[str, Any]]:
    """Pods whose selector, affinity and tolerations are anything."""
    selector = st.dictionaries(
        st.sampled_from((POOL_LABEL, "disk")), st.sampled_from(NAMES), max_size=2
    )
    spec = st.builds(
        _with,
        containers=st.just([{"name": "main", "image": "none"}]),
        nodeSelector=st.none() | selector,
        affinity=st.none() | _affinities(),
        tolerations=st.none() | st.lists(_tolerations(), max_size=4),
    )
    return st.fixed_dictionaries({"metadata": st.just({"name": "any"}), "spec": spec})
