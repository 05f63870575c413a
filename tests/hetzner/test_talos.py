"""What growth adds to a machine configuration of Talos is what Talos knows: its schema says so."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from reconciler.providers.hetzner.bootstrap.rendering import user_data
from tests.hetzner.build import TALOS, joining
from tests.hetzner.talos_schema import (
    BEFORE_HOSTNAME_CONFIG,
    SUMS,
    WITH_HOSTNAME_CONFIG,
    schema_of,
)

WORKER = """\
version: v1alpha1
debug: false
machine:
  type: worker
  token: 8xkdmn.0123456789abcdef
  ca: {crt: TFMwdExTMUNSVWRK, key: ""}
  certSANs: []
  kubelet:
    image: ghcr.io/siderolabs/kubelet:v1.34.1
    defaultRuntimeSeccompProfileEnabled: true
    disableManifestsDirectory: true
  install: {disk: /dev/sda, wipe: false}
  features:
    hostDNS: {enabled: true, forwardKubeDNSToHost: true}
cluster:
  id: 0raF93qnkMvF-FZNuvyGozXNdLiT2FOWSlyBaW4PR-w=
  secret: pofHbABZq7VXuObsdLdy_bHmz6hlMHZ3p8-6WKrv1ic=
  controlPlane: {endpoint: "https://10.0.0.2:6443"}
  clusterName: shop
  network:
    dnsDomain: cluster.local
    podSubnets: [10.244.0.0/16]
    serviceSubnets: [10.96.0.0/12]
  token: ydi8ab.0123456789abcdef
  ca: {crt: TFMwdExTMUNSVWRK, key: ""}
"""
"""What `talosctl gen config` writes for a worker, without its comments."""
NAMED = f"{WORKER}---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n"
KINDS = {None: "v1alpha1.Config", "HostnameConfig": "network.HostnameConfigV1Alpha1"}
KUBELET = {
    "maxPods": 200,
    "reserved": {"cpu": "250m", "memory": "600Mi"},
    "evictionHard": {"memory.available": "5%"},
}


def mistakes(configuration: str, *, version: str) -> list[str]:
    """What the schema of a release finds wrong."""
    definitions = schema_of(version)["$defs"]
    return [
        f"{mistake.json_path}: {mistake.message}"
        for document in yaml.safe_load_all(configuration)
        for mistake in schema_for(document, definitions).iter_errors(document)
    ]


def schema_for(document: dict[str, Any], definitions: dict[str, Any]) -> Draft202012Validator:
    """That of its kind: the whole schema would only say that it fits none of all kinds."""
    kind = KINDS[document.get("kind")]
    return Draft202012Validator({"$defs": definitions, "$ref": f"#/$defs/{kind}"})


@pytest.mark.parametrize("kubelet", [{}, KUBELET], ids=["usual", "reserved"])
@pytest.mark.parametrize("cloud_controller", ["External", "None"])
@pytest.mark.parametrize(
    ("template", "version"),
    [(WORKER, BEFORE_HOSTNAME_CONFIG), (NAMED, WITH_HOSTNAME_CONFIG)],
    ids=["before HostnameConfig", "with HostnameConfig"],
)
def test_what_growth_adds_is_in_the_schema_of_talos(
    template: str, version: str, cloud_controller: str, kubelet: dict[str, Any]
) -> None:
    bootstrap = {**TALOS, "cloudProvider": cloud_controller, "kubelet": kubelet}

    assert mistakes(user_data(joining(bootstrap, template=template)), version=version) == []


@pytest.mark.parametrize("version", SUMS)
def test_the_schema_finds_a_field_that_talos_does_not_know(version: str) -> None:
    assert mistakes("version: v1alpha1\nmachine: {maxPods: 3}\n", version=version) != []
