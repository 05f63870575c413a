"""Which nodes have drifted: those that would be made otherwise now, and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from growth.api.hetznernodeclass import Bootstrap, HetznerNodeClass, HetznerNodeClassSpec
from growth.api.nodepool import NodePool, NodePoolSpec
from growth.api.wellknown import TEMPLATE_ANNOTATION
from growth.api.written import ServerTypeName
from reconciler.buying.blueprints import blueprint_of, parts_of
from reconciler.providers.hetzner.bootstrap import cloud_config
from reconciler.providers.hetzner.bootstrap.rendering import user_data
from reconciler.replacement.drift import drifted
from tests.hetzner.build import CA_HASH, K3S, KUBEADM, SECRET, TALOS, joining
from tests.removal.build import NAME, node
from tests.replacement.build import having, hetzner, made_in, node_class, offering, pool

if TYPE_CHECKING:
    from growth.scheduling.node import Node

CX23 = ServerTypeName("cx23")
CUSTOM = "$(growth.nodeName) $(growth.nodeLabels) $(growth.nodeTaints)"
TAINT = {"key": "team", "value": "shop", "effect": "NoSchedule"}
HARD = {"key": "team", "value": "shop", "effect": "NoExecute"}
ZONED = {"locations": [{"region": "here", "zones": ["a", "b"]}]}


def change(before: Any, after: Any, *, sold: Any = None, **fields: Any) -> str:
    """What is said of a node that was bought with a pool and a class, after they have changed."""
    bought = made_in(having(*before), sold=sold, **fields)
    return drifted(having(*after, bought)).get(NAME, "")


def of_pool(before: NodePool, after: NodePool, **fields: Any) -> str:
    return change((before, node_class()), (after, node_class()), **fields)


def of_class(before: HetznerNodeClass, after: HetznerNodeClass, *, arch: str = "amd64") -> str:
    return change((pool(), before), (pool(), after), sold=offering(arch=arch))


# The pool

TYPES = {"serverTypes": [{"name": "large", "max": 10}]}
DRIFTING_POOLS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "its type is out": ({}, TYPES, "small is no longer among the types"),
    "its place is out": (
        {},
        {"locations": [{"region": "there"}]},
        "here is no longer among the locations",
    ),
    "its zone is out": ({}, {"locations": [{"region": "here", "zones": ["c"]}]}, "zone a of here"),
    "its pods would be thrown out": ({}, {"taints": [HARD]}, "team=shop:NoExecute"),
    "with another value too": (
        {"taints": [HARD]},
        {"taints": [HARD | {"value": "bank"}]},
        "team=bank:NoExecute",
    ),
}


@pytest.mark.parametrize(
    ("before", "after", "said"), DRIFTING_POOLS.values(), ids=DRIFTING_POOLS.keys()
)
def test_a_node_drifts_when(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    assert said in of_pool(pool(**before), pool(**after), sold=offering(zone="a"))


STEADY_POOLS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "labels, which are mended": {"labels": {"team": "bank"}},
    "a taint that throws nobody out": {"taints": [TAINT]},
    "taints of the start": {"startupTaints": [HARD]},
    "the most of its type": {"serverTypes": [{"name": "SMALL", "max": 1}]},
    "limits": {"limits": {"nodes": 1, "hourlyCost": "0"}},
    "weight": {"weight": 7},
    "how it is given back": {"scaleDown": {"idleAfter": "1h"}},
    "what may be disrupted": {"disruption": {"consolidation": "Never", "budgets": []}},
    "how long is waited": {"readinessWait": "1h", "requestTTL": {"ready": "1h"}},
    "its place is said": {"locations": [{"region": "here"}]},
    "its zone is said": ZONED,
    "how pods are drawn": {"placement": "Allow"},
    "what becomes of it": {"deletionPolicy": "Retain"},
    "that growth only observes it": {"mode": "Observe"},
    "its class is said": {"nodeClassRef": {"kind": "KwokNodeClass", "name": "default"}},
}


@pytest.mark.parametrize("after", STEADY_POOLS.values(), ids=STEADY_POOLS.keys())
def test_a_node_stays_as_it_is_when_its_pool_changes(after: dict[str, Any]) -> None:
    assert not of_pool(pool(), pool(**after), sold=offering(zone="a"))


def test_every_field_of_a_pool_has_been_thought_of() -> None:
    fields = {name for after in STEADY_POOLS.values() for name in after}
    assert fields | {"scaling"} == set(NodePoolSpec.field_names())


def test_a_taint_that_somebody_has_set_already_throws_nobody_out() -> None:
    assert not of_pool(pool(), pool(taints=[HARD]), taints=[HARD])


# The node class

DRIFTING: dict[str, dict[str, Any]] = {
    "images": {"images": {"x86": "debian-14"}},
    "sshKeys": {"sshKeys": ["admin", "deputy"]},
    "networks": {"networks": ["private"]},
    "subnet": {"networks": ["private"], "subnet": "10.0.1.0/24"},
    "firewalls": {"firewalls": ["closed"]},
    "placementGroup": {"placementGroup": "Required"},
    "publicIPv4": {"publicIPv4": False},
    "publicIPv6": {"publicIPv6": False},
    "labels": {"labels": {"team": "shop"}},
    "bootstrap": {"bootstrap": TALOS},
}
DRIFTING_BOOTSTRAP: dict[str, dict[str, Any]] = {
    "kind": TALOS,
    "server": {"server": "https://10.0.0.3:6443"},
    "caHash": {"caHash": CA_HASH},
    "version": {"version": "v1.34.1+k3s1"},
    "cloudProvider": {"cloudProvider": "None"},
    "metadataAccess": {"metadataAccess": "Open"},
    "template": {"kind": "Custom", "template": CUSTOM, "server": None},
    "templateSecretRef": {"kind": "Custom", "templateSecretRef": SECRET, "server": None},
    "kubelet": {"kubelet": {"maxPods": 64}},
}
STEADY_BOOTSTRAP: dict[str, dict[str, Any]] = {
    "tokenFrom": {"tokenFrom": "Secret", "tokenSecretRef": SECRET},
    "tokenSecretRef": {"tokenFrom": "Secret", "tokenSecretRef": SECRET},
}


@pytest.mark.parametrize("after", DRIFTING.values(), ids=DRIFTING.keys())
def test_a_node_drifts_when_its_class_changes(after: dict[str, Any]) -> None:
    assert "of its node class" in of_class(hetzner(), hetzner(**after))


@pytest.mark.parametrize("after", DRIFTING_BOOTSTRAP.values(), ids=DRIFTING_BOOTSTRAP.keys())
def test_a_node_drifts_when_it_would_join_otherwise(after: dict[str, Any]) -> None:
    said = {name: value for name, value in {**K3S, **after}.items() if value is not None}
    assert "bootstrap." in of_class(hetzner(), hetzner(bootstrap=said))


@pytest.mark.parametrize("after", STEADY_BOOTSTRAP.values(), ids=STEADY_BOOTSTRAP.keys())
def test_a_node_stays_as_it_is_when_tokens_are_renewed(after: dict[str, Any]) -> None:
    other = {**SECRET, "name": "other"}
    renewed = hetzner(bootstrap={**K3S, **after}, tokenSecretRef=other)
    assert not of_class(hetzner(), renewed)


def test_every_field_of_a_class_has_been_thought_of() -> None:
    assert {*DRIFTING, "tokenSecretRef"} == set(HetznerNodeClassSpec.field_names())
    assert {*DRIFTING_BOOTSTRAP, *STEADY_BOOTSTRAP} == set(Bootstrap.field_names())


SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a default that is said": ({}, {"publicIPv4": True, "networks": [], "labels": {}}),
    "another order of a set": ({"sshKeys": ["a", "b"]}, {"sshKeys": ["b", "a"]}),
    "an amount written otherwise": (
        {"bootstrap": {**K3S, "kubelet": {"reserved": {"cpu": "0.5", "memory": "1Gi"}}}},
        {"bootstrap": {**K3S, "kubelet": {"reserved": {"memory": "1024Mi", "cpu": "500m"}}}},
    ),
    "the image of the other architecture": ({}, {"images": {"x86": "debian-13", "arm": "arch"}}),
}


@pytest.mark.parametrize(("before", "after"), SAME.values(), ids=SAME.keys())
def test_a_node_stays_as_it_is_with(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert not of_class(hetzner(**before), hetzner(**after))


def test_the_order_of_networks_matters_as_the_first_one_is_special() -> None:
    before, after = hetzner(networks=["a", "b"]), hetzner(networks=["b", "a"])
    assert "networks" in of_class(before, after)


def test_only_nodes_of_an_architecture_drift_with_its_image() -> None:
    before = hetzner(images={"x86": "debian-13", "arm": "debian-13"})
    after = hetzner(images={"x86": "debian-14", "arm": "debian-13"})
    assert of_class(before, after, arch="amd64")
    assert not of_class(before, after, arch="arm64")


def test_people_are_told_what_has_changed() -> None:
    said = of_class(hetzner(), hetzner(images={"x86": "debian-14"}))
    assert said == "image of its node class is debian-14, and was debian-13"


def test_what_is_too_long_to_be_told_is_known_by_its_digest() -> None:
    said = of_class(hetzner(), hetzner(sshKeys=[f"key-{number}" for number in range(20)]))
    assert said == "sshKeys of its node class has changed"


SIMULATED: dict[str, tuple[dict[str, Any], str]] = {
    "other sizes": ({"resources": {"cpu": "3", "memory": "4Gi", "pods": "110"}}, "resources"),
    "another architecture": ({"architecture": "arm64"}, "architecture"),
    "other labels": ({"labels": {"disk": "fast"}}, "labels"),
    "the same sizes written otherwise": (
        {"resources": {"cpu": "2000m", "memory": "4096Mi", "pods": 110}},
        "",
    ),
    "another price": ({"offers": [{"location": "here", "price": "7"}]}, ""),
    "nothing of it sold there": ({"offers": [{"location": "there", "price": "1"}]}, ""),
    "not sold any more": ({"name": "tiny"}, ""),
}


@pytest.mark.parametrize(("changed", "said"), SIMULATED.values(), ids=SIMULATED.keys())
def test_of_a_simulated_cloud_the_machine_counts_with(changed: dict[str, Any], said: str) -> None:
    small, large = (each.document() for each in node_class().spec.types)
    found = change(
        (pool(), node_class()), (pool(), node_class(types=[{**small, **changed}, large]))
    )
    assert said in found if said else not found


def test_how_a_simulated_cloud_behaves_makes_no_node_drift() -> None:
    slow = node_class(billing="Hourly", bootDelay={"max": "1m"}, faults=[{"kind": "NeverReady"}])
    assert not change((pool(), node_class()), (pool(), slow))


def test_a_catalogue_that_moves_to_another_place_makes_no_node_drift() -> None:
    elsewhere = node_class(types=[], catalogueFrom={"namespace": "a", "name": "b", "key": "c"})
    assert not change((pool(), node_class()), (pool(), elsewhere))
    assert not change((pool(), elsewhere), (pool(), node_class()))


# What is not known


UNKNOWN = {
    "none": None,
    "somebody's writing": "{",
    "nothing but brackets": '{"x":' + "[" * 100_000,
    "of a form that is to come": '{"form":2,"location":"nowhere"}',
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_a_node_has_not_drifted_for_all_we_know_with_a_template(text: str | None) -> None:
    annotations = {} if text is None else {TEMPLATE_ANNOTATION: text}
    found = drifted(having(pool(taints=[HARD], **ZONED), hetzner(), node(annotations=annotations)))
    assert not found


def test_a_node_has_not_drifted_from_a_class_that_is_not_there() -> None:
    bought = made_in(having(pool(), hetzner()))
    gone = having(pool(), hetzner(), bought, node_classes={})
    assert not drifted(gone)


def test_a_node_of_nobody_and_one_of_no_pool_never_drift() -> None:
    given = having(pool(), node_class())
    theirs = made_in(given, "theirs")
    metadata = msgspec.structs.replace(
        theirs.metadata, labels={**theirs.labels, "growth.dev/managed-by": "others"}
    )
    ours = msgspec.structs.replace(theirs, metadata=metadata)
    assert not drifted(having(pool(**TYPES), node_class(), ours))
    assert not drifted(having(pool("other", **TYPES), node_class(), made_in(given)))


# Over releases


def test_the_form_that_nodes_bear_stays_the_same() -> None:
    """Who changes this text makes every machine of every cluster look old, unless FORM changes."""
    made = hetzner(
        labels={"b": "2", "a": "1"},
        sshKeys=["one", "admin"],
        bootstrap={**K3S, "caHash": CA_HASH, "kubelet": {"reserved": {"cpu": "0.5"}}},
    )
    asking = pool(labels={"team": "shop", "app": "web"}, taints=[TAINT])
    text = blueprint_of(asking, offering(zone="a"), having(asking, made)).text
    assert text == (
        '{"form":1,"location":"here","zone":"a","architecture":"amd64",'
        '"labels":{"app":"web","team":"shop"},'
        '"taints":[{"key":"team","effect":"NoSchedule","value":"shop"}],'
        '"parts":{"bootstrap.caHash":"sha256:22549d342667","bootstrap.kind":"K3s",'
        '"bootstrap.kubelet":"{\\"reserved\\": {\\"cpu\\": 500}}",'
        '"bootstrap.server":"https://10.0.0.2:6443","image":"debian-13",'
        '"labels":"{\\"a\\": \\"1\\", \\"b\\": \\"2\\"}","placementGroup":"None",'
        '"sshKeys":"[\\"admin\\", \\"one\\"]"}}'
    )


def test_a_release_that_knows_more_makes_no_machine_look_old() -> None:
    class LaterBootstrap(Bootstrap):
        """With an option of its own."""

        swap: bool = True
        """Whether there is any."""

    class LaterSpec(HetznerNodeClassSpec):
        """With options of its own."""

        backups: bool = False
        """Whether there are any."""
        bootstrap: LaterBootstrap
        """How a server becomes a node."""

    class Later(HetznerNodeClass):
        """A newer form of the same kind."""

        spec: LaterSpec
        """How servers are made."""

    now = hetzner()
    later = Later.model_validate(now.document())
    assert parts_of(later, CX23, architecture="amd64") == parts_of(now, CX23, architecture="amd64")


@pytest.mark.parametrize("bootstrap", [K3S, KUBEADM], ids=lambda each: each["kind"])
def test_a_release_that_renders_other_user_data_replaces_no_node(
    bootstrap: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = having(pool(), hetzner(bootstrap=bootstrap))
    bought, rendered = made_in(given), user_data(joining(bootstrap))

    monkeypatch.setattr(cloud_config, "PREPARE", "#!/bin/sh\n")

    assert user_data(joining(bootstrap)) != rendered
    assert not drifted(having(pool(), hetzner(bootstrap=bootstrap), bought))


def test_looking_at_many_nodes_of_one_make_is_looking_at_one() -> None:
    given = having(pool(), hetzner())
    many: list[Node] = [made_in(given, f"default-{number}") for number in range(5)]
    changed = having(pool(), hetzner(images={"x86": "debian-14"}), *many)
    assert sorted(drifted(changed)) == [f"default-{number}" for number in range(5)]


@pytest.mark.parametrize("form", [1, 2])
def test_row_14_an_upgrade_makes_none_of_200_nodes_look_old(form: int) -> None:
    """Neither the release that bought them, nor one that doesn't know how they were written."""
    given = having(pool(), hetzner())
    text = blueprint_of(given.pools["default"], offering(), given).text
    written = {TEMPLATE_ANNOTATION: text.replace('"form":1', f'"form":{form}')}
    nodes = [node(f"default-{number}", annotations=written) for number in range(200)]
    assert not drifted(having(pool(), hetzner(), *nodes))
    changed = drifted(having(pool(), hetzner(images={"x86": "debian-14"}), *nodes))
    assert len(changed) == (200 if form == 1 else 0)
