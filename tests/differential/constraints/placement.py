"""Rules between a pod and one node: taints, selectors, node affinity, cordons, host ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential import manifests
from tests.differential.drafts import existing_pod, name_of, one_in

if TYPE_CHECKING:
    from tests.differential.cases import Manifest
    from tests.differential.drafts import Draft

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_KEYS, _VALUES = ("dedicated", "spot"), ("a", "b", "")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_NODE_LABELS = {
    "disk": ("ssd", "hdd", ""),
    "cores": ("7", "8", "16", "007"),
    "arch": ("x86", "arm"),
}
_NO_NUMBERS = ("", "many", "9" * 20)
"""The last one is a number, but more than 64 bits hold."""
_PORT: dict[str, tuple[str | int | None, ...]] = {
    "hostPort": (80, 81),
    "protocol": (None, "TCP", "UDP", "SCTP"),
    "hostIP": (None, "0.0.0.0", "127.0.0.1", "10.0.0.1", "10.0.0.2", "::"),
}
_LISTENERS = st.sampled_from(("container", "container", "container", "sidecar", "init", "network"))


def taints(draw: st.DrawFn, draft: Draft) -> None:
    for node in draft.nodes:
        found = node["spec"]["taints"] + draw(st.lists(_taint(), min_size=1, max_size=2))
        node["spec"]["taints"] = list({_identity(taint): taint for taint in found}.values())
    on_the_way = [taint for node in draft.open_nodes for taint in node["spec"]["taints"]]
    draft.pod["spec"]["tolerations"] += [
        draw(_toleration(taint)) for taint in on_the_way if draw(st.integers(0, 5))
    ]


def unschedulable_nodes(draw: st.DrawFn, draft: Draft) -> None:
    """Cordoned nodes; the taint is what the control plane would add by itself."""
    for node in draft.nodes:
        if one_in(draw, 4):
            continue
        node["spec"]["unschedulable"] = True
        node["spec"]["taints"].append({"key": UNSCHEDULABLE, "effect": "NoSchedule"})
    cordon = {"key": UNSCHEDULABLE, "effect": "NoSchedule"}
    if draw(st.integers(0, 2)):
        draft.pod["spec"]["tolerations"].append(draw(_toleration(cordon)))


def node_selector(draw: st.DrawFn, draft: Draft) -> None:
    _label(draw, draft)
    chosen = draw(st.sampled_from(draft.open_nodes))["metadata"]["labels"]
    selector = {key: chosen[key] for key in _NODE_LABELS if key in chosen and draw(st.booleans())}
    if draw(st.booleans()):
        key = draw(st.sampled_from(tuple(_NODE_LABELS)))
        selector[key] = draw(st.sampled_from(_NODE_LABELS[key]))
    selector = {key: text for key, text in selector.items() if text or draw(st.booleans())}
    draft.pod["spec"]["nodeSelector"] = selector


def node_affinity(draw: st.DrawFn, draft: Draft) -> None:
    _label(draw, draft)
    terms = [_expressions(draw) for _ in range(draw(st.sampled_from((0, 1, 1, 2, 2))))]
    if not terms or one_in(draw, 5):
        terms.append({})  # an empty term matches nothing
    _require(draw, draft, terms)
    if draw(st.booleans()):  # both must hold
        key = draw(st.sampled_from(("disk", "arch")))
        draft.pod["spec"]["nodeSelector"] = {key: draw(st.sampled_from(_NODE_LABELS[key]))}


def absent_labels(draw: st.DrawFn, draft: Draft) -> None:
    """Some operators are content with a node that lacks the label."""
    for node in draft.nodes:
        if draw(st.booleans()):
            node["metadata"]["labels"]["disk"] = draw(st.sampled_from(("ssd", "hdd")))
    operator = draw(st.sampled_from(("NotIn", "NotIn", "NotIn", "DoesNotExist", "In")))
    values = {} if operator == "DoesNotExist" else {"values": ["ssd"]}
    expression = {"key": "disk", "operator": operator, **values}
    _require(draw, draft, [{"matchExpressions": [expression]}])


def numeric_node_affinity(draw: st.DrawFn, draft: Draft) -> None:
    """Greater and less, on the number itself, beside it, and on what is no number."""
    bound = draw(st.sampled_from((7, 8, 16)))
    around = st.sampled_from((bound - 1, bound, bound, bound + 1)).map(str)
    for node in draft.nodes:
        node["metadata"]["labels"]["cores"] = draw(around)
        if draw(st.booleans()):
            node["metadata"]["labels"]["cores"] = draw(st.sampled_from(_NO_NUMBERS))
    _require(draw, draft, [{"matchExpressions": [_comparison(draw, str(bound))]}])


def match_fields(draw: st.DrawFn, draft: Draft) -> None:
    """By name: as DaemonSet pods are bound to their nodes, and as nodes are avoided."""
    _label(draw, draft)
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        name = name_of(draw(st.sampled_from(draft.nodes)))
        if one_in(draw, 8):
            name = "nowhere-~"
        operator = draw(st.sampled_from(("In", "In", "NotIn")))
        field = {"key": "metadata.name", "operator": operator, "values": [name]}
        terms.append({"matchFields": [field], **(_expressions(draw) if one_in(draw, 3) else {})})
    _require(draw, draft, terms)


def host_ports(draw: st.DrawFn, draft: Draft) -> None:
    """Pods that want the same port, or miss each other by one property."""
    same = _port(draw)
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        pod = existing_pod(draw)
        _listen(draw, pod, same)
        draft.add_existing(pod, draw(st.sampled_from(draft.open_nodes)))
    key = draw(st.sampled_from((*_PORT, "protocol", "hostIP", "none")))
    others = [text for text in _PORT.get(key, (None,)) if text != same.get(key, "")]
    _listen(draw, draft.pod, {**same, key: draw(st.sampled_from(others))})


def _taint() -> st.SearchStrategy[Manifest]:
    return st.fixed_dictionaries(
        {
            "key": st.sampled_from(_KEYS),
            "value": st.sampled_from(_VALUES),
            "effect": st.sampled_from(_EFFECTS),
        }
    )


def _identity(taint: Manifest) -> tuple[str, str]:
    return taint["key"], taint["effect"]


@st.composite
def _toleration(draw: st.DrawFn, taint: Manifest) -> Manifest:
    """One that tolerates the taint, or misses it by one property."""
    key, value, effect = taint["key"], taint.get("value", ""), taint["effect"]
    near_misses: tuple[Manifest, ...] = (
        {"key": key, "operator": "Equal", "value": "other", "effect": effect},
        {"key": "other", "operator": "Exists", "effect": effect},
        {"key": key, "operator": "Exists", "effect": draw(st.sampled_from(_EFFECTS))},
        {"key": key, "value": value, "effect": draw(st.sampled_from(_EFFECTS))},
    )
    hits: tuple[Manifest, ...] = (
        {"operator": "Exists"},
        {"operator": "Exists", "effect": effect},
        {"key": key, "operator": "Exists"},
        {"key": key, "operator": "Equal", "value": value},
        {"key": key, "value": value, "effect": effect},
    )
    toleration = dict(draw(st.sampled_from(hits + near_misses)))
    if toleration.get("effect") == "NoExecute" and draw(st.booleans()):
        toleration["tolerationSeconds"] = draw(st.sampled_from((0, 3600)))
    return toleration


def _label(draw: st.DrawFn, draft: Draft) -> None:
    for node in draft.nodes:
        node["metadata"]["labels"].update(
            {
                key: draw(st.sampled_from(values))
                for key, values in _NODE_LABELS.items()
                if draw(st.integers(0, 3))
            }
        )


def _expressions(draw: st.DrawFn) -> Manifest:
    return {"matchExpressions": [_expression(draw) for _ in range(draw(st.integers(1, 2)))]}


def _expression(draw: st.DrawFn) -> Manifest:
    operator = draw(st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "compares")))
    if operator == "compares":
        return _comparison(draw, draw(st.sampled_from(("7", "8", "16"))))
    key = draw(st.sampled_from(tuple(_NODE_LABELS)))
    if operator in {"Exists", "DoesNotExist"}:
        return {"key": key, "operator": operator}
    values = draw(st.lists(st.sampled_from(_NODE_LABELS[key]), min_size=1, max_size=2, unique=True))
    return {"key": key, "operator": operator, "values": values}


def _comparison(draw: st.DrawFn, bound: str) -> Manifest:
    return {"key": "cores", "operator": draw(st.sampled_from(("Gt", "Lt"))), "values": [bound]}


def _require(draw: st.DrawFn, draft: Draft, terms: list[Manifest]) -> None:
    affinity: Manifest = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
    }
    if one_in(draw, 4):  # a preference decides nothing
        preference = {"weight": 1, "preference": _expressions(draw)}
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [preference]
    draft.pod["spec"].setdefault("affinity", {})["nodeAffinity"] = affinity


def _port(draw: st.DrawFn) -> Manifest:
    return {key: draw(st.sampled_from(values)) for key, values in _PORT.items()}


def _listen(draw: st.DrawFn, pod: Manifest, wanted: Manifest) -> None:
    port = {key: text for key, text in wanted.items() if text is not None}
    port["containerPort"] = port["hostPort"]
    match draw(_LISTENERS):
        case "container":
            pod["spec"]["containers"][0]["ports"] = [port]
        case "network":  # the API server makes host ports of all container ports
            pod["spec"]["hostNetwork"] = True
            del port["hostPort"]
            pod["spec"]["containers"][0]["ports"] = [port]
        case kind:
            first = manifests.container("first", {})
            first["ports"] = [port]
            if kind == "sidecar":
                first["restartPolicy"] = "Always"
            pod["spec"].setdefault("initContainers", []).append(first)
