"""The table of pods, run through a real API server: by the webhook, by the policy, by both."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.webhooks.admitting import BY_BOTH, BY_NOBODY, BY_POLICY, BY_WEBHOOK
from tests.webhooks.table import TABLE, Case

if TYPE_CHECKING:
    from tests.raw_api import Answer
    from tests.webhooks.admitting import Admitting

pytestmark = pytest.mark.cluster

Document = dict[str, Any]

# What the API server would add itself, behind what the pod has of its own and before anybody asks.
NODE_TROUBLE = [
    {
        "key": f"node.kubernetes.io/{trouble}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for trouble in ("not-ready", "unreachable")
]


def created(setting: Admitting, pod: Document, *, namespace: str) -> Answer:
    spec = pod["spec"]
    tolerations = [*NODE_TROUBLE, *spec.get("tolerations", ())]
    whole = {**pod, "spec": {**spec, "tolerations": tolerations}}
    return setting.api.create_pod(whole, namespace=namespace, query="?dryRun=All")


def shape(answer: Answer) -> Document:
    """The stored pod without what is new in each."""
    text = re.sub(r"kube-api-access-\w+", "kube-api-access", json.dumps(answer.body))
    pod: Document = json.loads(text)
    metadata = pod["metadata"]
    for changing in ("namespace", "uid", "creationTimestamp", "managedFields"):
        metadata.pop(changing, None)
    if "generateName" in metadata:
        metadata.pop("name")
    return pod


def in_any_order(pod: Document, *, after: int) -> Document:
    """With sorted tolerations behind the pod's own: pools come to the policy in any order."""
    tolerations = pod["spec"]["tolerations"]
    added = sorted(tolerations[after:], key=json.dumps)
    return {**pod, "spec": {**pod["spec"], "tolerations": [*tolerations[:after], *added]}}


@pytest.mark.parametrize(
    "case", [case for case in TABLE if case.is_for_webhook], ids=lambda c: c.name
)
def test_the_webhook_makes_of_it_what_the_table_says(case: Case, admitting: Admitting) -> None:
    admitting.pools(case.pools)

    answer = created(admitting, case.before, namespace=BY_WEBHOOK)

    assert shape(answer) == shape(created(admitting, case.after, namespace=BY_NOBODY))
    assert answer.warnings == case.warnings


@pytest.mark.parametrize(
    "case", [case for case in TABLE if case.is_for_policy], ids=lambda c: c.name
)
def test_the_policy_makes_the_same_of_it(case: Case, admitting: Admitting) -> None:
    assert_same_by(BY_POLICY, case, admitting)


@pytest.mark.parametrize(
    "case", [case for case in TABLE if case.pools == "require"], ids=lambda c: c.name
)
def test_both_together_make_the_same_of_it(case: Case, admitting: Admitting) -> None:
    assert_same_by(BY_BOTH, case, admitting)


def assert_same_by(way: str, case: Case, admitting: Admitting) -> None:
    admitting.pools(case.pools)
    own = len(NODE_TROUBLE) + len(case.before["spec"].get("tolerations", ()))

    answer = created(admitting, case.before, namespace=way)

    expected = shape(created(admitting, case.after, namespace=BY_NOBODY))
    assert in_any_order(shape(answer), after=own) == in_any_order(expected, after=own)
    assert answer.warnings == (case.warnings if way == BY_BOTH else ())
