"""One table of documents, for the model and for the API server: both must say the same of each.

A case names a document and what is expected: that it is accepted, or the field that is refused
and a part of the text that says why and what to write instead.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

Document = dict[str, Any]

POOL: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {"serverTypes": [{"name": "cx33", "max": 10}]},
}
REQUEST: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodeRequest",
    "metadata": {"name": "default-6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a10"},
    "spec": {
        "pool": "default",
        "targetOffering": "hetzner-cax11",
        "serverType": "cax11",
        "location": "nbg1",
        "price": "0.0060",
        "resources": {"cpu": "2", "memory": "3709Mi"},
        "pods": [{"namespace": "shop", "name": "web-0", "uid": "4f2c"}],
    },
}
REMOVAL: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodeRemovalRequest",
    "metadata": {"name": "default-6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a10"},
    "spec": {
        "pool": "default",
        "nodeName": "default-6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a10",
        "nodeID": "4711",
        "requestUID": "0b7c",
        "reason": "Idle",
    },
}
RECORD: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "NodeRecord",
    "metadata": {"name": "default-6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a10"},
    "spec": {
        "pool": "default",
        "nodeClassRef": {"kind": "HetznerNodeClass", "name": "default"},
        "serverType": "cax11",
        "location": "nbg1",
        "price": "0.0060",
        "currency": "EUR",
        "nodeID": "4711",
        "requestUID": "0b7c",
        "boughtAt": "2026-11-18T12:00:00Z",
    },
}
HETZNER: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "HetznerNodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "tokenSecretRef": {"namespace": "growth-system", "name": "hetzner", "key": "token"},
        "images": {"x86": "debian-13"},
        "bootstrap": {"kind": "K3s", "server": "https://10.0.0.2:6443"},
    },
}
KWOK: Final[Document] = {
    "apiVersion": "growth.dev/v1alpha1",
    "kind": "KwokNodeClass",
    "metadata": {"name": "default"},
    "spec": {
        "types": [
            {
                "name": "cx33",
                "resources": {"cpu": 4, "memory": "8Gi"},
                "offers": [{"location": "nbg1", "price": "0.0136"}],
            }
        ]
    },
}
USER_DATA: Final = "join $(growth.nodeName) $(growth.nodeLabels) $(growth.nodeTaints)"
SECRET: Final = {"namespace": "growth-system", "name": "join", "key": "token"}


@dataclass(frozen=True)
class Case:
    """A document, and what is expected of it."""

    name: str
    document: Document
    path: str | None = None
    """The refused field; None = accepted."""
    text: str = ""
    """What the refusal says, in part."""
    server: str = ""
    """What the API server says, where its words are not ours to choose."""
    model_only: str = ""
    """Why the API server takes what the model refuses."""


def spec(base: Document, **fields: Any) -> Document:
    """The document with these fields of its spec; None takes one out."""
    document = deepcopy(base)
    document["spec"] |= fields
    document["spec"] = {
        name: value for name, value in document["spec"].items() if value is not None
    }
    return document


def named(base: Document, name: str) -> Document:
    """The document under another name."""
    return base | {"metadata": {"name": name}}


def types(*entries: tuple[str, dict[str, Any]]) -> Document:
    """A pool with these server types, max 1 unless said otherwise."""
    return spec(POOL, serverTypes=[{"name": name, "max": 1} | rest for name, rest in entries])


def bootstrap(**fields: Any) -> Document:
    """A Hetzner class that bootstraps like this."""
    return spec(HETZNER, bootstrap=fields)


def catalogue(**fields: Any) -> Document:
    """A KWOK class whose only type differs in these fields."""
    return spec(KWOK, types=[KWOK["spec"]["types"][0] | fields])


def fault(**fields: Any) -> Document:
    """A KWOK class that injects one fault."""
    return spec(KWOK, faults=[fields])


DURATION: Final = "must be a duration from"
TAINT: Final = {"key": "team", "value": "shop", "effect": "NoSchedule"}
LONG_NAME: Final = "a-pool-with-a-name-too-long"

NAMES: Final = (
    Case("a pool named by a DNS label", named(POOL, "gpu-2")),
    Case("a pool name of 26 characters", named(POOL, "a" * 26)),
    Case("a pool name of 27 characters", named(POOL, LONG_NAME), "metadata.name", "at most 26"),
    Case("a pool name with a dot", named(POOL, "a.b"), "metadata.name", "must be a DNS label"),
    Case("a pool name in upper case", named(POOL, "GPU"), "metadata.name", "must be a DNS label"),
    Case("a class named by a domain", named(KWOK, "try.example.org")),
    Case("a class without a name", named(KWOK, ""), "metadata.name", "Required value"),
    Case(
        "a class name in upper case",
        named(KWOK, "Try"),
        "metadata.name",
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters",
    ),
    Case(
        "a request named after another pool",
        named(REQUEST, "other-1"),
        "metadata.name",
        "metadata.name must be default-<uuid>",
    ),
    Case(
        "a removal named otherwise than its machine",
        named(REMOVAL, "default-1"),
        "metadata.name",
        "metadata.name must be spec.nodeName (default-6f1f",
    ),
    Case(
        "a record named after another pool",
        named(RECORD, "other-6f1f6c7e-64a5-4c4e-9f5b-0f1d7f2f7a10"),
        "metadata.name",
        "metadata.name must be default-<uuid>",
    ),
)

SERVER_TYPES: Final = (
    Case("the smallest pool", POOL),
    Case("type names in upper case", types(("CAX11", {}), ("CAX21", {"min": 1, "max": 5}))),
    Case("no server types", spec(POOL, serverTypes=None), "spec.serverTypes", "Required value"),
    Case(
        "an empty list of server types",
        spec(POOL, serverTypes=[]),
        "spec.serverTypes",
        "at least 1",
    ),
    Case(
        "two spellings of one type",
        types(("cx33", {}), ("cax21", {}), ("CAX21", {})),
        "spec.serverTypes[2]",
        '["cax21", "CAX21"] are the same server type: keep one entry and add up their max',
    ),
    Case(
        "one type twice in one spelling",
        types(("cax21", {}), ("cax21", {})),
        "spec.serverTypes[1]",
        '["cax21", "cax21"] are the same server type: keep one entry and add up their max',
    ),
    Case("min equals max", types(("cx33", {"min": 1}))),
    Case(
        "min above max",
        types(("cx33", {"min": 3})),
        "spec.serverTypes[0].min",
        "min 3 of cx33 is above its max 1: lower min or raise max",
    ),
    Case("max 0 buys none", types(("cx33", {"max": 0}))),
    Case(
        "a negative max",
        types(("cx33", {"max": -1})),
        "spec.serverTypes[0].max",
        "should be greater than or equal to 0",
    ),
    Case(
        "a max beyond any cluster",
        types(("cx33", {"max": 100_001})),
        "spec.serverTypes[0].max",
        "should be less than or equal to 100000",
    ),
    Case(
        "a max in quotes",
        types(("cx33", {"max": "3"})),
        "spec.serverTypes[0].max",
        "remove the quotes: 3",
        server='must be of type integer: "string"',
    ),
    Case(
        "no max",
        spec(POOL, serverTypes=[{"name": "cx33"}]),
        "spec.serverTypes[0].max",
        "Required value",
    ),
    Case(
        "a type name with a blank",
        types(("cx 33", {})),
        "spec.serverTypes[0].name",
        "cx 33 isn't a server type's name; use letters",
        server="should match",
    ),
    Case(
        "a type name of 64 characters",
        types(("c" * 64, {})),
        "spec.serverTypes[0].name",
        "may not be more than 63 bytes",
    ),
    Case("256 types", types(*((f"t{number}", {}) for number in range(256)))),
    Case(
        "257 types",
        types(*((f"t{number}", {}) for number in range(257))),
        "spec.serverTypes",
        "must have at most 256 items",
    ),
    Case(
        "an unknown field in a list",
        types(("cx33", {"maximum": 3})),
        "spec.serverTypes[0].maximum",
        "unknown field; known: name, min, max",
        server='unknown field "spec.serverTypes[0].maximum"',
    ),
)

TEMPLATE: Final = (
    Case(
        "locations with and without zones",
        spec(POOL, locations=[{"region": "nbg1"}, {"region": "eu-west", "zones": ["a", "b"]}]),
    ),
    Case(
        "two spellings of one region",
        spec(POOL, locations=[{"region": "nbg1"}, {"region": "NBG1"}]),
        "spec.locations[1]",
        '["nbg1", "NBG1"] are the same region: keep one entry with all its zones',
    ),
    Case(
        "a zone twice",
        spec(POOL, locations=[{"region": "eu", "zones": ["a", "a"]}]),
        "spec.locations[0].zones[1]",
        'Duplicate value: "a"',
    ),
    Case("labels of a team", spec(POOL, labels={"team": "shop", "example.org/tier": ""})),
    Case(
        "a label of ours",
        spec(POOL, labels={"growth.dev/pool": "other"}),
        "spec.labels",
        "labels below growth.dev/ are reserved for growth: use another prefix",
    ),
    Case(
        "a label's value with a blank",
        spec(POOL, labels={"team": "the shop"}),
        "spec.labels.team",
        "should match",
    ),
    Case(
        "a label's value that is a number",
        spec(POOL, labels={"team": 1}),
        "spec.labels.team",
        "put it in quotes",
        server='must be of type string: "integer"',
    ),
    Case(
        "a label's key with a blank",
        spec(POOL, labels={"the team": "shop"}),
        "spec.labels.the team",
        "must be a label's key",
        model_only="keys of maps have no schema",
    ),
    Case(
        "taints for now and for good",
        spec(POOL, taints=[TAINT], startupTaints=[{"key": "cilium", "effect": "NoExecute"}]),
    ),
    Case("one key with two effects", spec(POOL, taints=[TAINT, TAINT | {"effect": "NoExecute"}])),
    Case(
        "a taint twice",
        spec(POOL, taints=[TAINT, TAINT | {"value": "other"}]),
        "spec.taints[1]",
        'Duplicate value: {"effect":"NoSchedule","key":"team"}',
    ),
    Case(
        "a taint in both lists",
        spec(POOL, taints=[TAINT], startupTaints=[TAINT]),
        "spec.startupTaints[0]",
        'taints and startupTaints both contain ["team"] with the same effect: keep each in one of '
        "them",
    ),
    Case(
        "a taint of ours",
        spec(POOL, taints=[TAINT | {"key": "growth.dev/scale-down"}]),
        "spec.taints[0].key",
        "taints below growth.dev/ are reserved for growth: use another prefix",
    ),
    Case(
        "a start-up taint of ours",
        spec(POOL, startupTaints=[TAINT | {"key": "growth.dev/unregistered"}]),
        "spec.startupTaints[0].key",
        "taints below growth.dev/ are reserved for growth: use another prefix",
    ),
    Case(
        "an effect that doesn't exist",
        spec(POOL, taints=[TAINT | {"effect": "NoSchedul"}]),
        "spec.taints[0].effect",
        'Unsupported value: "NoSchedul": supported values: "NoSchedule", "PreferNoSchedule", '
        '"NoExecute"',
    ),
    Case("a node class by name", spec(POOL, nodeClassRef={"kind": "KwokNodeClass", "name": "try"})),
    Case(
        "a node class of another kind",
        spec(POOL, nodeClassRef={"kind": "EC2NodeClass", "name": "default"}),
        "spec.nodeClassRef.kind",
        'Unsupported value: "EC2NodeClass": supported values: "HetznerNodeClass", "KwokNodeClass"',
    ),
    Case(
        "a node class without a name",
        spec(POOL, nodeClassRef={"kind": "KwokNodeClass"}),
        "spec.nodeClassRef.name",
        "Required value",
    ),
    Case("each placement", spec(POOL, placement="Require")),
    Case(
        "a placement in lower case",
        spec(POOL, placement="require"),
        "spec.placement",
        "Unsupported",
    ),
    Case(
        "an unknown field of the spec",
        spec(POOL, serverTyps=[]),
        "spec.serverTyps",
        "unknown field; did you mean serverTypes?",
        server='unknown field "spec.serverTyps"',
    ),
    Case("a spec that is a list", POOL | {"spec": []}, "spec", 'must be of type object: "array"'),
    Case(
        "no spec",
        {key: POOL[key] for key in ("apiVersion", "kind", "metadata")},
        "spec",
        "Required",
    ),
)

SCALING: Final = (
    Case("a policy", spec(POOL, scaling={"policy": "Demand"})),
    Case("a policy as it was spelled first", spec(POOL, scaling={"policy": "demand"})),
    Case(
        "a policy that doesn't exist",
        spec(POOL, scaling={"policy": "Guess"}),
        "spec.scaling.policy",
        'Unsupported value: "Guess": supported values: "Demand", "Utilisation", "Desired"',
    ),
    Case("a number of nodes", spec(POOL, scaling={"policy": "Desired", "desired": {}})),
    Case(
        "every field of the policy Desired",
        spec(
            POOL,
            scaling={
                "policy": "Desired",
                "desired": {
                    "minNodes": 1,
                    "maxNodes": 5,
                    "desiredNodes": 3,
                    "scaleUpBatchSize": 2,
                    "preferredInstanceType": "cax11",
                    "scaleUpCooldown": "1m",
                    "scaleDownCooldown": "5m",
                    "cpuUtilizationThreshold": 40,
                    "memoryUtilizationThreshold": 60,
                    "underutilizationDuration": "20m",
                    "scaleDownPolicy": "Conservative",
                    "scaleDownWindows": [
                        {"days": ["Saturday"], "start": 18, "end": 8, "policy": "Aggressive"}
                    ],
                },
            },
        ),
    ),
    Case(
        "the policy Desired without its object",
        spec(POOL, scaling={"policy": "Desired"}),
        "spec.scaling",
        "the policy Desired needs the object desired",
    ),
    Case(
        "the fields of Desired under another policy",
        spec(POOL, scaling={"policy": "Demand", "desired": {}}),
        "spec.scaling",
        "desired is only for the policy Desired",
    ),
    Case(
        "a minimum above the maximum of nodes",
        spec(POOL, scaling={"policy": "Desired", "desired": {"minNodes": 3, "maxNodes": 2}}),
        "spec.scaling.desired",
        "minNodes 3 is above maxNodes 2",
    ),
    Case(
        "a policy without its settings",
        spec(POOL, scaling={"policy": "Utilisation"}),
    ),
    Case(
        "settings of another policy",
        spec(POOL, scaling={"utilisation": {}}),
        "spec.scaling.utilisation",
        "utilisation is only for the policy Utilisation, but the policy is Demand: remove "
        "utilisation or change the policy",
    ),
    *(
        Case(
            f"utilisation with {' and '.join(fields)}",
            spec(POOL, scaling={"policy": "Utilisation", "utilisation": fields}),
            f"spec.scaling.utilisation.{at}",
            text,
        )
        for fields, at, text in (
            (
                {"minNodes": 3, "maxNodes": 3},
                "minNodes",
                "minNodes 3 must be below maxNodes 3: change one of them, or leave out both",
            ),
            (
                {"taintUpperCapacityThresholdPercent": 10},
                "taintLowerCapacityThresholdPercent",
                "the thresholds must rise from taintLowerCapacityThresholdPercent (10) over",
            ),
            (
                {"scaleUpThresholdPercent": 40},
                "scaleUpThresholdPercent",
                "the thresholds must rise",
            ),
            (
                {"scaleUpThresholdPercent": 0},
                "scaleUpThresholdPercent",
                "should be greater than or equal to 1",
            ),
            (
                {"slowNodeRemovalRate": 6},
                "slowNodeRemovalRate",
                "slowNodeRemovalRate is above fastNodeRemovalRate: lower it",
            ),
            (
                {"softDeleteGracePeriod": "10m"},
                "softDeleteGracePeriod",
                "softDeleteGracePeriod must be shorter than hardDeleteGracePeriod",
            ),
            (
                {"scaleUpCoolDownPeriod": "10m"},
                "scaleUpCoolDownPeriod",
                "scaleUpCoolDownPeriod must be shorter than scaleUpCoolDownTimeout",
            ),
            (
                {"unhealthyNodeGracePeriod": "10m"},
                "healthCheckNewestNodesPercent",
                "unhealthyNodeGracePeriod turns the health check on, which needs",
            ),
            ({"taintEffect": "Never"}, "taintEffect", 'Unsupported value: "Never"'),
        )
    ),
)

LIMITS: Final = (
    Case(
        "every limit",
        spec(
            POOL,
            limits={
                "nodes": 20,
                "cpu": "100",
                "memory": "1Ti",
                "hourlyCost": "1.50",
                "nodesPerHour": 10,
            },
        ),
    ),
    Case("quantities as numbers", spec(POOL, limits={"cpu": 100, "memory": "512Gi"})),
    Case(
        "a negative quantity",
        spec(POOL, limits={"cpu": "-1"}),
        "spec.limits.cpu",
        "-1 isn't a quantity; write a number that isn't negative",
        server="should match",
    ),
    Case(
        "a negative number as quantity",
        spec(POOL, limits={"cpu": -1}),
        "spec.limits.cpu",
        "should be greater than or equal to 0",
    ),
    Case(
        "a quantity that is neither number nor text",
        spec(POOL, limits={"cpu": True}),
        "spec.limits.cpu",
        'must be of type integer,string: "boolean"',
    ),
    Case(
        "nothing where an entry should be",
        spec(POOL, serverTypes=[None]),
        "spec.serverTypes[0]",
        'must be of type object: "null"',
    ),
    Case(
        "a duration with a line break",
        spec(POOL, readinessWait="10m\n"),
        "spec.readinessWait",
        "must be a duration from",
    ),
    Case(
        "a quantity with a typing mistake",
        spec(POOL, limits={"memory": "8GB"}),
        "spec.limits.memory",
        "8GB isn't a quantity; write 8G or 8Gi",
        server="should match",
    ),
    Case(
        "money as a number",
        spec(POOL, limits={"hourlyCost": 1.5}),
        "spec.limits.hourlyCost",
        "put it in quotes",
        server='must be of type string: "number"',
    ),
    Case(
        "negative money",
        spec(POOL, limits={"hourlyCost": "-1"}),
        "spec.limits.hourlyCost",
        "-1 isn't an amount of money; write it without a currency",
        server="should match",
    ),
    Case(
        "minima above the limit",
        spec(
            POOL,
            serverTypes=[{"name": "a", "min": 2, "max": 2}, {"name": "b", "min": 1, "max": 2}],
            limits={"nodes": 2},
        ),
        "spec.limits.nodes",
        "the min of all types add up to 3, above limits.nodes 2: raise limits.nodes or lower min",
    ),
    Case(
        "minima at the limit",
        spec(POOL, serverTypes=[{"name": "a", "min": 2, "max": 2}], limits={"nodes": 2}),
    ),
    Case(
        "no purchase at all",
        spec(POOL, limits={"nodesPerHour": 0}),
        "spec.limits.nodesPerHour",
        "should be greater than or equal to 1",
    ),
    Case("the heaviest weight", spec(POOL, weight=100)),
    Case(
        "a weight above 100",
        spec(POOL, weight=101),
        "spec.weight",
        "should be less than or equal to 100",
    ),
)

TIMES: Final = (
    Case(
        "Go's ways to write a duration",
        spec(POOL, readinessWait="1h30m", requestTTL={"ready": "1.5h", "unmet": "90s"}),
    ),
    Case("a wrong duration", spec(POOL, readinessWait="5 minutes"), "spec.readinessWait", DURATION),
    Case("a duration of the whole day", spec(POOL, readinessWait="24h")),
    Case("the shortest duration", spec(POOL, readinessWait="1s")),
    Case("an ISO duration", spec(POOL, readinessWait="PT5M"), "spec.readinessWait", DURATION),
    Case("a negative duration", spec(POOL, readinessWait="-5m"), "spec.readinessWait", DURATION),
    Case(
        "a duration that is too long",
        spec(POOL, readinessWait="25h"),
        "spec.readinessWait",
        "must be a duration from 1s to 24h, such as 90s, 10m or 1h30m",
    ),
    Case(
        "a duration that is a number",
        spec(POOL, readinessWait=600),
        "spec.readinessWait",
        'must be of type string: "integer"',
    ),
    Case(
        "a time to live of nothing",
        spec(POOL, requestTTL={"unmet": "0s"}),
        "spec.requestTTL.unmet",
        DURATION,
    ),
    Case("idle nodes that go at once", spec(POOL, scaleDown={"idleAfter": "0s"})),
    Case(
        "every field of scaleDown",
        spec(
            POOL,
            scaleDown={
                "idleAfter": "5m",
                "retryAfter": "1m",
                "attempts": 3,
                "order": "NotReadyOldestLeastUsed",
                "paidHour": "Use",
            },
        ),
    ),
    Case(
        "no attempt to remove",
        spec(POOL, scaleDown={"attempts": 0}),
        "spec.scaleDown.attempts",
        "should be greater than or equal to 1",
    ),
    Case(
        "an unknown field of scaleDown",
        spec(POOL, scaleDown={"idleAftr": "1m"}),
        "spec.scaleDown.idleAftr",
        "unknown field; did you mean idleAfter?",
        server='unknown field "spec.scaleDown.idleAftr"',
    ),
)

DISRUPTION: Final = (
    Case(
        "budgets by number, share and window",
        spec(
            POOL,
            disruption={
                "consolidation": "Never",
                "budgets": [
                    {"nodes": 1},
                    {"nodes": "25%", "reasons": ["Drift"]},
                    {
                        "nodes": 0,
                        "window": {
                            "days": ["Monday", "Friday"],
                            "start": "08:00",
                            "duration": "10h",
                        },
                    },
                ],
            },
        ),
    ),
    Case(
        "a share above all",
        spec(POOL, disruption={"budgets": [{"nodes": "110%"}]}),
        "spec.disruption.budgets[0].nodes",
        "110% isn't a number or a percentage; write it as 3",
        server="should match",
    ),
    Case(
        "a negative budget",
        spec(POOL, disruption={"budgets": [{"nodes": -1}]}),
        "spec.disruption.budgets[0].nodes",
        "should be greater than or equal to 0",
    ),
    Case(
        "a budget of nothing",
        spec(POOL, disruption={"budgets": [{}]}),
        "spec.disruption.budgets[0].nodes",
        "Required value",
    ),
    Case(
        "a reason twice",
        spec(POOL, disruption={"budgets": [{"nodes": 1, "reasons": ["Drift", "Drift"]}]}),
        "spec.disruption.budgets[0].reasons[1]",
        'Duplicate value: "Drift"',
    ),
    Case(
        "a window at 25 o'clock",
        spec(
            POOL,
            disruption={"budgets": [{"nodes": 0, "window": {"start": "25:00", "duration": "1h"}}]},
        ),
        "spec.disruption.budgets[0].window.start",
        "should match",
    ),
    Case(
        "a window without an end",
        spec(POOL, disruption={"budgets": [{"nodes": 0, "window": {"start": "08:00"}}]}),
        "spec.disruption.budgets[0].window.duration",
        "Required value",
    ),
    Case(
        "a window of two days",
        spec(
            POOL,
            disruption={"budgets": [{"nodes": 0, "window": {"start": "08:00", "duration": "48h"}}]},
        ),
        "spec.disruption.budgets[0].window.duration",
        DURATION,
    ),
    Case(
        "a window on a day in lower case",
        spec(
            POOL,
            disruption={
                "budgets": [
                    {"nodes": 0, "window": {"days": ["monday"], "start": "08:00", "duration": "1h"}}
                ]
            },
        ),
        "spec.disruption.budgets[0].window.days[0]",
        'Unsupported value: "monday"',
    ),
    Case("machines that outlive their pool", spec(POOL, deletionPolicy="Retain")),
)

REQUESTS: Final = (
    Case("a request", REQUEST),
    Case("an offer told apart by labels", spec(REQUEST, labels={"capacity": "spot"})),
    Case("a request without a pool", spec(REQUEST, pool=None), "spec.pool", "Required value"),
    Case(
        "an offering in upper case",
        spec(REQUEST, targetOffering="hetzner-CAX11"),
        "spec.targetOffering",
        "should match",
    ),
    Case(
        "a price below nothing",
        spec(REQUEST, price="-0.1"),
        "spec.price",
        "-0.1 isn't an amount of money",
        server="should match",
    ),
    Case(
        "256 pods",
        spec(
            REQUEST,
            pods=[
                {"namespace": "shop", "name": f"web-{number}", "uid": str(number)}
                for number in range(256)
            ],
        ),
    ),
    Case(
        "257 pods",
        spec(
            REQUEST,
            pods=[
                {"namespace": "shop", "name": f"web-{number}", "uid": str(number)}
                for number in range(257)
            ],
        ),
        "spec.pods",
        "must have at most 256 items",
    ),
    Case("a removal", REMOVAL),
    Case(
        "a removal for no known reason",
        spec(REMOVAL, reason="Bored"),
        "spec.reason",
        'Unsupported value: "Bored"',
    ),
    Case(
        "a removal of no machine",
        spec(REMOVAL, nodeID=""),
        "spec.nodeID",
        "should be at least 1 chars long",
    ),
    Case(
        "a removal whose buyer isn't known",
        spec(REMOVAL, requestUID=None),
        "spec.requestUID",
        "Required value",
    ),
    Case("a record", RECORD),
)

HETZNER_CLASSES: Final = (
    Case("K3s", HETZNER),
    Case(
        "everything set",
        spec(
            HETZNER,
            images={"x86": "debian-13", "arm": "1234"},
            sshKeys=["me"],
            networks=["cluster"],
            subnet="10.0.1.0/24",
            firewalls=["nodes"],
            placementGroup="Required",
            publicIPv4=False,
            labels={"team": "shop"},
            bootstrap={
                "kind": "Kubeadm",
                "server": "10.0.0.2:6443",
                "caHash": "sha256:" + "0" * 64,
                "tokenFrom": "Secret",
                "tokenSecretRef": SECRET,
                "kubelet": {
                    "reserved": {"cpu": "250m", "memory": "600Mi"},
                    "maxPods": 200,
                    "evictionHard": {"memory.available": "5%"},
                },
            },
        ),
    ),
    Case("Talos", bootstrap(kind="Talos", templateSecretRef=SECRET)),
    Case("a template of one's own", bootstrap(kind="Custom", template=USER_DATA)),
    Case(
        "a release to install, and no cloud controller",
        bootstrap(
            kind="K3s",
            server="https://10.0.0.2:6443",
            version="v1.34.1+k3s1",
            cloudProvider="None",
            metadataAccess="Open",
        ),
    ),
    Case(
        "no token of Hetzner",
        spec(HETZNER, tokenSecretRef=None),
        "spec.tokenSecretRef",
        "Required value",
    ),
    Case(
        "a token in a namespace that leads elsewhere",
        spec(HETZNER, tokenSecretRef=SECRET | {"namespace": "a/../../nodes"}),
        "spec.tokenSecretRef.namespace",
        "should match",
    ),
    Case(
        "no image",
        spec(HETZNER, images={}),
        "spec.images",
        "images is empty: set x86, arm or both",
    ),
    Case("no bootstrap", spec(HETZNER, bootstrap=None), "spec.bootstrap", "Required value"),
    Case(
        "no address at all",
        spec(HETZNER, publicIPv4=False, publicIPv6=False),
        "spec.networks",
        "servers would have no address: set at least one",
    ),
    Case(
        "a private network only",
        spec(HETZNER, publicIPv4=False, publicIPv6=False, networks=["cluster"]),
    ),
    Case(
        "a firewall without a public address",
        spec(
            HETZNER, publicIPv4=False, publicIPv6=False, networks=["cluster"], firewalls=["nodes"]
        ),
        "spec.firewalls",
        "firewalls apply to public addresses only",
    ),
    Case(
        "a subnet of no network",
        spec(HETZNER, subnet="10.0.1.0/24"),
        "spec.subnet",
        "subnet needs its network: add it to networks",
    ),
    Case(
        "a subnet without its size",
        spec(HETZNER, networks=["cluster"], subnet="10.0.1.0"),
        "spec.subnet",
        "should match",
    ),
    Case(
        "four networks",
        spec(HETZNER, networks=["a", "b", "c", "d"]),
        "spec.networks",
        "must have at most 3 items",
    ),
    Case(
        "a network twice",
        spec(HETZNER, networks=["a", "a"]),
        "spec.networks[1]",
        'Duplicate value: "a"',
    ),
    Case(
        "a label of Hetzner's",
        spec(HETZNER, labels={"hetzner.cloud/x": "y"}),
        "spec.labels",
        "labels below hetzner.cloud/ are reserved by Hetzner: use another prefix",
    ),
    Case(
        "a label of ours at Hetzner",
        spec(HETZNER, labels={"growth.dev/x": "y"}),
        "spec.labels",
        "labels below growth.dev/ are reserved for growth",
    ),
    Case(
        "a yes in quotes",
        spec(HETZNER, publicIPv4="yes"),
        "spec.publicIPv4",
        "write true or false, without quotes",
        server='must be of type boolean: "string"',
    ),
    Case(
        "K3s without a server",
        bootstrap(kind="K3s"),
        "spec.bootstrap.server",
        "server is required for K3s and Kubeadm: set the address at which nodes reach the API "
        "server",
    ),
    Case(
        "K3s with a server that is no URL",
        bootstrap(
            kind="K3s",
            server="10.0.0.2:6443",
        ),
        "spec.bootstrap.server",
        "server must be a URL for K3s, such as https://host:6443",
    ),
    Case(
        "Kubeadm with a URL",
        bootstrap(kind="Kubeadm", server="https://10.0.0.2:6443", caHash="sha256:" + "0" * 64),
        "spec.bootstrap.server",
        "use a form such as host:6443",
    ),
    Case(
        "Kubeadm without the CA's hash",
        bootstrap(
            kind="Kubeadm",
            server="10.0.0.2:6443",
        ),
        "spec.bootstrap.caHash",
        "caHash is required for Kubeadm",
    ),
    Case(
        "a hash without its method",
        bootstrap(kind="Kubeadm", server="10.0.0.2:6443", caHash="0" * 64),
        "spec.bootstrap.caHash",
        "should match",
    ),
    Case(
        "a token in no Secret",
        bootstrap(kind="K3s", server="https://10.0.0.2:6443", tokenFrom="Secret"),
        "spec.bootstrap.tokenSecretRef",
        "tokenSecretRef is required if tokenFrom is Secret",
    ),
    Case(
        "a Secret that isn't used",
        bootstrap(kind="K3s", server="https://10.0.0.2:6443", tokenSecretRef=SECRET),
        "spec.bootstrap.tokenSecretRef",
        "tokenSecretRef isn't used if tokenFrom is Minted",
    ),
    Case(
        "Custom without a template",
        bootstrap(kind="Custom"),
        "spec.bootstrap.template",
        "Custom requires either template or templateSecretRef: set one of them",
    ),
    Case(
        "Custom with two templates",
        bootstrap(kind="Custom", template="x", templateSecretRef=SECRET),
        "spec.bootstrap.template",
        "Custom requires either template or templateSecretRef",
    ),
    Case(
        "Talos without a configuration",
        bootstrap(kind="Talos"),
        "spec.bootstrap.templateSecretRef",
        "set it to the Secret with the machine configuration",
    ),
    Case(
        "K3s with a template",
        bootstrap(kind="K3s", server="https://10.0.0.2:6443", template="x"),
        "spec.bootstrap.template",
        "template isn't used for K3s and Kubeadm",
    ),
    Case(
        "a template that forgets the start-up taint",
        bootstrap(kind="Custom", template="join $(growth.nodeName) $(growth.nodeLabels)"),
        "spec.bootstrap",
        "template must use $(growth.nodeName), $(growth.nodeLabels) and $(growth.nodeTaints)",
    ),
    Case(
        "a template with a variable that nobody knows",
        bootstrap(kind="Custom", template=f"{USER_DATA} $(growth.nodename)"),
        "spec.bootstrap.template",
        "template has the unknown variable $(growth.nodename): use one of",
        model_only="to look for what is not in a list costs CEL too much",
    ),
    Case(
        "a template with a variable that the class doesn't set",
        bootstrap(kind="Custom", template=f"{USER_DATA} $(growth.caHash)"),
        "spec.bootstrap.template",
        "template uses $(growth.caHash): set caHash",
        model_only="it belongs to the rule before",
    ),
    Case(
        "a release that is none",
        bootstrap(kind="K3s", server="https://10.0.0.2:6443", version="latest"),
        "spec.bootstrap.version",
        "should match",
    ),
    Case(
        "user data larger than Hetzner takes",
        bootstrap(kind="Custom", template="x" * 32_769),
        "spec.bootstrap.template",
        "may not be more than 32768 bytes",
    ),
)

KWOK_CLASSES: Final = (
    Case("one type", KWOK),
    Case("a catalogue in a ConfigMap", spec(KWOK, types=None, catalogueFrom=SECRET)),
    Case(
        "spot and on demand",
        catalogue(
            offers=[
                {"location": "nbg1", "price": "0.0136", "labels": {"capacity": "on-demand"}},
                {
                    "location": "nbg1",
                    "price": "0.0040",
                    "labels": {"capacity": "spot"},
                    "available": 3,
                },
            ]
        ),
    ),
    Case(
        "a thousand offers",
        spec(
            KWOK,
            types=[
                {
                    "name": f"t{number}",
                    "resources": {"cpu": "4", "memory": "8Gi"},
                    "offers": [{"location": f"l{place}", "price": "0.1"} for place in range(10)],
                }
                for number in range(100)
            ],
        ),
    ),
    Case(
        "no catalogue",
        spec(KWOK, types=None),
        "spec.types",
        "set either types or catalogueFrom",
    ),
    Case(
        "two catalogues",
        spec(KWOK, catalogueFrom=SECRET),
        "spec.types",
        "set either types or catalogueFrom",
    ),
    Case(
        "two spellings of one type in a catalogue",
        spec(KWOK, types=[KWOK["spec"]["types"][0], KWOK["spec"]["types"][0] | {"name": "CX33"}]),
        "spec.types[1]",
        '["cx33", "CX33"] are the same server type: keep one entry with all its offers',
    ),
    Case(
        "a type without memory",
        catalogue(resources={"cpu": "4"}),
        "spec.types[0].resources",
        "resources must include cpu and memory",
    ),
    Case(
        "a type that is sold nowhere",
        catalogue(offers=[]),
        "spec.types[0].offers",
        "should have at least 1 items",
    ),
    Case(
        "a negative price",
        catalogue(offers=[{"location": "nbg1", "price": "-0.1"}]),
        "spec.types[0].offers[0].price",
        "-0.1 isn't an amount of money",
        server="should match",
    ),
    Case(
        "an offer twice",
        catalogue(
            offers=[{"location": "nbg1", "price": "0.1"}, {"location": "NBG1", "price": "0.2"}]
        ),
        "spec.types[0].offers[1]",
        "an offer in NBG1 is listed twice",
        model_only="CEL over nested lists costs too much",
    ),
    Case(
        "a label of ours on an offer",
        catalogue(
            offers=[{"location": "nbg1", "price": "0.1", "labels": {"growth.dev/pool": "x"}}]
        ),
        "spec.types[0].offers[0].labels",
        "labels below growth.dev/ are reserved for growth",
        model_only="CEL over nested lists costs too much",
    ),
    Case(
        "a label of ours on a type",
        catalogue(labels={"growth.dev/pool": "x"}),
        "spec.types[0].labels",
        "labels below growth.dev/ are reserved for growth",
    ),
    Case(
        "an architecture by Hetzner's name",
        catalogue(architecture="arm"),
        "spec.types[0].architecture",
        'supported values: "amd64", "arm64"',
    ),
    Case(
        "an unknown field in a list in a list",
        catalogue(offers=[{"location": "nbg1", "price": "0.1", "pric": "0.2"}]),
        "spec.types[0].offers[0].pric",
        "unknown field; did you mean price?",
        server='unknown field "spec.types[0].offers[0].pric"',
    ),
    Case(
        "machines that boot in 5 to 15 seconds", spec(KWOK, bootDelay={"min": "5s", "max": "15s"})
    ),
    Case(
        "a boot delay the wrong way round",
        spec(KWOK, bootDelay={"min": "15s", "max": "5s"}),
        "spec.bootDelay.min",
        "min is longer than max: lower min or raise max",
    ),
    Case("paid by the hour", spec(KWOK, billing="Hourly")),
    Case(
        "each kind of fault",
        spec(
            KWOK,
            faults=[
                {"kind": "StockOut", "serverType": "cx33", "location": "nbg1", "count": 3},
                {"kind": "SlowBoot", "delay": "30s"},
                {"kind": "PriceChange", "price": "0.02"},
                {"kind": "NeverReady"},
                {"kind": "LostAnswer"},
                {"kind": "DeleteFails"},
                {"kind": "FailedBoot"},
            ],
        ),
    ),
    Case(
        "slow by nothing",
        fault(kind="SlowBoot"),
        "spec.faults[0].delay",
        "delay is required for SlowBoot, and not allowed for other kinds",
    ),
    Case(
        "a stock-out with a price",
        fault(kind="StockOut", price="1"),
        "spec.faults[0].price",
        "price is required for PriceChange, and not allowed for other kinds",
    ),
    Case(
        "a price that changes three times",
        fault(kind="PriceChange", price="1", count=3),
        "spec.faults[0].count",
        "count isn't used for PriceChange: remove it",
    ),
    Case(
        "a fault that happens never",
        fault(kind="StockOut", count=0),
        "spec.faults[0].count",
        "should be greater than or equal to 1",
    ),
)

CASES: Final = (
    *NAMES,
    *SERVER_TYPES,
    *TEMPLATE,
    *LIMITS,
    *SCALING,
    *TIMES,
    *DISRUPTION,
    *REQUESTS,
    *HETZNER_CLASSES,
    *KWOK_CLASSES,
)
"""All of them."""


def case(name: str) -> Case:
    """The case of this name."""
    return next(each for each in CASES if each.name == name)


@dataclass(frozen=True)
class Change:
    """An object, what it is to become, and what is expected of that."""

    name: str
    old: Document
    new: Document
    path: str | None = None
    text: str = ""


CHANGES: Final = (
    Change("a pool that grows", POOL, types(("cx33", {"max": 20}))),
    Change(
        "a request that changes its mind",
        REQUEST,
        spec(REQUEST, location="fsn1"),
        "spec",
        "spec is immutable: delete the request, and growth plans its pods again",
    ),
    Change("a request that stays as it is", REQUEST, REQUEST),
    Change(
        "a removal of another machine",
        REMOVAL,
        spec(REMOVAL, nodeID="4712"),
        "spec",
        "spec is immutable: delete this object to cancel the removal, and create another",
    ),
    Change(
        "a record that learns another price",
        RECORD,
        spec(RECORD, price="0.0001"),
        "spec",
        "spec is immutable: it says what the machine was when it was bought",
    ),
)
