"""User data as it is handed to servers, kept as files that a person can read.

`python -m tests.hetzner.golden` writes them anew; what has changed is then read in the diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.hetzner.build import CA_HASH, K3S, KUBEADM, TALOS, joining

FOLDER: Final = Path(__file__).parent
RESERVED = {"reserved": {"cpu": "250m", "memory": "600Mi"}, "maxPods": 200}
TALOS_CONFIGURATION = """\
version: v1alpha1
machine:
  type: worker
  token: the-machines-own
  nodeLabels:
    rack: seven
  kubelet:
    extraArgs:
      rotate-server-certificates: "true"
cluster:
  id: somewhere
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: stable
"""
CUSTOM = """\
#!/bin/sh
# $(hostname) and ${HOME} are the shell's own.
join --name '$(growth.nodeName)' --labels '$(growth.nodeLabels)' --taints '$(growth.nodeTaints)' \\
  --token '$(growth.token)' --in '$(growth.location)' -- $(growth.kubeletArguments)
"""
CASES: Final = {
    "k3s.yaml": joining(K3S),
    "k3s-installed-private.yaml": joining(
        {**K3S, "version": "v1.34.1+k3s1", "caHash": CA_HASH, "kubelet": RESERVED}, network=41
    ),
    "k3s-without-cloud-controller.yaml": joining(
        {**K3S, "cloudProvider": "None", "metadataAccess": "Open"}
    ),
    "kubeadm.yaml": joining(KUBEADM),
    "kubeadm-installed.yaml": joining(
        {**KUBEADM, "version": "1.34.1", "cloudProvider": "None"}, network=41
    ),
    "talos.yaml": joining(TALOS, template=TALOS_CONFIGURATION),
    "custom.sh": joining({"kind": "Custom", "template": CUSTOM}),
}
