"""What tests read by requests of their own is what kubectl would have read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.reading_objects import Wanted, wanted_by

if TYPE_CHECKING:
    from tests.live import LiveCluster


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("nodes",), Wanted("nodes", "", "default", {})),
        (("pod", "web-0", "-n", "shop"), Wanted("pod", "web-0", "shop", {})),
        (("--namespace", "shop", "secret", "a"), Wanted("secret", "a", "shop", {})),
        (("pods", "--selector=app=a", "-A"), Wanted("pods", "", "", {"labelSelector": "app=a"})),
        (("nodes", "-l", "a=b"), Wanted("nodes", "", "default", {"labelSelector": "a=b"})),
        (("pods", "--ignore-not-found"), None),
        (("pods,nodes",), None),
        (("events.v1.events.k8s.io",), None),
        (("pods", "one", "two"), None),
    ],
)
def test_words_of_kubectl_are_understood_or_left_to_it(
    words: tuple[str, ...], wanted: Wanted | None
) -> None:
    assert wanted_by(words) == wanted


def read_by_kubectl(cluster: LiveCluster, *words: str) -> Any:
    return json.loads(cluster.kubectl("get", *words, "--output", "json"))


@pytest.mark.cluster
@pytest.mark.parametrize(
    "words",
    [
        ("nodes",),
        ("no", "--selector", "kubernetes.io/os=linux"),
        ("configmaps", "--namespace", "kube-system"),
        ("flowschemas",),
    ],
)
def test_a_list_is_what_kubectl_reads(cluster: LiveCluster, words: tuple[str, ...]) -> None:
    ours = {each["metadata"]["name"]: each for each in cluster.get(*words)["items"]}
    theirs = {each["metadata"]["name"]: each for each in read_by_kubectl(cluster, *words)["items"]}

    assert ours.keys() == theirs.keys()
    assert [sorted(each) for each in ours.values()] == [sorted(each) for each in theirs.values()]


@pytest.mark.cluster
def test_what_is_created_is_there_with_all_its_fields(cluster: LiveCluster, namespace: str) -> None:
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"colour": "red"},
    }
    cluster.create(made, namespace=namespace)

    words = ("configmap", "a", "--namespace", namespace)
    assert cluster.get(*words) == read_by_kubectl(cluster, *words)
    assert cluster.get(*words)["data"] == {"colour": "red"}
    with pytest.raises(AssertionError, match="already exists"):
        cluster.create(made, namespace=namespace)
    with pytest.raises(AssertionError, match="not found"):
        cluster.get("configmap", "b", "--namespace", namespace)
    with pytest.raises(AssertionError, match="unknown field"):
        cluster.create(made | {"date": {}}, namespace=namespace)
