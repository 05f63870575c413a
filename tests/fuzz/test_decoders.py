"""Whatever an object says: its decoder takes it or refuses it, and nothing else happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from growth.api.kinds import KINDS
from growth.errors import Misconfigured
from growth.kube.cache.contents import Change, ChangeKind, Unreadable
from growth.kube.cache.resource import WatchedResource, key_of
from growth.kube.cache.watch_events import Garbled, read_object
from growth.kube.election.lease import lease_from, seconds_without_a_leader
from growth.scheduling import objects
from growth.undecodable import UNDECODABLE
from reconciler.core.pause_of_all import PauseOfAll, decode_pause_of_all
from reconciler.providers.kwok.catalogue import types_of
from reconciler.seeing.demand import KnownDemand
from reconciler.seeing.indexes import PAUSE, Views
from reconciler.seeing.sources import BUILT_IN
from reconciler.seeing.unreadable import with_unreadable
from tests.fuzz.poison import anything, spoilt
from tests.fuzz.town import document_of
from tests.reconciler.build import START, at, node_class, pool, record, request, world
from tests.removal.build import removal

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT, LONG = 60, 5_000
STRUCTS = {
    "nodes": objects.Node,
    "pods": objects.Pod,
    "namespaces": objects.Namespace,
    "claims": objects.PersistentVolumeClaim,
    "volumes": objects.PersistentVolume,
    "storage_classes": objects.StorageClass,
    "csi_nodes": objects.CSINode,
    "csi_drivers": objects.CSIDriver,
    "attachments": objects.VolumeAttachment,
    "deployments": objects.Deployment,
    "replica_sets": objects.ReplicaSet,
    "daemon_sets": objects.DaemonSet,
    "budgets": objects.PodDisruptionBudget,
}
DECODERS: dict[str, tuple[Any, Callable[[bytes], Any]]] = {
    **{name: (STRUCTS[name], decode) for name, (_, decode) in BUILT_IN.items()},
    **{name: (kind, kind.model_validate_json) for name, kind in KINDS.items()},
    PAUSE: (PauseOfAll, decode_pause_of_all),
}


SOUND: dict[str, Any] = {
    "pods": {
        "metadata": {"ownerReferences": [{"kind": "ReplicaSet", "uid": "web", "controller": True}]},
        "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        },
    },
    "NodeRequest": {"spec": document_of(request())["spec"]},
    "NodeRemovalRequest": {"spec": document_of(removal())["spec"]},
    "NodeRecord": {"spec": document_of(record())["spec"]},
    "NodePool": {"spec": document_of(pool())["spec"]},
    "KwokNodeClass": {"spec": document_of(node_class())["spec"]},
}


def test_every_decoder_of_the_reconciler_is_tried() -> None:
    assert STRUCTS.keys() == BUILT_IN.keys()


def goes_in(kind: str, document: Any) -> None:
    """An object as it comes from a watch, as data or as bytes, goes all the way into a World."""
    of, decode = DECODERS[kind]
    is_raw = isinstance(document, bytes)
    raw = document if is_raw else json.dumps(document).encode(errors="surrogatepass")
    resource: WatchedResource[Any] = WatchedResource(path=f"/api/v1/{kind}", decode=decode)
    try:
        found = read_object(raw, resource=resource)
    except Garbled:
        # Not even a name: the watch begins anew.
        return
    if isinstance(found, Unreadable):
        with_unreadable(world(), {kind: (found,)})
        return
    assert isinstance(found, of)
    views, demand = Views(), KnownDemand(lambda: at(0))
    change = [Change(ChangeKind.ADDED, key_of(found), None, found)]
    views.take(kind, change)
    demand.take(kind, change)
    demand.at(at(1))
    views.cluster()


def documents_of(kind: str) -> st.SearchStrategy[Any]:
    """A sound object of this kind, or the least that can be read, with poison in it."""
    of, _ = DECODERS[kind]
    sound = {"name": "default-1", "uid": "u", "resourceVersion": "1"}
    known = SOUND.get(kind, {})
    metadata = {**known.get("metadata", {}), **sound}
    return spoilt({**known, "metadata": metadata}, of) | anything


@settings(max_examples=SHORT)
@given(st.data())
def test_what_is_written_is_taken_or_refused(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(DECODERS)))
    goes_in(kind, data.draw(documents_of(kind)))


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", DECODERS)
def test_what_is_written_is_taken_or_refused_in_the_long_run(kind: str) -> None:
    @settings(max_examples=LONG)
    @given(documents_of(kind))
    def tried(document: Any) -> None:
        goes_in(kind, document)

    tried()


@pytest.mark.parametrize(
    "text",
    [
        "- " + "9" * 5000,
        "[" * 100_000,
        '{"a":' * 50_000,
        "- 2026-99-99",
        "[" * 5000,
        "- {a: .inf}",
        "- \x00",
        "- !!binary x",
    ],
)
def test_a_catalogue_that_can_not_be_read_is_a_mistake_of_its_writer(text: str) -> None:
    with pytest.raises(Misconfigured, match="ConfigMap a/b"):
        types_of(text, place="ConfigMap a/b")


@given(anything, anything)
def test_a_lease_is_read_or_refused(renewed: Any, duration: Any) -> None:
    document = {
        "metadata": {"uid": "u", "resourceVersion": "1"},
        "spec": {"renewTime": renewed, "leaseDurationSeconds": duration},
    }
    try:
        lease = lease_from(json.dumps(document).encode(errors="surrogatepass"))
    except UNDECODABLE:
        return
    assert seconds_without_a_leader(lease, START) >= 0.0
