"""Rules between pods: affinity, anti-affinity in both directions, and topology spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential.cases import HOST, RACK, ZONE
from tests.differential.constraints.resources import leave
from tests.differential.drafts import LABELS, existing_pod, one_in
from tests.differential.manifests import NAMESPACES

if TYPE_CHECKING:
    from tests.differential.cases import Manifest
    from tests.differential.drafts import Draft

_TOPOLOGIES = (ZONE, RACK, HOST)
_EFFECTS = st.sampled_from(("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_SELECTABLE = ("app", "tier")
_VERSION = "version"  # kept out of selectors, as matchLabelKeys must name other keys


def pod_affinity(draw: st.DrawFn, draft: Draft) -> None:
    if one_in(draw, 4):
        draft.existing.clear()  # the first of a group has nobody to be near
    else:
        _people(draw, draft)
    _relate(draw, draft.pod, "podAffinity", to=_someone(draw, draft))
    _lose_topology(draw, draft)


def pod_anti_affinity(draw: st.DrawFn, draft: Draft) -> None:
    _people(draw, draft)
    _relate(draw, draft.pod, "podAntiAffinity", to=_someone(draw, draft))
    _lose_topology(draw, draft)


def anti_affinity_of_others(draw: st.DrawFn, draft: Draft) -> None:
    """Pods that stand there keep the offered one away; their affinity does not matter."""
    _people(draw, draft)
    for pod in draft.existing:
        pod["metadata"]["namespace"] = draw(st.sampled_from(NAMESPACES))
        kinds = ("podAntiAffinity", "podAntiAffinity", "podAffinity", None)
        if kind := draw(st.sampled_from(kinds)):
            _relate(draw, pod, kind, to=draft.pod)
    _lose_topology(draw, draft)


def topology_spread(draw: st.DrawFn, draft: Draft) -> None:
    _people(draw, draft)
    _crowd(draw, draft, draft.nodes, least=draw(st.integers(0, 1)))
    _spread_over(draw, draft)


def _spread_over(draw: st.DrawFn, draft: Draft) -> None:
    spreads = [_spread(draw, draft.pod, topology) for topology in _some_topologies(draw)]
    draft.pod["spec"]["topologySpreadConstraints"] = spreads
    _lose_topology(draw, draft)


def spread_over_enough_domains(draw: st.DrawFn, draft: Draft) -> None:
    """With too few domains the least count is zero, however full all of them are."""
    _crowd(draw, draft, draft.nodes, least=1)
    _spread_over(draw, draft)
    for spread in draft.pod["spec"]["topologySpreadConstraints"]:
        spread.update(whenUnsatisfiable="DoNotSchedule", minDomains=draw(st.integers(1, 4)))


def spread_over_untainted_nodes(draw: st.DrawFn, draft: Draft) -> None:
    """Tainted nodes count as domains or not, by the policy."""
    for node in _barred(draw, draft):
        node["spec"]["taints"].append({"key": "barred", "effect": draw(_EFFECTS)})
    _spread_over(draw, draft)


def spread_over_selected_nodes(draw: st.DrawFn, draft: Draft) -> None:
    """Nodes that the pod doesn't ask for count as domains or not, by the policy."""
    for node in _barred(draw, draft):
        node["metadata"]["labels"]["pool"] = draw(st.sampled_from(("b", "b", "a")))
    for node in draft.open_nodes:
        node["metadata"]["labels"]["pool"] = "a"
    draft.pod["spec"].setdefault("nodeSelector", {})["pool"] = "a"
    _spread_over(draw, draft)


def _barred(draw: st.DrawFn, draft: Draft) -> list[Manifest]:
    """Nodes that will be closed to the pod and are empty, beside open ones that are not."""
    for _ in range(draw(st.integers(1, 2))):
        draft.add_node(draw)
    _crowd(draw, draft, draft.open_nodes, least=1)
    return [node for node in draft.nodes if node not in draft.open_nodes]


def _people(draw: st.DrawFn, draft: Draft) -> None:
    """More nodes, and pods that are like the offered one or miss it by one property."""
    for _ in range(draw(st.integers(0, 2))):
        draft.add_node(draw)
    for _ in range(draw(st.integers(1, 4))):
        _place_alike(draw, draft, draw(st.sampled_from(draft.nodes)))


def _crowd(draw: st.DrawFn, draft: Draft, nodes: list[Manifest], *, least: int) -> None:
    """Each node has so many of them or more: a least count above zero is rare otherwise."""
    for node in nodes:
        for _ in range(least + draw(st.sampled_from((0, 0, 1, 2)))):
            _place_alike(draw, draft, node)


def _place_alike(draw: st.DrawFn, draft: Draft, node: Manifest) -> None:
    pod = existing_pod(draw)
    alike = dict(draft.pod["metadata"]["labels"])
    match draw(st.sampled_from(("alike", "alike", "alike", "abroad", "one label", "stranger"))):
        case "alike":
            pod["metadata"].update(namespace=NAMESPACES[0], labels=alike)
        case "abroad":
            pod["metadata"]["labels"] = alike
        case "one label":
            key = draw(st.sampled_from(tuple(LABELS)))
            changed = {key: draw(st.sampled_from(LABELS[key]))}
            pod["metadata"].update(namespace=NAMESPACES[0], labels=alike | changed)
        case _:
            pass
    if one_in(draw, 3):
        leave(draw, pod)
    draft.add_existing(pod, node)


