"""Rules between pods: affinity, anti-affinity in both directions, and topology spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential.cases import HOST, RACK, ZONE
from tests.differential.constraints.placement import node_selector, taints
from tests.differential.constraints.resources import leave
from tests.differential.drafts import LABELS, existing_pod, one_in
from tests.differential.manifests import NAMESPACES

if TYPE_CHECKING:
    from tests.differential.cases import Manifest
    from tests.differential.drafts import Draft

_TOPOLOGIES = (ZONE, RACK, HOST)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SELECTABLE = ("app", "tier")
_VERSION = "version"  # kept out of selectors, as matchLabelKeys must name other keys


def pod_affinity(draw: st.DrawFn, draft: Draft) -> None:
    _people(draw, draft)
    _relate(draw, draft.pod, "podAffinity")
    _lose_topology(draw, draft)


def pod_anti_affinity(draw: st.DrawFn, draft: Draft) -> None:
    _people(draw, draft)
    _relate(draw, draft.pod, "podAntiAffinity")
    _lose_topology(draw, draft)


def anti_affinity_of_others(draw: st.DrawFn, draft: Draft) -> None:
    """Pods that stand there keep the offered one away; their affinity does not matter."""
    _people(draw, draft)
    for pod in draft.existing:
        kinds = ("podAntiAffinity", "podAntiAffinity", "podAffinity", None)
        if kind := draw(st.sampled_from(kinds)):
            _relate(draw, pod, kind)
    _lose_topology(draw, draft)


def topology_spread(draw: st.DrawFn, draft: Draft) -> None:
    _people(draw, draft)
    spreads = [_spread(draw, draft.pod, topology) for topology in _some_topologies(draw)]
    draft.pod["spec"]["topologySpreadConstraints"] = spreads
    _lose_topology(draw, draft)


def spread_over_eligible_nodes(draw: st.DrawFn, draft: Draft) -> None:
    """With taints and selectors, so that both policies of inclusion change the counts."""
    if draw(st.booleans()):
        taints(draw, draft)
    else:
        node_selector(draw, draft)
    topology_spread(draw, draft)


def _people(draw: st.DrawFn, draft: Draft) -> None:
    """More pods with labels, on all nodes; some are finished, some are terminating."""
    alike = draft.pod["metadata"]["labels"]
    for _ in range(draw(st.integers(0, 4))):
        pod = existing_pod(draw)
        if draw(st.booleans()):
            pod["metadata"].update(namespace=NAMESPACES[0], labels=dict(alike))
        if one_in(draw, 3):
            leave(draw, pod)
        draft.add_existing(pod, draw(st.sampled_from(draft.nodes)))


def _relate(draw: st.DrawFn, pod: Manifest, kind: str) -> None:
    terms = [_term(draw, pod) for _ in range(draw(st.sampled_from((1, 1, 2))))]
    pod["spec"].setdefault("affinity", {})[kind] = {_REQUIRED: terms}


def _term(draw: st.DrawFn, pod: Manifest) -> Manifest:
    term: Manifest = {"topologyKey": draw(st.sampled_from(_TOPOLOGIES))}
    if draw(st.integers(0, 9)):  # a term without a selector matches nothing
        term["labelSelector"] = _selector(draw, pod["metadata"]["labels"])
        if one_in(draw, 4):
            key = draw(st.sampled_from(("matchLabelKeys", "mismatchLabelKeys")))
            term[key] = [_VERSION]
    if one_in(draw, 4):
        names = st.lists(st.sampled_from(NAMESPACES), min_size=1, max_size=2, unique=True)
        term["namespaces"] = draw(names)
    if one_in(draw, 4):
        term["namespaceSelector"] = draw(st.sampled_from(_NAMESPACE_SELECTORS))
    return term


_NAMESPACE_SELECTORS: tuple[Manifest, ...] = (
    {},
    {"matchLabels": {"team": "red"}},
    {"matchLabels": {"team": "blue"}},
    {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]},
    {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACES[1]}},
)


def _selector(draw: st.DrawFn, own: dict[str, str]) -> Manifest:
    """Mostly by labels the pod bears itself, as workloads select their own kind."""
    if one_in(draw, 10):
        return {}
    mine = {key: own[key] for key in _SELECTABLE if key in own and draw(st.booleans())}
    match draw(st.sampled_from(("labels", "expressions", "both"))):
        case "labels" if mine:
            return {"matchLabels": mine}
        case "expressions":
            mine = {}
        case _:
            pass
    return {
        "matchLabels": mine,
        "matchExpressions": [_requirement(draw) for _ in range(draw(st.integers(1, 2)))],
    }


def _requirement(draw: st.DrawFn) -> Manifest:
    key = draw(st.sampled_from(_SELECTABLE))
    operator = draw(st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")))
    if operator in {"Exists", "DoesNotExist"}:
        return {"key": key, "operator": operator}
    values = st.lists(st.sampled_from(LABELS[key]), min_size=1, max_size=2, unique=True)
    return {"key": key, "operator": operator, "values": draw(values)}


def _some_topologies(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(st.sampled_from(_TOPOLOGIES), min_size=1, max_size=2, unique=True))


def _spread(draw: st.DrawFn, pod: Manifest, topology: str) -> Manifest:
    spread: Manifest = {
        "topologyKey": topology,
        "maxSkew": draw(st.sampled_from((1, 1, 1, 2))),
        "whenUnsatisfiable": "ScheduleAnyway" if one_in(draw, 8) else "DoNotSchedule",
    }
    if draw(st.integers(0, 9)):
        spread["labelSelector"] = _selector(draw, pod["metadata"]["labels"])
        if one_in(draw, 4):
            spread["matchLabelKeys"] = [_VERSION]
    if one_in(draw, 3) and spread["whenUnsatisfiable"] == "DoNotSchedule":
        spread["minDomains"] = draw(st.integers(1, 4))
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if draw(st.booleans()):
            spread[policy] = draw(st.sampled_from(("Honor", "Ignore")))
    return spread


def _lose_topology(draw: st.DrawFn, draft: Draft) -> None:
    """Some nodes belong to no zone or no rack."""
    for node in draft.nodes:
        if one_in(draw, 8):
            node["metadata"]["labels"].pop(draw(st.sampled_from((ZONE, RACK))), None)
