"""What of an object goes into a bundle: fields by name, and nothing that isn't named.

Of Kubernetes' own kinds the structs that growth decodes are the list: what growth doesn't read
(environment, arguments, images, the contents of volumes) it doesn't have. What is open in them
still, annotations and messages, is narrowed here. Of growth's kinds a node class may hold user data
and addresses: what of it may be seen by others it says itself.
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
"""Those of others that growth reads; its own are all taken, but for what people write freely."""
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
    """Of annotations, those that growth reads or has written."""
    return {
        name: value
        for name, value in found.items()
        if (name.startswith(RESERVED_PREFIX) or name in ANNOTATIONS) and name not in FREE_TEXT
    }
