"""User data for Talos: the user's machine configuration with growth's additions.

The configuration says how a machine joins (addresses, certificates, secrets). growth sets the name,
labels and taints, and the kubelet's settings on which the plan relied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from growth.api.yaml_text import documents as yaml_documents
from growth.errors import Misconfigured
from reconciler.providers.hetzner.bootstrap.cloud_config import cloud_config_text

if TYPE_CHECKING:
    from reconciler.providers.hetzner.bootstrap.joining import JoiningServer

HOSTNAME_KIND = "HostnameConfig"


def machine_configuration(joining: JoiningServer) -> str:
    """The complete configuration; its other documents stay unchanged."""
    documents = _documents(joining.template)
    machine = next((each for each in documents if "machine" in each), None)
    if machine is None:
        raise Misconfigured(
            "bootstrap.templateSecretRef: the Secret has no document with `machine`: use a "
            "worker's configuration, as `talosctl gen config` writes it"
        )
    _name(documents, machine, name=joining.order.name)
    _merge(machine, _additions(joining))
    return "---\n".join(cloud_config_text(document) for document in documents)


def _documents(text: str) -> list[dict[str, Any]]:
    try:
        documents = [each.data for each in yaml_documents(text)]
    except (ValueError, RecursionError):
        # The error's text would quote the configuration with its secrets.
        documents = [None]
    if not all(isinstance(document, dict) for document in documents):
        raise Misconfigured(
            "bootstrap.templateSecretRef: the machine configuration isn't YAML: check it with "
            "`talosctl validate`"
        )
    return documents


def _name(documents: list[dict[str, Any]], machine: dict[str, Any], *, name: str) -> None:
    """Set the hostname.

    Newer configurations have a document of its own for it, and Talos rejects a name in both places.
    """
    own = next((each for each in documents if each.get("kind") == HOSTNAME_KIND), None)
    if own is None:
        _merge(machine, {"machine": {"network": {"hostname": name}}})
        return
    own.pop("auto", None)
    own["hostname"] = name


def _additions(joining: JoiningServer) -> dict[str, Any]:
    kubelet = joining.bootstrap.kubelet
    return {
        "machine": {
            "nodeLabels": joining.labels,
            "kubelet": {
                "extraArgs": {"register-with-taints": ",".join(joining.taints)},
                "extraConfig": {
                    "maxPods": kubelet.max_pods,
                    "evictionHard": dict(kubelet.eviction_hard),
                    "kubeReserved": {name: str(it) for name, it in kubelet.reserved.items()},
                },
            },
        },
        "cluster": {"externalCloudProvider": {"enabled": joining.has_cloud_controller}},
    }


def _merge(into: dict[str, Any], additions: dict[str, Any]) -> None:
    for key, value in additions.items():
        below = into.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            _merge(below, value)
        else:
            into[key] = value
