"""Objects of ours are read strictly out of any manifests, the seed's group included."""

from __future__ import annotations

from textwrap import dedent

import pytest

from growth.api import files, references
from growth.api.files import Mistakes
from growth.api.nodepool import NodePool

SEED = """\
# our pools
apiVersion: growth/v1alpha1   # the older spelling
kind: NodePool
metadata:
  name: default
spec:
  serverTypes:
    - name: CAX11
      max: 10
    - name: CAX21
      # kept warm
      min: 1
      max: 5
    - name: CAX31
      max: 1

---

apiVersion: growth/v1alpha1
kind: NodePool
metadata:
  name: gpu
spec:
  serverTypes:
    - name: GEX44
      max: 5
---
apiVersion: v1
kind: Pod
metadata: {name: nginx}
spec:
  nodeSelector: {growth.dev/pool: default}
  containers: [{name: nginx, image: "nginx:1.14.2"}]
"""


def mistakes_of(text: str) -> list[str]:
    with pytest.raises(Mistakes) as refused:
        files.read_documents([("pool.yaml", dedent(text))])
    return [str(mistake) for mistake in refused.value.mistakes]


def test_the_seeds_examples_are_pools_and_other_objects_are_handed_on() -> None:
    manifests = files.read_documents([("seed.yaml", SEED)])
    pools = [resource for _, resource in manifests.resources]
    assert [pool.metadata.name for pool in pools] == ["default", "gpu"]
    assert all(isinstance(pool, NodePool) for pool in pools)
    assert all(pool.api_version == "growth.dev/v1alpha1" for pool in pools)
    assert [other.kind for other in manifests.others] == ["Pod"]


def test_rewriting_the_group_leaves_everything_else_as_its_author_wrote_it() -> None:
    assert files.rewrite_group(SEED) == SEED.replace("growth/v1alpha1", "growth.dev/v1alpha1")
    assert files.rewrite_group(files.rewrite_group(SEED)) == files.rewrite_group(SEED)


def test_a_group_inside_of_a_text_is_not_rewritten() -> None:
    text = 'kind: ConfigMap\ndata:\n  note: "apiVersion: growth/v1alpha1"\n'
    assert files.rewrite_group(text) == text


def test_the_items_of_a_list_are_objects_with_their_own_lines() -> None:
    text = """\
    apiVersion: v1
    kind: List
    items:
      - apiVersion: growth.dev/v1alpha1
        kind: NodePool
        metadata: {name: default}
        spec:
          serverTypes: [{name: cx33, max: -1}]
    """
    (mistake,) = mistakes_of(text)
    assert mistake.startswith('pool.yaml:8: NodePool "default": spec.serverTypes[0].max: ')


@pytest.mark.parametrize("value", ["1.10", "012", "0x10", "1e3", "yes", "true", "0o17", "1_0"])
def test_a_value_that_lacks_quotes_is_quoted_as_it_is_written(value: str) -> None:
    text = f"""\
    apiVersion: growth.dev/v1alpha1
    kind: NodePool
    metadata: {{name: default}}
    spec:
      labels: {{release: {value}}}
      serverTypes: [{{name: {value}, max: 1}}]
    """
    assert mistakes_of(text) == [
        f'pool.yaml:{line}: NodePool "default": {field}: put it in quotes: "{value}"'
        for line, field in ((6, "spec.serverTypes[0].name"), (5, "spec.labels.release"))
    ]


def test_all_mistakes_of_all_files_are_told_at_once() -> None:
    broken = "apiVersion: growth.dev/v1alpha1\nkind: NodePool\nmetadata: {name: a}\nspec: {x: 1}\n"
    with pytest.raises(Mistakes) as refused:
        files.read_documents([("one.yaml", broken), ("two.yaml", "a: [\n"), ("three.yaml", broken)])
    assert {mistake.file for mistake in refused.value.mistakes} == {
        "one.yaml",
        "two.yaml",
        "three.yaml",
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("just words\n", "pool.yaml:1: expected an object with apiVersion and kind"),
        ("kind: NodePool\n", "pool.yaml:1: apiVersion is missing"),
        ("apiVersion: growth.dev/v1alpha1\n", "pool.yaml:1: kind is missing"),
        ("apiVersion: growth.dev/v1alpha1\nkind: NodePol\n", "NodePol"),
        (
            "apiVersion: growth.dev/v9\nkind: NodePool\nmetadata: {name: x}\n",
            "must be growth.dev/v1alpha1",
        ),
    ],
)
def test_what_is_no_object_of_ours_is_named(text: str, said: str) -> None:
    (mistake, *_) = mistakes_of(text)
    assert said in mistake


def test_an_object_given_twice_is_a_mistake_that_names_both_places() -> None:
    once = "apiVersion: growth.dev/v1alpha1\nkind: NodePool\nmetadata: {name: a}\n"
    once += "spec: {serverTypes: [{name: cx33, max: 1}]}\n"
    (mistake,) = mistakes_of(f"{once}---\n{once}")
    assert mistake == 'pool.yaml:6: NodePool "a": already defined at pool.yaml:1; keep one'


def test_a_node_class_must_be_among_the_files_or_known() -> None:
    text = """\
    apiVersion: growth.dev/v1alpha1
    kind: NodePool
    metadata: {name: default}
    spec:
      nodeClassRef: {kind: KwokNodeClass, name: demo}
      serverTypes: [{name: cx33, max: 1}]
    """
    manifests = files.read_documents([("pool.yaml", dedent(text))])
    (mistake,) = references.missing_node_classes(manifests)
    assert str(mistake).startswith(
        'pool.yaml:5: NodePool "default": spec.nodeClassRef.name: no KwokNodeClass "demo"'
    )
    assert not list(references.missing_node_classes(manifests, known=[("KwokNodeClass", "demo")]))
