"""The extender and a real kube-scheduler: nothing is tried more often, and nothing waits for us.

A second scheduler asks the extender, a third one doesn't; both have the same pods in the same
cluster at the same time. What they did is read from their own metrics.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.extender_live import TAINT, Extender, replicas
from growth.cli.scheduler_configuration import Reach
from growth.kube.transport import connect
from tests.extender.live import alone, asking, bound, extending, nodes
from tests.extender.rubbish import ANSWERS, talking_rubbish
from tests.live import wait_until
from tests.service.authority import Authority

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kwok.schedulers import Scheduler
    from tests.live import LiveCluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]

LONG = 240.0
"""Seconds for what others on this machine may make slow."""


@pytest.fixture(scope="module")
def extender(cluster: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Extender]:
    with extending(cluster, tmp_path_factory.mktemp("extender") / "log") as extender:
        yield extender


@pytest.fixture(scope="module")
def scheduler(cluster: LiveCluster, extender: Extender) -> Iterator[Scheduler]:
    with asking(cluster, Reach(url=f"http://{extender.verbs}")) as scheduler:
        yield scheduler


@pytest.fixture(scope="module")
def other(cluster: LiveCluster) -> Iterator[Scheduler]:
    with alone(cluster) as scheduler:
        yield scheduler


def settled(*schedulers: Scheduler) -> list[int]:
    """How often each has tried, once none tries any more."""
    seen: list[list[int]] = []

    def is_still() -> bool:
        seen.append([each.attempts() for each in schedulers])
        return len(seen) > 6 and seen[-1] == seen[-7]

    wait_until(is_still, "schedulers that rest", within=LONG)
    return seen[-1]


async def churn(cluster: LiveCluster, namespace: str, *, pods: int, times: int) -> None:
    """Status changes of running pods that nobody waits for."""
    names = [f"busy-{number}" for number in range(pods)]
    async with await connect(kubeconfig=cluster.kubeconfig, process="test") as connection:
        for turn in range(times // pods):
            await asyncio.gather(
                *(
                    connection.request(
                        "PATCH",
                        f"/api/v1/namespaces/{namespace}/pods/{name}/status",
                        body={"status": {"message": f"turn {turn}"}},
                        content_type="application/merge-patch+json",
                        timeout=60,
                    )
                    for name in names
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


@pytest.mark.parametrize(
    "count", [150, pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(900)])]
)
def test_pods_that_fit_nowhere_are_demand_once_and_are_tried_no_more_often_with_us(
    cluster: LiveCluster,
    namespace: str,
    extender: Extender,
    scheduler: Scheduler,
    other: Scheduler,
    count: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with nodes(cluster, f"full-{count}", count=3) as names:
        cluster.create(*(busy_pod(n, names[n % 3]) for n in range(20)), namespace=namespace)
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
        asyncio.run(churn(cluster, namespace, pods=20, times=200))
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
            f" = {asked / not_asked:.3f}; during 200 changes {during[0]} / {during[1]}] "
        )
    assert not_asked >= count
    assert asked / not_asked <= 1.05
    assert detours(extender) == 0


def test_the_extender_may_die_hang_talk_rubbish_and_come_back_in_mid_burst(
    cluster: LiveCluster, namespace: str, extender: Extender, scheduler: Scheduler
) -> None:
    def create(app: str, count: int, cpu: str = "1m") -> None:
        pods = replicas(app, count=count, scheduler=scheduler.name, cpu=cpu, group="roomy")
        cluster.create(pods, namespace=namespace)

    with nodes(cluster, "roomy", count=4):
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
            are_bound(cluster, namespace, "hung", 4)
        finally:
            extender.send(signal.SIGCONT)

        # replaced by something that answers rubbish
        extender.kill()
        tried = scheduler.attempts()
        with talking_rubbish(extender.verbs) as rubbish:
            for number, answer in enumerate(ANSWERS.values()):
                rubbish.answer = answer
                create(f"rubbish-{number}", 3)
                are_bound(cluster, namespace, f"rubbish-{number}", 3)
            assert rubbish.asked >= 3 * len(ANSWERS)
        # no pod was tried twice for it; the others are woken by nodes and pods as ever
        assert scheduler.attempts() - tried <= 3 * len(ANSWERS) + 20
        extender.start()

    # and nothing of it has lost a pod, or made demand of one that has a node
    wait_until(lambda: extender.demanded(namespace) == 20, "all demand", within=LONG)
    assert {each["name"].rpartition("-")[0] for each in extender.entries(namespace)} == {"large"}


def test_the_scheduler_asks_over_tls_too_and_pods_go_to_the_fullest_node(
    cluster: LiveCluster, namespace: str, tmp_path: Path
) -> None:
    authority = Authority()
    authority.leaf().write_to(tmp_path / "tls")
    words = ("--verbs-tls-folder", str(tmp_path / "tls"))
    with extending(cluster, tmp_path / "log", *words) as extender:
        reach = Reach(url=f"https://{extender.verbs}", authority=authority.certificate)
        warmed = extender.figure("growth_extender_verb_seconds_count")
        with asking(cluster, reach, name="secure") as scheduler, nodes(cluster, "steered", count=3):
            # One after the other: two at once don't see each other in any cache yet.
            for number in range(4):
                app = f"single-{number}"
                one = replicas(app, count=1, scheduler=scheduler.name, cpu="1m", group="steered")
                cluster.create(one, namespace=namespace)
                are_bound(cluster, namespace, app, 1)
            pods = cluster.get("pods", "--namespace", namespace)["items"]
        asked = extender.figure("growth_extender_verb_seconds_count") - warmed
        assert detours(extender) == 0

    # One filter and one prioritize for each pod at least; and by itself the scheduler spreads.
    assert asked >= 2 * len(pods)
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 1
