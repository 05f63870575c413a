"""Does growth admit pods? A dry run of a pod that names an unknown pool shows it.

If the webhook's warning comes back, the API server reaches and trusts the webhook. A policy needs
no such test, because it is part of the API server.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from growth.api.installed import ADMISSION_POLICY, WEBHOOKS
from growth.api.wellknown import ADMISSION_DISABLED, ADMISSION_LABEL, POOL_LABEL
from growth.cli.doctor.examination.finding import PATIENCE, fail, ok, warn
from growth.cli.doctor.examination.mode import observes
from growth.cli.doctor.examination.processes import WEBHOOK, is_installed
from growth.kube.errors import ApiError

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings
    from growth.kube.transport import Response

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
POLICY: Final = f"{ADMISSION}/mutatingadmissionpolicies/{ADMISSION_POLICY}"
BINDING: Final = f"{ADMISSION}/mutatingadmissionpolicybindings/{ADMISSION_POLICY}"
AGAIN: Final = "run growth install to restore it"
UNKNOWN_POOL: Final = "growth-doctor-asks"
PROBE: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"generateName": "growth-doctor-"},
    "spec": {
        "nodeSelector": {POOL_LABEL: UNKNOWN_POOL},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [
            {
                "name": "probe",
                "image": "none",
                "resources": {
                    "requests": {"cpu": "1m", "memory": "1Mi"},
                    "limits": {"cpu": "1m", "memory": "1Mi"},
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}
"""A pod that strict namespaces also accept. It is never stored."""


async def examine_admission(place: ExaminedCluster) -> Findings:
    """Examine the webhook or the policy, whichever exists."""
    webhook, policy = await place.found(WEBHOOK), await place.found(POLICY)
    if webhook is not None:
        async for finding in _webhook(place, webhook):
            yield finding
    elif policy is not None:
        if await place.found(BINDING) is None:
            text = f"MutatingAdmissionPolicyBinding {ADMISSION_POLICY} is gone"
            yield fail("policy", text, AGAIN)
        else:
            yield ok("policy", "the API server applies it to new pods")
    elif await observes(place):
        yield ok("webhook", "growth only observes, so pods are admitted unchanged")
    elif await is_installed(place):
        text = (
            "neither a webhook nor a policy exists: pods get no tolerations for the taints of pools"
        )
        yield fail("webhook", text, AGAIN)


async def _webhook(place: ExaminedCluster, configuration: dict[str, Any]) -> Findings:
    for each in configuration["webhooks"]:
        if each.get("failurePolicy") != "Ignore":
            text = "its failurePolicy is Fail: no pod can be created while it is down"
            yield fail("webhook", text, AGAIN)
        if not each["clientConfig"].get("caBundle"):
            hint = "the leading reconciler sets it; growth certs show tells what is missing"
            yield fail("webhook", "the API server doesn't trust it: no caBundle", hint)
            return
    namespace = await _namespace(place)
    if namespace is None:
        text = "every namespace has opted out of admission"
        hint = f"kubectl label namespace NAME {ADMISSION_LABEL}- opts a namespace in again"
        yield warn("webhook", text, hint)
        return
    async for finding in _asked(place, namespace):
        yield finding


async def _namespace(place: ExaminedCluster) -> str | None:
    """A namespace in which growth admits pods; `default` if possible."""
    found = [
        each["metadata"]["name"]
        for each in await place.some("/api/v1/namespaces")
        if each["metadata"].get("labels", {}).get(ADMISSION_LABEL) != ADMISSION_DISABLED
    ]
    open_ = [name for name in found if not name.startswith("kube-") and name != place.namespace]
    return "default" if "default" in open_ else next(iter(open_), None)


async def _asked(place: ExaminedCluster, namespace: str) -> Findings:
    path, began = f"/api/v1/namespaces/{namespace}/pods", time.monotonic()
    try:
        answer = await place.connection.request(
            "POST", path, query={"dryRun": "All"}, body=PROBE, timeout=PATIENCE
        )
    except ApiError as error:
        hint = "check other webhooks for pods: kubectl get validatingwebhookconfigurations"
        yield warn(
            "webhook", f"a dry-run pod was rejected, so the webhook can't be checked: {error}", hint
        )
        return
    took = f"{(time.monotonic() - began) * 1000:.0f} ms"
    if _was_heard(answer):
        yield ok("webhook", f"admits a dry-run pod in namespace {namespace} in {took}")
    else:
        text = f"the API server doesn't reach it: a dry-run pod was returned unchanged in {took}"
        hint = (
            f"kubectl -n {place.namespace} get endpointslices -l "
            f"kubernetes.io/service-name={WEBHOOKS}; is port 9443 open from the control plane?"
        )
        yield fail("webhook", text, hint)


def _was_heard(answer: Response) -> bool:
    # Names of headers have no case in HTTP, and proxies write them as they like.
    warnings = (text for name, text in answer.headers.items() if name.lower() == "warning")
    return any(UNKNOWN_POOL in text for text in warnings)
