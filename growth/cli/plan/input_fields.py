"""The fields of an object that go into a bundle; everything else is left out.

Of Kubernetes' own kinds, these are the fields that growth decodes. It doesn't decode environment
variables, arguments, images and the contents of volumes, so they never get into a bundle.
Annotations and messages can contain anything and are restricted here. A node class may contain user
data and addresses; its own type says which of its fields others may see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from growth.api.nodeclass import NodeClass
from growth.api.wellknown import PAUSED_REASON_ANNOTATION, RESERVED_PREFIX
from growth.scheduling import moving, pod, storage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.api.meta import CustomResource
    from growth.scheduling.cluster import Object

ANNOTATIONS: Final = frozenset(
    {
        pod.MIRROR_ANNOTATION,
        storage.SELECTED_NODE,
        storage.BIND_COMPLETED,
        storage.BETA_CLASS,
        moving.KARPENTERS,
        moving.SAFE_TO_EVICT,
        moving.SAFE_VOLUMES,
    }
)
"""Annotations of others that growth reads; of its own, all are kept except people's free text."""
FREE_TEXT: Final = frozenset({PAUSED_REASON_ANNOTATION})
METADATA: Final = (
    "name",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "finalizers",
)


def fields_of(one: Object) -> dict[str, Any]:
    """An object of Kubernetes' own kinds."""
    known: dict[str, Any] = msgspec.to_builtins(one)
    known["metadata"]["annotations"] = harmless(known["metadata"]["annotations"])
    for condition in known.get("status", {}).get("conditions", ()):
        condition["message"] = ""
    return known


def fields_of_ours(one: CustomResource) -> dict[str, Any]:
    """An object of growth's kinds."""
    known = one.document()
    metadata = known.get("metadata", {})
    kept = {name: metadata[name] for name in METADATA if name in metadata}
    if told := harmless(metadata.get("annotations", {})):
        kept["annotations"] = told
    disclosed = one.disclosed() if isinstance(one, NodeClass) else {}
    return {**known, "metadata": kept, **disclosed}


def harmless(found: Mapping[str, str]) -> dict[str, str]:
    """The annotations that growth reads or has written."""
    return {
        name: value
        for name, value in found.items()
        if (name.startswith(RESERVED_PREFIX) or name in ANNOTATIONS) and name not in FREE_TEXT
    }
