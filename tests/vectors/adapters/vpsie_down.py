"""VPSie: which nodes go, what holds them back, and how they are drained."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgspec

from growth.api.removal_reason import RemovalReason
from growth.api.scaling_desired import ScaleDownMode
from growth.api.vpsie_nodegroup import is_managed_group
from growth.keeping.marks import protection
from growth.scheduling.metadata import ObservedCondition
from growth.scheduling.objects import decode_disruption_budget
from reconciler.core.measured import UsedShare, UseSample
from reconciler.core.timing import Timing
from reconciler.facts.cordons import bears_our_cordon, cordoned
from reconciler.scaling.desired.counting import SizeCounts
from reconciler.scaling.desired.modes import (
    NAMED_WINDOWS,
    PRESETS,
    ScaleDownPace,
    allowed_hours,
    is_hour_between,
    lets_go_at,
    may_go,
    pace_of,
)
from reconciler.scaling.desired.order import DrainCandidate, disturbance, first_to_go
from reconciler.scaling.desired.safety import (
    SAFE,
    anti_affinity_objection,
    node_block,
    pods_meant_by,
    refuge_of,
)
from reconciler.scaling.desired.use import (
    UseThresholds,
    has_lasted,
    is_underused,
    underused_nodes,
)
from tests.removal.build import NAME, machine, node, removal, world
from tests.scheduling import build
from tests.vectors.adapters.vpsie_pods import pod_in
from tests.vectors.answers import AnyOf
from tests.vectors.registry import adapts
from tests.vectors.removing import NOW, Removing

if TYPE_CHECKING:
    from growth.scheduling.node import Node
    from tests.vectors.rows import Json

VPSIE = "vpsie"
NOON = 12 * 60
MANAGED = {"autoscaler.vpsie.com/managed": "true"}


def exact(number: float) -> Fraction:
    """A number as it is written in a row."""
    return Fraction(str(number))


def _share(percent: float) -> UsedShare:
    share = exact(percent) / 100
    return UsedShare(share.numerator, share.denominator)


def _sample(row: Json) -> UseSample:
    age = row.get("age_minutes", 0) * 60
    return UseSample(at=-age, cpu=_share(row["cpu"]), memory=_share(row["mem"]))


@adapts("underutilised_now", system=VPSIE)
def underutilised_now(given: Json) -> Json:
    limits = UseThresholds(cpu=exact(given["cpu_threshold"]), memory=exact(given["mem_threshold"]))
    return {"underutilised": limits.exceed(_sample(given))}


@adapts("underutilised_window", system=VPSIE)
def underutilised_window(given: Json) -> Json:
    limits = UseThresholds(
        cpu=exact(given["cpu_threshold"]),
        memory=exact(given["mem_threshold"]),
        window=given["window_minutes"] * 60,
    )
    samples = [_sample(each) for each in given["samples"] or ()]
    return {"underutilised": is_underused(samples, limits, now=0.0)}


@adapts("underutilised_duration", system=VPSIE)
def underutilised_duration(given: Json) -> Json:
    lasted = has_lasted(given["underutilised_seconds"], given["default_duration_seconds"])
    return {"candidate": lasted}


@adapts("identify_underutilised", system=VPSIE)
def identify_underutilised(given: Json) -> Json:
    samples = {name: [_sample(each) for each in rows] for name, rows in given["samples"].items()}
    limits = UseThresholds(cpu=exact(given["thresholds"]), memory=exact(given["thresholds"]))
    number = len(given["nodes"])
    counts = SizeCounts(
        current=number, desired=number, least=given.get("min", 0), most=given.get("max", number)
    )
    labels = MANAGED if given.get("managed", True) else {}
    asked = given["nodes"] if counts.may_shrink and is_managed_group(labels) else ()
    return {"candidates": list(underused_nodes(asked, samples, limits, now=0.0))}


@adapts("select_nodes_to_delete", system=VPSIE)
def select_nodes_to_delete(given: Json) -> Json:
    found = first_to_go(
        (
            DrainCandidate(name=f"node-{number}", is_ready=phase == "Ready", born=0.0)
            for number, phase in enumerate(given["phases"])
        ),
        given["count"],
    )
    return {"count": len(found), "includes_not_ready": not all(each.is_ready for each in found)}


@adapts("candidate_order", system=VPSIE)
def candidate_order(given: Json) -> Json:
    found = first_to_go(
        (
            DrainCandidate(
                name=each["name"],
                is_ready=each["ready"],
                born=-each["age_h"] * 3600.0,
                use=exact(each["util"]),
            )
            for each in given["nodes"]
        ),
        given["count"],
    )
    return {"names": [each.name for each in found]}


@adapts("candidate_priority", system=VPSIE)
def candidate_priority(given: Json) -> Json:
    if "priorities" in given:
        alike = [
            DrainCandidate(name=str(each), is_ready=True, born=0.0, disturbs=each)
            for each in given["priorities"]
        ]
        return {"order": [each.disturbs for each in first_to_go(alike, len(alike))]}
    mean = _sample(given).percent
    pods = {"pods": given["pods"], "system_pods": given["kube_system_pods"]}
    return {"priority": disturbance(mean, **pods)}


@adapts("hour_in_window", system=VPSIE)
def hour_in_window(given: Json) -> Json:
    return {"inside": is_hour_between(given["hour"], given["start"], given["end"])}


@adapts("policy_mode", system=VPSIE)
def policy_mode(given: Json) -> Json:
    config = given["config"]
    own = ScaleDownPace(
        cpu=exact(config["cpu"]),
        memory=exact(config["mem"]),
        window=config["window_seconds"],
        at_once=config["max_per_scale_down"],
    )
    pace = pace_of(ScaleDownMode(given["mode"].capitalize()), own)
    return {
        "cpu_threshold": float(pace.cpu),
        "mem_threshold": float(pace.memory),
        "window_seconds": pace.window,
        "delay": pace.is_delayed,
        "max_concurrent": pace.at_once,
        "scale_down_allowed": pace.is_allowed,
    }


@adapts("policy_allow", system=VPSIE)
def policy_allow(given: Json) -> Json:
    allowed = may_go(
        ScaleDownMode(given["mode"].capitalize()),
        is_enabled=given["scale_down_enabled"],
        annotations=given.get("node_annotations") or {},
        minute=NOON,
    )
    return {"allowed": allowed}


@adapts("annotated_hours", system=VPSIE)
def annotated_hours(given: Json) -> Json:
    hours = given["hours"]
    return {"allowed": lets_go_at(hours, NOON), "fail_open": allowed_hours(hours) is None}


@adapts("policy_preset", system=VPSIE)
def policy_preset(given: Json) -> Json:
    plan = PRESETS[given["preset"]]
    return {"mode": plan.mode.value.lower(), "windows": len(plan.windows)}


@adapts("policy_window_preset", system=VPSIE)
def policy_window_preset(_: Json) -> Json:
    """Only the name of such a row says which window it means."""
    return {
        "start": AnyOf(each.start for each in NAMED_WINDOWS),
        "end": AnyOf(each.end for each in NAMED_WINDOWS),
        "mode": AnyOf(each.mode.value.lower() for each in NAMED_WINDOWS),
        "days": AnyOf(len(each.days) for each in NAMED_WINDOWS),
    }


@adapts("protected_node", system=VPSIE)
def protected_node(given: Json) -> Json:
    made = build.node(labels=given.get("labels") or {})
    metadata = msgspec.structs.replace(made.metadata, annotations=given.get("annotations") or {})
    return {"protected": bool(protection(msgspec.structs.replace(made, metadata=metadata)))}


@adapts("node_ready", system=VPSIE)
def node_ready(given: Json) -> Json:
    said = given["ready_condition"]
    conditions = () if said is None else (ObservedCondition(type="Ready", status=said),)
    made = build.node()
    status = msgspec.structs.replace(made.status, conditions=conditions)
    return {"ready": msgspec.structs.replace(made, status=status).is_ready}


HOSTS = "kubernetes.io/hostname"


@adapts("anti_affinity_blocks", system=VPSIE)
def anti_affinity_blocks(given: Json) -> Json:
    why = anti_affinity_objection(
        given["matching_pods"], remaining=given["nodes"] - 1, topology=given["topology"]
    )
    return {"blocked": bool(why), "reason": why}


@adapts("anti_affinity_namespaces", system=VPSIE)
def anti_affinity_namespaces(given: Json) -> Json:
    term: Json = {
        "topologyKey": given["topology"],
        "labelSelector": {"matchLabels": {"app": "web"}},
        "namespaces": given.get("namespaces"),
    }
    if given.get("namespace_selector"):
        term["namespaceSelector"] = {"matchLabels": given["namespace_selector"]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    apart = build.pod(namespace=given["pod_ns"], affinity={"podAntiAffinity": required})
    labels = given.get("namespace_labels") or {}
    cluster = build.cluster(
        build.node("one"),
        *(build.namespace(name, **labels.get(name, {})) for name in given["pods"]),
        *(
            build.pod(f"web-{number}", namespace=name, labels={"app": "web"}, on="one")
            for name, count in given["pods"].items()
            for number in range(count)
        ),
    )
    (compiled,) = apart.anti_affinity_terms
    why = anti_affinity_objection(
        pods_meant_by(compiled, cluster), remaining=given["nodes"] - 1, topology=given["topology"]
    )
    return {"blocked": bool(why), "reason": why}


def _ready(name: str, row: Json) -> Node:
    made = build.node(name, cpu=row["node_cpu"], memory=row["node_mem"])
    protected = {"autoscaler.vpsie.com/protected": "true"} if row.get("protected") else {}
    metadata = msgspec.structs.replace(made.metadata, annotations=protected)
    return msgspec.structs.replace(made, metadata=metadata)


@adapts("safe_to_remove", system=VPSIE)
def safe_to_remove(given: Json) -> Json:
    going = _ready("going", given)
    others = [
        _ready(f"other-{number}", given | {"protected": False})
        for number in range(given["ready_nodes"] - 1)
    ]
    pods = [
        pod_in({"name": f"web-{number}"} | each, on="going")
        for number, each in enumerate(given["pods"])
    ]
    cluster = build.cluster(going, *others, *pods)
    blocked = node_block(going, cluster, refuge=refuge_of(others, cluster))
    return {"safe": blocked is None, "reason": SAFE if blocked is None else blocked.why}


@adapts("pdb", system=VPSIE)
def disruption_budgets(given: Json) -> Json:
    """Each budget covers one pod of the node."""
    going, other = (build.node(name) for name in ("going", "other"))
    allowed = list(enumerate(given["disruptions_allowed"]))
    pods = [
        build.pod(
            f"web-{number}",
            labels={"app": str(number)},
            on="going",
            status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        )
        for number, _ in allowed
    ]
    budgets = [_budget(number, most) for number, most in allowed]
    cluster = build.cluster(going, other, *pods, *budgets)
    blocked = node_block(going, cluster, refuge=refuge_of([other], cluster))
    if blocked is None:
        return {"safe": True}
    return {"safe": False, "event": blocked.event.value, "reason": blocked.reason.value}


def _budget(number: int, allowed: int) -> Any:
    document = {
        "metadata": {"name": f"budget-{number}", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": str(number)}}},
        "status": {"disruptionsAllowed": allowed},
    }
    return decode_disruption_budget(msgspec.json.encode(document))


@adapts("node_draining", system=VPSIE)
def node_draining(given: Json) -> Json:
    """The original writes how far a drain is; here growth's cordon says that one is going on."""
    made = node()
    if given["drain_status"] == "draining":
        written = cordoned(made, RemovalReason.SURPLUS)
        metadata = msgspec.structs.replace(
            made.metadata, annotations={k: v for k, v in written.annotations.items() if v}
        )
        spec = msgspec.structs.replace(made.spec, unschedulable=bool(written.unschedulable))
        made = msgspec.structs.replace(made, metadata=metadata, spec=spec)
    return {"draining": bears_our_cordon(made) and made.spec.unschedulable}


@adapts("drain", system=VPSIE)
def drain(given: Json) -> Json:
    number = given["pods"] if isinstance(given["pods"], int) else len(given["pods"])
    pods = [build.pod(f"web-{at}", on=NAME) for at in range(number)]
    waits = float(given.get("drain_timeout_seconds", 0))
    begun = removal(reason="Surplus", made_at=NOW - waits - 1)
    seen = world(node(), *pods, begun, shown=(machine(),), timing=Timing(drain_wait=waits))
    removing = Removing(world=seen)
    removing.play()
    left = removing.world.cluster.nodes[NAME]
    return {
        "error": removing.is_deleted,
        "node_exists": not removing.is_freed,
        "node_exists_after_drain": not removing.is_freed,
        "cordoned": left.spec.unschedulable,
    }
