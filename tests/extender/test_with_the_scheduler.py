"""The extender and a real kube-scheduler: nothing is tried more often, and nothing waits for us.

A second scheduler asks the extender, a third one doesn't; both have the same pods in the same
cluster at the same time. What they did is read from their own metrics.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from benchmarks.extender_live import TAINT, Extender, replicas
from growth.api.wellknown import GROUP_VERSION, UNREGISTERED_TAINT
from growth.cli.__main__ import main
from growth.cli.scheduler_config.configuration import Reach
from growth.kube.transport import connect
from kwok.schedulers import scheduling
from tests.extender.live import alone, asking, bound, extending, nodes
from tests.extender.rubbish import ANSWERS, talking_rubbish
from tests.live import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from kwok.schedulers import RunningScheduler
    from tests.live import LiveCluster

    Create = Callable[..., None]

pytestmark = pytest.mark.cluster

LONG = 240.0
"""Seconds for what others on this machine may make slow."""
WAITS = "growth_extender_waits_total"
UNRELATED = 200
"""Running pods that change while others wait."""


@pytest.fixture(scope="module")
def extender(cluster: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Extender]:
    with extending(cluster, tmp_path_factory.mktemp("extender") / "log") as extender:
        yield extender


@pytest.fixture(scope="module")
def scheduler(cluster: LiveCluster, extender: Extender) -> Iterator[RunningScheduler]:
    with asking(cluster, Reach(url=f"http://{extender.verbs}")) as scheduler:
        yield scheduler


@pytest.fixture(scope="module")
def other(cluster: LiveCluster) -> Iterator[RunningScheduler]:
    with alone(cluster) as scheduler:
        yield scheduler


def settled(*schedulers: RunningScheduler) -> list[int]:
    """How often each has tried, once none tries any more."""
    seen: list[list[int]] = []

    def is_still() -> bool:
        seen.append([each.attempts() for each in schedulers])
        return len(seen) > 6 and seen[-1] == seen[-7]

    wait_until(is_still, "schedulers that rest", within=LONG)
    return seen[-1]


async def churn(cluster: LiveCluster, namespace: str, *, pods: int) -> None:
    """A change of status of each of these running pods, which nobody waits for."""
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        await asyncio.gather(
            *(
                connection.request(
                    "PATCH",
                    f"/api/v1/namespaces/{namespace}/pods/busy-{number}/status",
                    body={"status": {"message": "changed"}},
                    content_type="application/merge-patch+json",
                    timeout=60,
                )
                for number in range(pods)
            )
        )


def are_bound(cluster: LiveCluster, namespace: str, app: str, count: int) -> None:
    """Waits until so many pods of an application have their node."""
    goal = f"{count} bound pods of {app}"
    wait_until(lambda: bound(cluster, namespace, app=app) == count, goal, within=LONG)


def detours(extender: Extender) -> float:
    """Questions that did not come in by the door that is made for the scheduler's."""
    return extender.figure("growth_extender_detours_total")


