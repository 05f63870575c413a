"""Replaces names by hashes, the same everywhere in one bundle, so that it can still be replayed.

Names of pods, workloads, namespaces, claims, volumes and nodes of others are hashed, and the values
of custom labels, wherever rules compare them. Names of pools and their machines, and labels that
Kubernetes and growth define, are kept, because a report is about them. The key is created for one
bundle and thrown away, so two bundles can't be compared.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

from growth.api.noderecord import NodeRecord
from growth.api.wellknown import TEMPLATE_ANNOTATION
from growth.cli.plan.input import Input, as_builtins

NAMES: Final = frozenset(
    {
        "name",
        "namespace",
        "nodeName",
        "nominatedNodeName",
        "claimName",
        "volumeName",
        "volumeHandle",
        "persistentVolumeName",
        "podGroupName",
        "podGroup",
        "providerID",
    }
)
"""Fields that contain names."""
OPEN_KINDS: Final = frozenset(
    {
        "Pod",
        "Node",
        "Namespace",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "DaemonSet",
        "ReplicaSet",
        "VolumeAttachment",
    }
)
"""Kinds in which all these fields contain names of users."""
LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector"})
KNOWN_NAMES: Final = frozenset({"default", "kube-system", ""})
"""Values with a meaning for growth."""
DEFINED: Final = (
    "growth.dev/",
    "node.kubernetes.io/",
    "topology.kubernetes.io/",
    "beta.kubernetes.io/",
    "failure-domain.beta.kubernetes.io/",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node-role.kubernetes.io/",
)
"""Prefixes of labels whose values aren't secret."""
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
COMPARED: Final = frozenset({"Gt", "Lt"})
"""Operators that interpret a value."""


class Hashing:
    """The names of one bundle."""

    def __init__(self, key: bytes, *, kept: frozenset[str]) -> None:
        self._key = key
        self._kept = kept | KNOWN_NAMES
        """Names that are kept: those of machines."""

    def of(self, given: Input) -> Input:
        """The document with hashes instead of names."""
        known = as_builtins(given)
        for kind, several in known["objects"].items():
            known["objects"][kind] = [self._of_kind(kind, each) for each in several]
        for kind, several in known["resources"].items():
            known["resources"][kind] = [self._of_ours(each) for each in several]
        for record in known["resources"].get(NodeRecord.__name__, ()):
            _without_texts(record)
        return Input(**{**known, "at": given.at})

    def name(self, name: str) -> str:
        """The hash of a name or a label's value."""
        if name in self._kept:
            return name
        return f"h{hmac.new(self._key, name.encode(), hashlib.sha256).hexdigest()[:12]}"

    def _of_kind(self, kind: str, one: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = self._changed(one, NAMES if kind in OPEN_KINDS else frozenset())
        if kind == "CSINode":
            # It has its node's name, and names drivers, which aren't secret.
            changed["metadata"] = self._changed(changed["metadata"], NAMES)
        if kind == "Node":
            changed["metadata"]["annotations"].pop(TEMPLATE_ANNOTATION, None)
        return changed

    def _of_ours(self, one: dict[str, Any]) -> dict[str, Any]:
        """Hash labels of templates and offers, and the pods named in spec and status."""
        changed: dict[str, Any] = self._changed(one, frozenset())
        spec, status = changed["spec"], changed.get("status", {})
        for planned in (*spec.get("pods", ()), *spec.get("workloads", ())):
            planned.update(self._changed(planned, NAMES))
        for entry in status.get("unplaced", ()):
            entry["pod"] = self._changed(entry["pod"], NAMES)
            entry["reason"] = "removed, because it may contain names"
        for entry in status.get("unserved", ()):
            kind, _, rest = entry["owner"].partition("/")
            entry["owner"] = "/".join([kind, *map(self.name, rest.split("/"))])
        for entry in status.get("kept", ()):
            entry["owner"] = self._of_owner(entry["owner"])
        return changed

    def _of_owner(self, owner: str) -> str:
        """Hash an owner; only pods, written as `Pod namespace/name`, contain names of users."""
        kind, _, rest = owner.partition(" ")
        return f"{kind} {'/'.join(map(self.name, rest.split('/')))}" if kind == "Pod" else owner

    def _changed(self, value: Any, names: frozenset[str]) -> Any:
        match value:
            case {"key": str(key), "values": list(values)} if value.get("operator") not in COMPARED:
                return {**value, "values": [self._label(key, each) for each in values]}
            case dict():
                return {key: self._field(key, each, names) for key, each in value.items()}
            case list():
                return [self._changed(each, names) for each in value]
            case _:
                return value

    def _field(self, key: str, value: Any, names: frozenset[str]) -> Any:
        if key in LABELS and isinstance(value, dict):
            return {label: self._label(label, each) for label, each in value.items()}
        if key == "namespaces" and isinstance(value, list):
            return [self.name(each) for each in value]
        if (key in names or key == SELECTED_NODE) and isinstance(value, str):
            return self.name(value)
        return self._changed(value, names)

    def _label(self, label: str, value: str) -> str:
        return value if label.startswith(DEFINED) else self.name(value)


def _without_texts(record: dict[str, Any]) -> None:
    """Take out what may name labels of the pool, or Nodes of others. No plan depends on it."""
    status = record.get("status", {})
    for told in (record["spec"], status):
        told.pop("template", None)
    for condition in status.get("conditions", ()):
        condition["message"] = ""
