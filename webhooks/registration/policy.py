"""The MutatingAdmissionPolicy: the webhook's rule in CEL, for Kubernetes 1.36 and later.

The API server evaluates it for each NodePool, without calling a process. A condition skips the
pools that the pod doesn't select, so the cost depends on the selected pools and hardly on the
number of pools. A policy can't return warnings.

The rule is the same as in `webhooks.admission`; a test runs one table of pods through both.
"""

from __future__ import annotations

from typing import Any, Final

from growth.api.installed import ADMISSION_POLICY
from growth.api.nodepool import NodePool, Placement, PoolMode
from growth.api.wellknown import DEFAULT_POOL, GROUP_VERSION, POOL_LABEL
from webhooks.admission import LARGEST
from webhooks.patch import PREFERENCE_WEIGHT, PREFERRED
from webhooks.registration import exempt, names

API_VERSION: Final = "admissionregistration.k8s.io/v1"

_SELECTED: Final = f"object.spec.?nodeSelector[?'{POOL_LABEL}']"
_TERMS: Final = (
    "object.spec.?affinity.?nodeAffinity"
    ".?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms"
)
_IS_ABOUT_POOLS: Final = f"e.key == '{POOL_LABEL}'"
_CONDITIONS_OF: Final = "t.?matchExpressions.orValue([])"
_HAS_THE_NAME: Final = "params.metadata.name in e.?values.orValue([])"

_NAMES_A_POOL: Final = f"""\
({_SELECTED}.hasValue() ||
 {_TERMS}.orValue([]).exists(t, {_CONDITIONS_OF}.exists(e, {_IS_ABOUT_POOLS})))"""

_ACTS: Final = f"params.spec.?mode.orValue('{PoolMode.ACT}') != '{PoolMode.OBSERVE}'"

_IS_THE_DEFAULT: Final = f"""\
params.metadata.name == '{DEFAULT_POOL}' && !has(params.metadata.deletionTimestamp) &&
!{_NAMES_A_POOL}"""

# As in growth.demand.pools: the nodeSelector and one alternative of the affinity must match.
_IS_NAMED: Final = f"""\
{_SELECTED}.orValue(params.metadata.name) == params.metadata.name &&
(!{_TERMS}.hasValue() ||
 {_TERMS}.value().exists(t,
   {_CONDITIONS_OF}.size() + t.?matchFields.orValue([]).size() > 0 &&
   {_CONDITIONS_OF}.all(e, !({_IS_ABOUT_POOLS}) ||
   (e.operator == 'In' && {_HAS_THE_NAME}) ||
   (e.operator == 'NotIn' && !({_HAS_THE_NAME})) ||
   e.operator == 'Exists'))) &&
({_SELECTED}.hasValue() ||
 {_TERMS}.orValue([]).exists(t, {_CONDITIONS_OF}.exists(e,
   {_IS_ABOUT_POOLS} && e.operator == 'In' && {_HAS_THE_NAME})))"""

_PREFERENCES: Final = f"object.spec.?affinity.?nodeAffinity.?{PREFERRED}.orValue([])"
_CONDITIONS_WITHIN: Final = (
    "t.?matchExpressions.orValue([]).map(e, 1 + e.?values.orValue([]).size())"
)

# The webhook counts the same way, and also warns.
_IS_NOT_TOO_LARGE: Final = f"""\
object.spec.?tolerations.orValue([]).size() +
{_TERMS}.orValue([]).map(t,
  1 + {_CONDITIONS_WITHIN}.sum()).sum() +
{_PREFERENCES}.map(p, p.preference).map(t,
  1 + {_CONDITIONS_WITHIN}.sum()).sum() <= {LARGEST}"""

_VARIABLES: Final = {
    "tolerations": "object.spec.?tolerations.orValue([])",
    "keys": "variables.tolerations.map(o, o.?key.orValue(''))",
    # Few taints need the long comparison; `in` is a hundred times as fast.
    "untolerated": """\
params.spec.?taints.orValue([]).filter(taint,
  !(taint.key in variables.keys || '' in variables.keys) || !variables.tolerations.exists(o,
    (o.?effect.orValue('') == '' || o.effect == taint.effect) &&
    (o.?key.orValue('') == '' || o.key == taint.key) &&
    (o.?operator.orValue('') == 'Exists' ||
     (o.?operator.orValue('') in ['', 'Equal'] &&
      o.?value.orValue('') == taint.?value.orValue('')))))""",
    "placement": f"""\
{_NAMES_A_POOL} ? '' : params.spec.?placement.orValue('{Placement.PREFER}')""",
    "preferred": _PREFERENCES,
    "prefers": f"""\
variables.preferred.exists(p, p.preference.?matchExpressions.orValue([]).exists(e,
  {_IS_ABOUT_POOLS}))""",
}

