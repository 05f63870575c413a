"""A kind of provider is one record: what is registered is complete, and a third one just works."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth.api.kinds import NODE_CLASSES
from growth.api.nodepool import NodeClassKind, PaidHour
from growth.cli.plan import reading
from growth.cli.plan.prices import prices_from
from growth.demand.demanded import DemandBooks
from growth.installation.values import ProviderChoice
from growth.keeping.paid_hours import paid_hour_of
from growth.kube.cache.contents import Change, ChangeKind
from growth.kube.cache.resource import Key
from reconciler.buying.blueprints import parts_of
from reconciler.core.timing import Timing
from reconciler.core.world import Replies
from reconciler.ledger import Ledger
from reconciler.providers.port import ClassKey
from reconciler.providers.registry import PROVIDERS
from reconciler.seeing.indexes import Views
from tests.clouds.tiny import SMALL, TinyNodeClass, TinySpec, register_tiny
from tests.live import ROOT
from tests.reconciler.build import at, pool, waiting

GUARDS: Final = ROOT / "manifests" / "base" / "guard.yaml"
RIGHTS: Final = ROOT / "manifests" / "base" / "reconciler.yaml"


@pytest.fixture
def third(monkeypatch: pytest.MonkeyPatch) -> TinyNodeClass:
    """The class of a third provider, which is registered as long as a test runs."""
    register_tiny(monkeypatch)
    return TinyNodeClass.model_validate({"metadata": {"name": "default", "uid": "uid-default"}})


def test_each_kind_of_the_product_is_in_each_registry() -> None:
    assert set(NODE_CLASSES) == set(NodeClassKind), "growth/api/kinds.py, growth/api/nodepool.py"
    assert set(PROVIDERS) == set(NODE_CLASSES), "reconciler/providers/registry.py"
    names = {node_class.provider for node_class in NODE_CLASSES.values()}
    assert names == set(ProviderChoice), "growth/installation/values.py"
    assert not any("-" in name for name in names), "an offering is a provider, a hyphen and a type"


def test_the_manifests_guard_and_allow_each_kind_of_the_product() -> None:
    names = {node_class.kind_names[0] for node_class in NODE_CLASSES.values()}
    for path in (GUARDS, RIGHTS):
        text = path.read_text("utf-8")
        assert set(re.findall(r"\b[a-z]+nodeclasses\b", text)) == names, path.name


def test_each_kind_of_the_product_has_clients() -> None:
    for kind in PROVIDERS.values():
        assert callable(import_module(kind.clients).open_clients)


@given(st.one_of(st.text(), st.from_regex(r"(hcloud|kwok|aws)://?/?[^/]*/?.*", fullmatch=True)))
def test_a_providerid_names_a_machine_of_one_kind_of_the_product_at_most(written: str) -> None:
    found = [each.machine_id(written) for each in PROVIDERS.values()]
    assert sum(each is not None for each in found) <= 1
    assert "" not in found


def test_growth_plan_plans_with_a_third_provider(third: TinyNodeClass) -> None:
    world = reading.world(
        [waiting("web", cpu="1")],
        [pool(serverTypes=[{"name": "t1", "max": 5}]), third],
        prices_from(None),
        config_maps={},
        now=at(0),
    )
    paper = reading.plan_for_world(world, effort="quick", now=at(0))
    bought = [each.spec.target_offering for each in paper.requests.values()]
    assert bought == ["tiny-t1"]


def test_a_catalogue_in_the_class_is_known_as_soon_as_the_class_is(third: TinyNodeClass) -> None:
    views = Views()
    views.take(
        third.kind,
        [Change(ChangeKind.ADDED, Key("", third.name), None, third)],
    )
    world = views.world(
        Ledger(),
        demand=DemandBooks().at(at(0)),
        replies=Replies(),
        clouds={},
        busy=frozenset(),
        sources={},
        timing=Timing(),
        seed=1,
    )
    assert world.offerings == {ClassKey(third.kind, third.name): (SMALL,)}


def test_a_started_hour_is_paid_as_the_class_says(third: TinyNodeClass) -> None:
    assert paid_hour_of(pool(), third) is PaidHour.USE


def test_a_node_drifts_when_what_its_provider_makes_it_from_has_changed(
    third: TinyNodeClass,
) -> None:
    later = third.model_copy(update={"spec": TinySpec(image="v2")})
    was, now = (parts_of(each, SMALL.server_type, architecture="") for each in (third, later))
    assert (was, now) == ({"image": "v1"}, {"image": "v2"})