def busy_pod(number: int, node: str) -> dict[str, Any]:
    container = {"name": "main", "image": "none"}
    spec = {
        "nodeName": node,
        "containers": [container],
        "tolerations": [{"key": TAINT, "operator": "Exists"}],
    }
    metadata = {"name": f"busy-{number}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=[pytest.mark.long])])
def test_pods_that_fit_nowhere_are_demand_once_and_are_tried_no_more_often_with_us(
    cluster: LiveCluster,
    namespace: str,
    extender: Extender,
    scheduler: RunningScheduler,
    other: RunningScheduler,
    count: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with nodes(cluster, f"full-{count}", count=3) as names:
        busy = (busy_pod(number, names[number % 3]) for number in range(UNRELATED))
        cluster.create(*busy, namespace=namespace)
        position = extender.position()
        before = settled(scheduler, other)

        # given pods for which each node is too small
        cluster.create(
            replicas("asking", count=count, scheduler=scheduler.name, cpu="1k"),
            replicas("alone", count=count, scheduler=other.name, cpu="1k"),
            namespace=namespace,
        )
        wait_until(lambda: extender.demanded(namespace) == 2 * count, "all demand", within=LONG)
        first = settled(scheduler, other)
        # when running pods change
        asyncio.run(churn(cluster, namespace, pods=UNRELATED))
        last = settled(scheduler, other)

    # then each pod was added to the demand once, and never left it
    kinds = Counter(extender.changes(position, namespace))
    assert kinds["ADDED"] == 2 * count
    assert kinds["DELETED"] == 0
    asked, not_asked = (each - start for each, start in zip(last, before, strict=True))
    with capsys.disabled():
        during = [late - early for late, early in zip(last, first, strict=True)]
        sys.stdout.write(
            f" [{count} pods: attempts {asked} with / {not_asked} without"
            f" = {asked / not_asked:.3f}; during {UNRELATED} changes {during[0]} / {during[1]}] "
        )
    assert not_asked >= count
    assert asked / not_asked <= 1.05
    assert detours(extender) == 0


@contextmanager
def creating(
    cluster: LiveCluster, namespace: str, scheduler: RunningScheduler, *, group: str
) -> Iterator[Create]:
    """Makes pods for a scheduler, and nodes with room for all but those that ask for much."""

    def create(app: str, count: int, cpu: str = "1m") -> None:
        pods = replicas(app, count=count, scheduler=scheduler.name, cpu=cpu, group=group)
        cluster.create(pods, namespace=namespace)

    with nodes(cluster, group, count=4):
        yield create


def test_the_extender_may_die_hang_and_come_back_in_mid_burst(
    cluster: LiveCluster, namespace: str, extender: Extender, scheduler: RunningScheduler
) -> None:
    with creating(cluster, namespace, scheduler, group="roomy") as create:
        # killed in mid-burst, and started again while pods are still coming
        create("killed", 60)
        wait_until(lambda: bound(cluster, namespace, app="killed") > 5, "a burst", within=LONG)
        extender.kill()
        create("large", 20, cpu="1k")
        are_bound(cluster, namespace, "killed", 60)
        create("returned", 30)
        extender.start()
        are_bound(cluster, namespace, "returned", 30)

        # hung: each question costs its timeout, and the pod is bound all the same
        extender.send(signal.SIGSTOP)
        try:
            create("hung", 4)
            create("larger", 5, cpu="1k")
            are_bound(cluster, namespace, "hung", 4)
        finally:
            extender.send(signal.SIGCONT)

        # and nothing of it has lost a pod, or made demand of one that has a node
        wait_until(lambda: extender.demanded(namespace) == 25, "all demand", within=LONG)
        entries = extender.entries(namespace)
    apps = Counter(each["name"].rpartition("-")[0] for each in entries)
    assert apps == {"large": 20, "larger": 5}


@contextmanager
def bought(cluster: LiveCluster, nodes: list[str]) -> Iterator[None]:
    """The requests by which these nodes were bought, all of one plan."""
    spec = {
        "pool": "default",
        "targetOffering": "kwok-cx33",
        "serverType": "cx33",
        "location": "nbg1",
        "price": "0.01",
    }
    names = [f"default-{uuid4()}" for _ in nodes]
    kind = {"apiVersion": GROUP_VERSION, "kind": "NodeRequest", "spec": spec}
    try:
        cluster.create(*(kind | {"metadata": {"name": name}} for name in names))
        for name, node in zip(names, nodes, strict=True):
            status = f'{{"status":{{"phase":"Provisioning","nodeName":"{node}"}}}}'
            words = ("--subresource=status", "--type=merge", "--patch", status)
            cluster.kubectl("patch", "noderequest", name, *words)
        yield
    finally:
        cluster.kubectl("delete", "noderequests", *names)


def test_the_scheduler_waits_a_moment_while_the_machines_of_a_plan_open(
    cluster: LiveCluster, namespace: str, extender: Extender, scheduler: RunningScheduler
) -> None:
    first, *others = names = [f"opening-{number}" for number in range(4)]
    with (
        creating(cluster, namespace, scheduler, group="opening") as create,
        bought(cluster, names),
    ):
        cluster.kubectl("taint", "nodes", *names, f"{UNREGISTERED_TAINT}=:NoSchedule")
        create("planned", 8, cpu="1")
        wait_until(lambda: extender.demanded(namespace) == 8, "all demand", within=LONG)
        before = extender.figure(WAITS)
        cluster.kubectl("taint", "nodes", first, f"{UNREGISTERED_TAINT}-")
        wait_until(lambda: extender.figure(WAITS) > before, "a question waits", within=LONG)
        cluster.kubectl("taint", "nodes", *others, f"{UNREGISTERED_TAINT}-")
        are_bound(cluster, namespace, "planned", 8)

    # and others of the plan come later than that without a second wait
    assert extender.figure(WAITS) == before + 1
    assert detours(extender) == 0


def test_whoever_answers_rubbish_or_late_in_its_place_costs_no_pod_its_node(
    cluster: LiveCluster, namespace: str, extender: Extender, scheduler: RunningScheduler
) -> None:
    with creating(cluster, namespace, scheduler, group="misled") as create:
        create("large", 5, cpu="1k")
        wait_until(lambda: extender.demanded(namespace) == 5, "demand", within=LONG)
        extender.kill()
        with talking_rubbish(extender.verbs) as rubbish:
            for number, rubbish.answer in enumerate(ANSWERS.values()):
                create(f"rubbish-{number}", 3)
                are_bound(cluster, namespace, f"rubbish-{number}", 3)
        extender.start()
        wait_until(lambda: extender.demanded(namespace) == 5, "all demand", within=LONG)

    # and none was tried twice for it: one filter and one prioritize for each
    pods = 3 * len(ANSWERS)
    assert pods <= rubbish.asked <= 2 * pods


@pytest.fixture
def growth(
    cluster: LiveCluster, namespace: str, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """The command line, for what it keeps in a namespace of the cluster."""

    def run(*words: str) -> str:
        where = ("--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace)
        assert main([*words, *(where if words[0] == "certs" else ())]) == 0
        return capsys.readouterr().out

    return run


def test_the_scheduler_asks_over_tls_too_and_pods_go_to_the_fullest_node(
    cluster: LiveCluster, namespace: str, growth: Callable[..., str], tmp_path: Path
) -> None:
    # given the certificates that growth makes, as the guide has them brought to both sides
    growth("certs", "run-once")
    growth("certs", "export", "growth-extender-verbs-tls", "--folder", str(tmp_path / "tls"))
    authority = tmp_path / "ca.crt"
    authority.write_text(growth("certs", "export", "growth-scheduler-ca"))
    words = ("--verbs-tls-folder", str(tmp_path / "tls"))
    with extending(cluster, tmp_path / "log", *words) as extender:
        reach = ("--url", f"https://{extender.verbs}", "--ca-file", str(authority))
        called = ("--server-name", f"growth-extender.{namespace}.svc")
        file = growth("scheduler-config", "--for", "kwok", *reach, *called)
        warmed = extender.figure("growth_extender_verb_seconds_count")
        name = f"secure-{os.getpid()}"
        with (
            scheduling(cluster.kubeconfig, name=name, configuration=file) as scheduler,
            nodes(cluster, "steered", count=3),
        ):
            # One after the other: two at once don't see each other in any cache yet.
            for number in range(4):
                app = f"single-{number}"
                one = replicas(app, count=1, scheduler=scheduler.name, cpu="1m", group="steered")
                cluster.create(one, namespace=namespace)
                are_bound(cluster, namespace, app, 1)
            pods = cluster.get("pods", "--namespace", namespace)["items"]
        # One filter and one prioritize for each pod at least; the front tells of them a bit later.
        asked = warmed + 2 * len(pods)
        wait_until(
            lambda: extender.figure("growth_extender_verb_seconds_count") >= asked,
            "the figures of the calls",
            within=LONG,
        )
        assert detours(extender) == 0

    # By itself the scheduler spreads.
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 1