def _someone(draw: st.DrawFn, draft: Draft) -> Manifest:
    """Whom a wish is about: the pod's own kind, or another that is there."""
    return draw(st.sampled_from((draft.pod, *draft.existing[-1:])))


def _relate(draw: st.DrawFn, pod: Manifest, kind: str, *, to: Manifest) -> None:
    terms = [_term(draw, pod, to=to) for _ in range(draw(st.sampled_from((1, 1, 2))))]
    if one_in(draw, 3):
        terms = _two_wishes_of_one_topology(draw)
    pod["spec"].setdefault("affinity", {})[kind] = {_REQUIRED: terms}


def _two_wishes_of_one_topology(draw: st.DrawFn) -> list[Manifest]:
    """One pod must meet both; two pods that meet one each are not enough."""
    topology = draw(st.sampled_from(_TOPOLOGIES))
    return [
        {
            "topologyKey": topology,
            "labelSelector": {"matchLabels": {key: draw(st.sampled_from(LABELS[key]))}},
        }
        for key in _SELECTABLE
    ]


def _term(draw: st.DrawFn, bearer: Manifest, *, to: Manifest) -> Manifest:
    term: Manifest = {"topologyKey": draw(st.sampled_from(_TOPOLOGIES))}
    if draw(st.integers(0, 9)):  # a term without a selector matches nothing
        term["labelSelector"] = _selector(draw, to["metadata"]["labels"])
        if one_in(draw, 4):
            key = draw(st.sampled_from(("matchLabelKeys", "mismatchLabelKeys")))
            term[key] = [_VERSION]
    match draw(st.sampled_from(("own", "own", "named", "selected", "selected", "both"))):
        case "named":
            term["namespaces"] = _namespaces(draw)
        case "selected":
            term["namespaceSelector"] = _namespace_selector(draw, bearer=bearer)
        case "both":
            term["namespaces"] = _namespaces(draw)
            term["namespaceSelector"] = _namespace_selector(draw, bearer=bearer)
        case _:
            pass
    return term


def _namespaces(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(st.sampled_from(NAMESPACES), min_size=1, max_size=2, unique=True))


_POSITIVE: tuple[Manifest, ...] = (
    {},
    {"matchLabels": {"team": "red"}},
    {"matchLabels": {"team": "blue"}},
    {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
    {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACES[1]}},
)
_NEGATIVE: tuple[Manifest, ...] = (
    {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]},
)


def _namespace_selector(draw: st.DrawFn, *, bearer: Manifest) -> Manifest:
    """Negative ones only for pods that stand there already.

    Schedulers since 1.34, until the mend of 2026, take negative ones of the pod they are placing
    for all namespaces (kubernetes issue 141526).
    """
    is_placed = "nodeName" in bearer["spec"]
    return draw(st.sampled_from(_POSITIVE + _NEGATIVE if is_placed else _POSITIVE))


def _selector(draw: st.DrawFn, own: dict[str, str]) -> Manifest:
    """Mostly by labels that whoever is meant bears, as workloads select their own kind."""
    mine = {key: own[key] for key in _SELECTABLE if key in own}
    some = {key: text for key, text in mine.items() if draw(st.booleans())}
    match draw(st.sampled_from(("all", "all", "some", "expressions", "both", "everything"))):
        case "all" if mine:
            return {"matchLabels": mine}
        case "some" if some:
            return {"matchLabels": some}
        case "everything":
            return {}
        case "expressions":
            some = {}
        case _:
            pass
    return {"matchLabels": some, "matchExpressions": [_requirement(draw)]}


def _unlike(draw: st.DrawFn, pod: Manifest) -> Manifest:
    """Everybody but the pod's own kind."""
    key = draw(st.sampled_from(_SELECTABLE))
    own = pod["metadata"]["labels"].get(key, "none")
    return {"matchExpressions": [{"key": key, "operator": "NotIn", "values": [own]}]}


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
        own = {"matchLabels": dict(pod["metadata"]["labels"])}
        other = _selector(draw, pod["metadata"]["labels"])
        spread["labelSelector"] = draw(st.sampled_from((own, own, other, _unlike(draw, pod))))
        if one_in(draw, 4) and spread["labelSelector"] is other:
            spread["matchLabelKeys"] = [_VERSION]
    if one_in(draw, 4) and spread["whenUnsatisfiable"] == "DoNotSchedule":
        spread["minDomains"] = draw(st.integers(1, 4))
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if chosen := draw(st.sampled_from(("Honor", "Honor", "Ignore", None))):
            spread[policy] = chosen
    return spread


def _lose_topology(draw: st.DrawFn, draft: Draft) -> None:
    """Some nodes belong to no zone or no rack."""
    for node in draft.nodes:
        if one_in(draw, 8):
            node["metadata"]["labels"].pop(draw(st.sampled_from((ZONE, RACK))), None)
