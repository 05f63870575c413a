"""The manifests of admission are those that the code writes, and say what they have to say."""

from __future__ import annotations

import pytest
import yaml

from generators.admission import registration_files
from tests.live import ROOT
from webhooks.registration.policy import binding, policy
from webhooks.registration.webhook import configuration

BASE = ROOT / "manifests" / "base"


@pytest.mark.parametrize("name", registration_files())
def test_the_manifest_is_the_one_that_the_code_writes(name: str) -> None:
    assert (BASE / name).read_text("utf-8") == registration_files()[name]


def test_the_manifests_read_back_as_the_objects_that_were_rendered() -> None:
    assert [*yaml.safe_load_all(registration_files()["webhook.yaml"])] == [configuration()]
    assert [*yaml.safe_load_all(registration_files()["admission-policy.yaml"])] == [
        policy(),
        binding(),
    ]


def test_the_webhook_is_registered_as_the_most_harmless_one_in_the_cluster() -> None:
    [webhook] = configuration()["webhooks"]

    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["timeoutSeconds"] <= 2
    assert webhook["sideEffects"] == "None"
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    [rule] = webhook["rules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods"])


def test_both_ways_leave_the_same_pods_alone() -> None:
    [webhook] = configuration()["webhooks"]
    spec = policy()["spec"]
    constraints = spec["matchConstraints"]

    for selector in ("namespaceSelector", "objectSelector"):
        assert webhook[selector] == constraints[selector]
    assert webhook["rules"] == constraints["resourceRules"]
    shared = len(webhook["matchConditions"])
    assert spec["matchConditions"][:shared] == webhook["matchConditions"]
    assert spec["failurePolicy"] == "Ignore"


def test_the_namespaces_without_which_nothing_starts_are_never_sent() -> None:
    [webhook] = configuration()["webhooks"]
    names = webhook["namespaceSelector"]["matchExpressions"][0]

    assert names["key"] == "kubernetes.io/metadata.name"
    assert set(names["values"]) == {"kube-system", "growth-system"}
