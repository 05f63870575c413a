"""Whatever one object says, a pass ends well, and the others get what they get without it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from growth.kube.cache.watch_events import Garbled
from growth.scheduling.node import Node
from reconciler.aside.ledger import AsideLedger
from reconciler.aside.objects import subject_of_object
from reconciler.aside.standing_in import with_stand_ins
from reconciler.core.actions import Subject, SubjectKind
from reconciler.loop import decide
from reconciler.replacement.candidates import ReplacementCandidate
from reconciler.replacement.searching import ReplacementSearch
from tests.fuzz.poison import TEXTS, known_keys, labels, spoilt, texts
from tests.fuzz.town import KINDS, Poisoned, decoded, document_of, seen, town
from tests.reconciler.build import at, pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reconciler.core.actions import Sequence
    from reconciler.core.world import World
    from reconciler.loop import PassOutcome

SHORT, LONG = 40, 30_000
OF_THE_SERVER = ("name", "namespace", "uid", "resourceVersion")
MOMENTS = (100.0, 101.0, 130.0)


def passes(given_world: World) -> Iterator[PassOutcome]:
    for moment in MOMENTS:
        outcome = decide(given_world, at(moment))
        yield outcome
        given_world = given_world.remembering(outcome.ledger)


def about_others(outcome: PassOutcome, subject: Subject) -> list[Sequence]:
    kinds = {SubjectKind.MACHINE, SubjectKind.POD}
    return [
        each for each in outcome.sequences if each.subject != subject and each.subject.kind in kinds
    ]


def ends_well(poisoned: Poisoned) -> None:
    objects = town()
    subject = subject_of_object(objects[poisoned.name])
    try:
        poisoned_world = seen(objects, poisoned)
    except Garbled:
        # Its metadata has another form than the API server lets through: the watch begins anew.
        return
    for outcome in passes(poisoned_world):
        assert outcome.breach is None
        assert not outcome.ledger.aside.failing
        assert set(outcome.ledger.aside.subjects) <= {subject}
        assert not (poisoned.is_told_by_a_reader and outcome.ledger.aside.subjects)
        search_is_stated(with_stand_ins(poisoned_world.remembering(outcome.ledger)))


def search_is_stated(given_world: World) -> None:
    """What could go is a question that effects state, so no rule would put its subject aside."""
    occupancy = given_world.cluster.occupancy
    found = tuple(
        ReplacementCandidate(node=node, pool=pool(), pods=occupancy(name).keepers, price=1)
        for name, node in given_world.cluster.nodes.items()
        if occupancy(name).keepers
    )
    search = ReplacementSearch(
        found=found, world=given_world, now=at(130.0), most={}, horizon=60.0, currency=""
    )
    assert len(search.stated().standing) <= len(found)


@st.composite
def written(draw: st.DrawFn) -> Poisoned:
    """Poison in annotations, labels and taints, or in any field of one object."""
    name, found = draw(st.sampled_from(sorted(town().items())))
    document = document_of(found)
    match draw(st.sampled_from(["annotations", "labels", "taints", "fields", "fields"])):
        case "annotations":
            words = draw(st.dictionaries(st.sampled_from(known_keys()), texts, min_size=1))
            document["metadata"]["annotations"] = {
                **(document["metadata"].get("annotations") or {}),
                **words,
            }
        case "labels":
            words = draw(st.dictionaries(st.sampled_from(known_keys()), labels, min_size=1))
            document["metadata"]["labels"] = {**document["metadata"].get("labels", {}), **words}
        case "taints" if isinstance(found, Node):
            taint = {"key": draw(st.sampled_from(known_keys())), "value": draw(labels)}
            document["spec"]["taints"] = [{**taint, "effect": "NoSchedule"}]
        case _:
            made = draw(spoilt(document, KINDS[name.split()[0]][0]))
            # The API server keeps what identifies an object.
            kept = {key: document["metadata"].get(key, "") for key in OF_THE_SERVER}
            metadata = {**made["metadata"], **kept}
            return Poisoned(name, {**made, "metadata": metadata})
    return Poisoned(name, document, is_told_by_a_reader=True)


@settings(max_examples=SHORT, suppress_health_check=list(HealthCheck))
@given(written())
def test_whatever_one_object_says_a_pass_ends_well(poisoned: Poisoned) -> None:
    ends_well(poisoned)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=LONG, suppress_health_check=list(HealthCheck))
@given(written())
def test_whatever_one_object_says_a_pass_ends_well_in_the_long_run(poisoned: Poisoned) -> None:
    ends_well(poisoned)


OF_PEOPLE = ("do-not-disrupt", "do-not-evict", "scale-down-disabled", "paused-until")
"""Keys whose value is heeded whatever it is: someone wanted something."""


def quiet_keys() -> list[str]:
    return [key for key in known_keys() if not key.endswith(OF_PEOPLE)]


def bearing(name: str, annotations: dict[str, str]) -> Poisoned:
    document = document_of(town()[name])
    document["metadata"]["annotations"] = annotations
    return Poisoned(name, document)


@pytest.mark.parametrize("silent", [(), ("paused-until",), OF_PEOPLE], ids=len)
def test_no_text_under_any_key_of_any_object_is_more_than_a_reader_can_take(
    silent: tuple[str, ...],
) -> None:
    keys = [key for key in known_keys() if not (silent and key.endswith(silent))]
    for text in TEXTS:
        objects = town()
        for name in objects:
            words = objects[name].metadata.annotations | dict.fromkeys(keys, text)
            objects[name] = decoded(bearing(name, words))
        for outcome in passes(seen(objects, None)):
            assert outcome.ledger.aside == AsideLedger(), f"{text[:40]!r} under {len(keys)} keys"


@pytest.mark.parametrize("name", ["Node laptop", "Node default-idle", "Node default-used"])
def test_what_cannot_be_read_changes_nothing_for_the_neighbours(name: str) -> None:
    objects = town()
    subject = subject_of_object(objects[name])
    assert subject is not None
    before = objects[name].metadata.annotations
    clean = [about_others(each, subject) for each in passes(seen(objects, None))]
    for text in ("1e999999", "NaN", "0001-01-01T00:00:00+14:00", "[" * 20_000, "x" * 250_000):
        words = {**before, **dict.fromkeys(quiet_keys(), text)}
        spoilt = passes(seen(objects, bearing(name, words)))
        assert [about_others(each, subject) for each in spoilt] == clean


def calls_of(given_world: World) -> int:
    """How much work a pass is: the calls of functions in it, on any machine the same."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for _ in passes(given_world):
            pass
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", ["Node default-used", "NodePool default", "Pod web-2"])
def test_no_text_makes_a_pass_much_more_work_than_its_neighbour_does(name: str) -> None:
    objects = town()
    usual = calls_of(seen(objects, bearing(name, dict.fromkeys(known_keys(), "1"))))
    for text in TEXTS:
        spoilt = bearing(name, dict.fromkeys(known_keys(), text))
        assert calls_of(seen(objects, spoilt)) < 2 * usual + 5_000, text[:80]


def seconds_of(given_world: World) -> float:
    """Of the processor, for the quickest of three."""

    def once() -> float:
        begun = time.process_time()
        for _ in passes(given_world):
            pass
        return time.process_time() - begun

    return min(once() for _ in range(3))


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(town()))
def test_no_text_makes_a_pass_50_ms_longer_than_its_neighbour_does(name: str) -> None:
    objects = town()
    usual = seconds_of(seen(objects, bearing(name, dict.fromkeys(known_keys(), "1"))))
    for text in TEXTS:
        spoilt = bearing(name, dict.fromkeys(known_keys(), text))
        assert seconds_of(seen(objects, spoilt)) < usual + 0.05, text[:80]
