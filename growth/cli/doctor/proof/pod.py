"""The pod of a proof: small enough for the cheapest machine, and only for a new one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from growth.api.wellknown import POOL_LABEL
from growth.cli.doctor.examination.admission import PROBE

if TYPE_CHECKING:
    from collections.abc import Iterable

HOSTNAME: Final = "kubernetes.io/hostname"


def pod_for(
    pool: str, *, name: str, namespace: str, nodes: Iterable[str], seconds: float
) -> dict[str, Any]:
    """A pod that can't run on any existing or requested node of the pool.

    It ends by itself after this many seconds on a node, so that no machine is paid for if growth
    doctor can't delete it.
    """
    taken, (container,) = sorted(nodes), PROBE["spec"]["containers"]
    spec = {
        **PROBE["spec"],
        "nodeSelector": {POOL_LABEL: pool},
        # Bound is all that it has to be: no image is pulled for it, and nothing has to end in it.
        "containers": [{**container, "imagePullPolicy": "Never"}],
        "activeDeadlineSeconds": math.ceil(seconds),
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
    }
    if taken:
        rule = {"key": HOSTNAME, "operator": "NotIn", "values": taken}
        term = {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}
        affinity = {"requiredDuringSchedulingIgnoredDuringExecution": term}
        spec["affinity"] = {"nodeAffinity": affinity}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