# Values are plain maps. A list of typed ones (`[Object.spec.tolerations{...}]`) makes an API server
# of 1.36.3 panic, and then even failurePolicy Ignore doesn't allow the pod.
_TOLERATION: Final = """\
{'key': taint.key, 'operator': dyn('Equal'),
     'value': dyn(taint.?value.orValue('')), 'effect': taint.effect}"""

_TOLERATE: Final = f"""\
variables.untolerated.size() == 0 ? [] :
variables.tolerations.size() == 0
? [JSONPatch{{op: 'add', path: '/spec/tolerations', value: variables.untolerated.map(taint,
    {_TOLERATION})}}]
: variables.untolerated.map(taint, JSONPatch{{op: 'add', path: '/spec/tolerations/-', value:
    {_TOLERATION}}})"""

_REQUIRE: Final = f"""\
variables.placement != '{Placement.REQUIRE}' ? [] :
object.spec.?nodeSelector.orValue({{}}).size() == 0
? [JSONPatch{{op: 'add', path: '/spec/nodeSelector', value: {{
    '{POOL_LABEL}': params.metadata.name}}}}]
: [JSONPatch{{op: 'add', value: params.metadata.name,
    path: '/spec/nodeSelector/' + jsonpatch.escapeKey('{POOL_LABEL}')}}]"""

_TERM: Final = f"""\
{{'weight': dyn({PREFERENCE_WEIGHT}), 'preference': dyn({{'matchExpressions': [
     {{'key': dyn('{POOL_LABEL}'), 'operator': dyn('In'),
      'values': dyn([params.metadata.name])}}]}})}}"""

_PREFER: Final = f"""\
variables.placement != '{Placement.PREFER}' || variables.prefers ? [] :
variables.preferred.size() > 0
? [JSONPatch{{op: 'add', path: '/spec/affinity/nodeAffinity/{PREFERRED}/-', value:
    {_TERM}}}] :
has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)
? [JSONPatch{{op: 'add', path: '/spec/affinity/nodeAffinity/{PREFERRED}', value: [
    {_TERM}]}}] :
has(object.spec.affinity)
? [JSONPatch{{op: 'add', path: '/spec/affinity/nodeAffinity', value: {{'{PREFERRED}': [
    {_TERM}]}}}}]
: [JSONPatch{{op: 'add', path: '/spec/affinity', value: {{'nodeAffinity': {{'{PREFERRED}': [
    {_TERM}]}}}}}}]"""


# A single mutation, because each one decodes and encodes the whole pod.
_ALL: Final = f"({_TOLERATE}) +\n({_REQUIRE}) +\n({_PREFER})"


def policy() -> dict[str, Any]:
    """The policy."""
    return {
        "apiVersion": API_VERSION,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": ADMISSION_POLICY, "labels": names.LABELS},
        "spec": {
            "paramKind": {"apiVersion": GROUP_VERSION, "kind": NodePool.__name__},
            "matchConstraints": {
                "resourceRules": [exempt.RULE],
                "matchPolicy": exempt.MATCH_POLICY,
                "namespaceSelector": exempt.NAMESPACES,
                "objectSelector": exempt.PODS,
            },
            "matchConditions": [
                *exempt.CONDITIONS,
                {
                    "name": "means-this-pool",
                    "expression": f"{_ACTS} && (({_IS_THE_DEFAULT}) ||\n({_IS_NAMED}))",
                },
                {"name": "is-not-too-large", "expression": _IS_NOT_TOO_LARGE},
            ],
            "variables": [{"name": name, "expression": text} for name, text in _VARIABLES.items()],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _ALL}}],
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
        },
    }


def binding() -> dict[str, Any]:
    """The binding that enables the policy for all pools."""
    return {
        "apiVersion": API_VERSION,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": ADMISSION_POLICY, "labels": names.LABELS},
        "spec": {
            "policyName": ADMISSION_POLICY,
            "paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"},
        },
    }
