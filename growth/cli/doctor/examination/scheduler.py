"""Does kube-scheduler call the extender?

The scheduler's configuration can't be read from outside. But the extender counts the calls that it
receives, its metrics can be read through the API server, and the pods show how many were bound
meanwhile. If pods were bound without a call, the scheduler doesn't use the extender. Where the
scheduler's command line is visible (a static pod of kubeadm, an annotation of k3s), it shows
whether there is a configuration at all.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from growth.api.installed import NAME_LABEL, SCHEDULER
from growth.cli.doctor.examination.finding import PATIENCE, fail, ok, warn
from growth.cli.terminal.texts import short_span
from growth.clocks import wall_clock
from growth.foreign_text import time_or_none
from growth.kube.errors import ApiError
from growth.service.metrics_access import FOR_EVERYONE

if TYPE_CHECKING:
    from growth.cli.doctor.examination.finding import ExaminedCluster, Finding, Findings

STREAMING: Final = {"labelSelector": f"{NAME_LABEL}=growth,growth.dev/streams=demand"}
STATIC: Final = {"labelSelector": "component=kube-scheduler"}
OWN: Final = {"default-scheduler", SCHEDULER}
K3S: Final = "k3s.io/node-args"
BOUND: Final = {"fieldSelector": "spec.nodeName!="}


class ExtenderCalls(NamedTuple):
    """The calls that an extender has counted."""

    questions: int
    refused: int
    since: datetime


async def examine_scheduler(place: ExaminedCluster) -> Findings:
    """Compare the calls that the extenders received with the pods that were bound."""
    pods = await place.listed(f"/api/v1/namespaces/{place.namespace}/pods", STREAMING)
    if not pods:
        return
    told, silent = [], []
    for pod in pods:
        try:
            told.append(await _metrics(place, pod))
        except ApiError as error:
            silent.append(f"{pod['metadata']['name']}: {error.message or error}")
    if not told:
        text = f"its metrics can't be read through the API server ({silent[0]})"
        hint = (
            "check on its node whether kube-scheduler calls it: curl 127.0.0.1:10281/metrics | "
            "grep growth_extender_verb_seconds_count"
        )
        yield warn("extender", text, hint)
        return
    yield await _judged(place, told)


async def _judged(place: ExaminedCluster, told: list[ExtenderCalls]) -> Finding:
    questions, since = sum(each.questions for each in told), min(each.since for each in told)
    span = short_span(int((wall_clock() - since).total_seconds()))
    if refused := sum(each.refused for each in told):
        text = f"{refused} calls couldn't be read: another program uses its port"
        return warn("extender", text, "docs/runbooks/GrowthExtenderMisunderstood.md")
    if questions:
        return ok("extender", f"kube-scheduler has made {questions} calls in {span}")
    bound = await _bound_since(place, since)
    if bound:
        text = f"kube-scheduler has made no call in {span}, though {bound} pods were bound"
        return fail("extender", text, await _why(place))
    text = (
        f"no call in {span}, but no pod was bound either: not known yet whether kube-scheduler "
        f"calls it"
    )
    return warn("extender", text, await _why(place))


async def _metrics(place: ExaminedCluster, pod: dict[str, Any]) -> ExtenderCalls:
    name, port = pod["metadata"]["name"], _metrics_port(pod)
    path = f"/api/v1/namespaces/{place.namespace}/pods/http:{name}:{port}/proxy/metrics"
    names = [("name[]", name) for name in sorted(FOR_EVERYONE)]
    answer = await place.connection.request("GET", path, query=names, timeout=PATIENCE)
    samples = {
        (sample.name, sample.labels.get("verb", "")): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }
    return ExtenderCalls(
        questions=int(samples.get(("growth_extender_verb_seconds_count", "filter"), 0)),
        refused=int(samples.get(("growth_extender_refused_total", ""), 0)),
        since=datetime.fromtimestamp(samples["process_start_time_seconds", ""], UTC),
    )


def _metrics_port(pod: dict[str, Any]) -> int:
    ports = (port for each in pod["spec"]["containers"] for port in each.get("ports", ()))
    return next(int(port["containerPort"]) for port in ports if port.get("name") == "metrics")


async def _bound_since(place: ExaminedCluster, since: datetime) -> int:
    """The number of bound pods of the schedulers that should call, among the first few hundred."""
    return sum(_was_bound(pod, since) for pod in await place.some("/api/v1/pods", BOUND))


def _was_bound(pod: dict[str, Any], since: datetime) -> bool:
    owners = pod["metadata"].get("ownerReferences", ())
    if pod["spec"].get("schedulerName") not in OWN or any(o["kind"] == "DaemonSet" for o in owners):
        return False
    return any(
        each["type"] == "PodScheduled"
        and each["status"] == "True"
        and (time_or_none(each.get("lastTransitionTime")) or since) > since
        for each in pod.get("status", {}).get("conditions", ())
    )


async def _why(place: ExaminedCluster) -> str:
    """The hint, as specific as possible."""
    static = await place.listed("/api/v1/namespaces/kube-system/pods", STATIC)
    words = [w for pod in static for each in pod["spec"]["containers"] for w in _words(each)]
    if words and not any(word.startswith("--config") for word in words):
        return "kube-scheduler was started without --config: growth scheduler-config --for kubeadm"
    if words:
        return (
            "the file of its --config lacks growth's extender, or it wasn't restarted since: "
            "growth scheduler-config --for kubeadm"
        )
    nodes = await place.some("/api/v1/nodes")
    k3s = [args for each in nodes if (args := each["metadata"].get("annotations", {}).get(K3S))]
    if k3s and not any("kube-scheduler-arg" in args for args in k3s):
        return "k3s was started without a --kube-scheduler-arg: growth scheduler-config --for k3s"
    return (
        "the scheduler's configuration lacks growth's extender, or it wasn't restarted since: "
        "growth scheduler-config --help"
    )


def _words(container: dict[str, Any]) -> list[str]:
    return [*container.get("command", ()), *container.get("args", ())]
