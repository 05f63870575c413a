"""Do growth's processes run, and does exactly one reconciler lead?

If nothing is installed: may this user install it? A reconciler outside the cluster (`growth run`)
has no Deployment, but it has a Lease.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from growth.api import installed
from growth.api.installed import CERTS, RECONCILER, RECONCILER_LEASE, WEBHOOKS, WORKLOADS
from growth.cli.cluster.stopped import ASIDE_REMEDY, LEASES, REMEDY, put_aside_by, stopped_by
from growth.cli.doctor.examination.finding import PATIENCE, fail, ok, warn
from growth.installation.awaiting import complaint, is_over, shortage

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Findings

APPS: Final = "/apis/apps/v1/namespaces"
WEBHOOK: Final = f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{WEBHOOKS}"
REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
EXTERNAL: Final = {"name": "GROWTH_CERTIFICATES", "value": "external"}
"""The reconciler's setting for an installation with growth-certs."""
NEEDED: Final = (
    ("", "namespaces"),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
)


async def is_installed(place: ExaminedCluster) -> bool:
    """Whether growth is installed in this namespace."""
    return await installed_workload(place, RECONCILER) is not None


async def examine_processes(place: ExaminedCluster) -> Findings:
    """Examine each workload, and the leader."""
    if await is_installed(place):
        async for finding in _workloads(place):
            yield finding
    else:
        async for finding in _before(place):
            yield finding
    async for finding in _leader(place):
        yield finding


async def installed_workload(place: ExaminedCluster, name: str) -> dict[str, Any] | None:
    """The Deployment or DaemonSet of a process; None if there is none."""
    return await place.found(f"{APPS}/{place.namespace}/{WORKLOADS[name]}/{name}")


async def _workloads(place: ExaminedCluster) -> Findings:
    well = []
    for name in WORKLOADS:
        workload = await installed_workload(place, name)
        if workload is None:
            if await _is_missed(place, name):
                yield fail("processes", f"{name} is missing", "run growth install to restore it")
        elif short := shortage(workload):
            why = await complaint(place.connection, workload)
            log = f"kubectl -n {place.namespace} describe pods -l {_selector(workload)}"
            yield fail("processes", f"{name}: {short}{why}", log)
        elif _wanted(workload) == 0:
            text = f"{name}: scaled to 0 replicas, so it doesn't run"
            yield fail("processes", text, _more(name))
        else:
            well.append(name.removeprefix("growth-"))
    if well:
        yield ok("processes", f"{', '.join(well)}: all are ready")


async def _is_missed(place: ExaminedCluster, name: str) -> bool:
    """Whether it should exist.

    A policy admits pods without a process, and the reconciler may keep the certificates.
    """
    match name:
        case installed.WEBHOOKS:
            return await place.found(WEBHOOK) is not None
        case installed.CERTS:
            return await _leaves_certificates_to_others(place)
        case installed.SCHEDULER:
            return False
        case _:
            return True


async def _leaves_certificates_to_others(place: ExaminedCluster) -> bool:
    reconciler = await installed_workload(place, RECONCILER)
    containers = reconciler["spec"]["template"]["spec"]["containers"] if reconciler else ()
    return any(EXTERNAL in each.get("env", ()) for each in containers)


def _selector(workload: dict[str, Any]) -> str:
    labels = workload["spec"]["selector"]["matchLabels"]
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _wanted(workload: dict[str, Any]) -> int:
    if workload["kind"] == "DaemonSet":
        return int(workload["status"].get("desiredNumberScheduled", 0))
    return int(workload["spec"]["replicas"])


def _more(name: str) -> str:
    if WORKLOADS[name] == "daemonsets":
        return (
            "no node has the label node-role.kubernetes.io/control-plane: for a managed control "
            "plane, use growth install with scheduler: Second"
        )
    replicas = 1 if name == CERTS else 2
    return f"kubectl scale deployment {name} --replicas={replicas}, or growth install"


async def _before(place: ExaminedCluster) -> Findings:
    hint = "run growth install --for hetzner (or kwok), or use -n for another namespace"
    yield warn("processes", f"growth isn't installed in namespace {place.namespace}", hint)
    lacking = [
        resource for group, resource in NEEDED if not await _may_create(place, resource, group)
    ]
    if lacking:
        text = f"you can't create {', '.join(lacking)}, which growth install needs"
        yield fail("your rights", text, "run growth install as cluster-admin")
    else:
        yield ok("your rights", "enough to install growth")


async def _may_create(place: ExaminedCluster, resource: str, group: str) -> bool:
    attributes = {"verb": "create", "group": group, "resource": resource}
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await place.connection.request("POST", REVIEWS, body=body, timeout=PATIENCE)
    return bool(answer.json()["status"]["allowed"])


async def _leader(place: ExaminedCluster) -> Findings:
    """Leases of all namespaces count, because two leaders anywhere in the cluster buy twice."""
    answer = await place.answer(LEASES, {"fieldSelector": f"metadata.name={RECONCILER_LEASE}"})
    if answer is None:
        return
    held = [each for each in answer.json()["items"] if each["spec"].get("holderIdentity")]
    alive = [each for each in held if not is_over(each["spec"], answer.date)]
    who = ", ".join(f"{_spoken(each)}" for each in alive)
    if len(alive) > 1:
        hint = "keep one; remove the other with growth uninstall --machines keep -n NAMESPACE"
        yield fail("leader", f"{len(alive)} reconcilers lead: {who}", hint)
    elif alive:
        stopped = stopped_by(alive[0], answer.date)
        remedy = REMEDY.format(namespace=alive[0]["metadata"]["namespace"])
        text = f"{who} has stopped writing: {stopped}"
        yield fail("leader", text, remedy) if stopped else ok("leader", who)
        if aside := put_aside_by(alive[0], answer.date):
            yield warn("put aside", f"growth can't decide about {aside}", ASIDE_REMEDY)
    elif held:
        hint = f"kubectl -n {held[0]['metadata']['namespace']} logs deployment/{RECONCILER}"
        yield fail(
            "leader", f"no reconciler leads: {_spoken(held[0])} no longer renews its Lease", hint
        )
    elif await is_installed(place):
        hint = f"kubectl -n {place.namespace} logs deployment/{RECONCILER}"
        yield fail("leader", "no reconciler has ever led", hint)


def _spoken(lease: dict[str, Any]) -> str:
    return f"{lease['spec']['holderIdentity']} in {lease['metadata']['namespace']}"
