"""The rule in CEL and the rule in Python make the same of any pod."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.webhooks.admitting import BY_POLICY, BY_WEBHOOK
from tests.webhooks.strategies import pods

if TYPE_CHECKING:
    from tests.webhooks.admitting import Admitting

pytestmark = pytest.mark.cluster

Document = dict[str, Any]


def placed(setting: Admitting, pod: Document, *, namespace: str) -> Document:
    answer = setting.api.create_pod(pod, namespace=namespace, query="?dryRun=All")
    spec = answer.body["spec"]
    # Several pools come to the policy in any order.
    tolerations = sorted(spec["tolerations"], key=json.dumps)
    return {
        "nodeSelector": spec.get("nodeSelector"),
        "affinity": spec.get("affinity"),
        "tolerations": tolerations,
    }


def compare(setting: Admitting, pools: str, *, examples: int) -> None:
    setting.pools(pools)

    @settings(
        max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(pod=pods())
    def same(pod: Document) -> None:
        by_webhook = placed(setting, pod, namespace=BY_WEBHOOK)
        assert placed(setting, pod, namespace=BY_POLICY) == by_webhook

    same()


@pytest.mark.parametrize("pools", ["prefer", "require"])
def test_policy_and_webhook_agree_on_any_pod(pools: str, admitting: Admitting) -> None:
    compare(admitting, pools, examples=40)


@pytest.mark.long
@pytest.mark.parametrize("pools", ["prefer", "require", "allow", "untainted", "without-default"])
def test_policy_and_webhook_agree_on_hundreds_of_pods(pools: str, admitting: Admitting) -> None:
    compare(admitting, pools, examples=500)
