"""`growth doctor --prove`: a machine is bought for a pod and given back, step by step."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from growth.api.nodepool import PaidHour
from growth.cli.__main__ import main
from growth.cli.doctor.proof.pod import pod_for
from growth.cli.doctor.proof.proving import ProofRun, StepDone, Unproved
from growth.cli.doctor.proof.sight import ProofSight
from growth.cli.doctor.proof.steps import steps_for
from growth.errors import RetryLater
from growth.scheduling.node import NodeStatus
from growth.scheduling.objects import decode_pod
from tests.children import child
from tests.cli.seen import moment, node, pod, pool, removal, request, waiting
from tests.live import wait_until
from tests.thread.growing import EXAMPLE, cluster_for, machines, pool_of, reconciling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster

WAITS, BOUND = waiting("proof"), pod("proof")
MARKED = node(annotations={"growth.dev/scale-down-at": moment(ago=-40)})
UNREADY = msgspec.structs.replace(node(), status=NodeStatus())
ASKED = request("default-1", "Pending", pods=(WAITS,))
ACCEPTED = request("default-1", "Provisioning", pods=(WAITS,))
READY = request("default-1", "Ready", pods=(WAITS,))
WAY = (
    ProofSight(pod=pod("proof", on="", status={"phase": "Pending"})),
    ProofSight(pod=WAITS),
    ProofSight(pod=WAITS, request=ASKED),
    ProofSight(pod=WAITS, request=ACCEPTED),
    ProofSight(pod=WAITS, request=ACCEPTED, node=UNREADY),
    ProofSight(pod=WAITS, request=READY, node=node()),
    ProofSight(pod=BOUND, request=READY, node=node()),
    ProofSight(request=READY, node=node()),
    ProofSight(request=READY, node=MARKED),
    ProofSight(request=READY, node=MARKED, removal=removal("default-1")),
    ProofSight(request=READY, removal=removal("default-1", "Deprovisioning")),
    ProofSight(request=READY),
)
"""One look after the other; nothing more happens after the last."""
STEPS = steps_for(pool(), PaidHour.IGNORE)
TOLD = [
    ("scheduler", "finds no node for the pod"),
    ("request", "cx33 in nbg1 at 0.0136 per hour"),
    ("machine", "accepted by the provider"),
    ("node", "is Ready"),
    ("pod", "is bound"),
    ("pod", "is deleted"),
    ("node", "is marked as idle"),
    ("machine", "is gone"),
]


class World:
    """Where every second shows the next look."""

    def __init__(self, *looks: ProofSight | None) -> None:
        self.looks = looks
        self.now = 0.0
        self.deleted_at = -1.0
        self.asked_for: list[str] = []

    async def look(self, machine: str) -> ProofSight:
        self.asked_for.append(machine)
        sight = self.looks[min(int(self.now), len(self.looks) - 1)]
        if sight is None:
            raise RetryLater("no answer")
        return sight

    async def delete(self) -> None:
        self.deleted_at = self.now

    async def pause(self, _: float) -> None:
        self.now += 1

    def proof(self) -> ProofRun:
        return ProofRun(
            pod="shop/proof",
            look=self.look,
            delete=self.delete,
            clock=lambda: self.now,
            pause=self.pause,
            tell=lambda _: None,
        )

    def prove(self) -> list[StepDone]:
        async def all_of_it() -> list[StepDone]:
            return [each async for each in self.proof().run(STEPS)]

        return asyncio.run(all_of_it())

    def refuse(self) -> Unproved:
        with pytest.raises(Unproved) as raised:
            self.prove()
        return raised.value


def test_each_step_is_told_in_its_order_with_its_seconds() -> None:
    done = World(*WAY).prove()
    assert [(each.step, each.text) for each in done] == TOLD
    assert [each.seconds for each in done] == [1, 1, 1, 2, 1, 1, 1, 3]


def test_the_pod_is_deleted_when_it_was_bound_and_not_before() -> None:
    world = World(*WAY)
    world.prove()
    assert world.looks[int(world.deleted_at)] == WAY[6]


def test_a_look_that_is_not_answered_ends_nothing() -> None:
    assert len(World(*WAY[:3], None, None, *WAY[3:]).prove()) == len(STEPS)


STUCK: dict[str, tuple[tuple[ProofSight, ...], str, str]] = {
    "no scheduler": (
        WAY[:1],
        "scheduler",
        "does kube-scheduler run? growth explain pod shop/proof",
    ),
    "no request": (WAY[:2], "request", "growth explain pod shop/proof"),
    "not accepted": (WAY[:3], "machine", "growth explain node default-1"),
    "never Ready": (WAY[:5], "node", "growth explain node default-1; the machine's own log"),
    "never bound": (WAY[:6], "pod", "growth explain pod shop/proof"),
    "never deleted": (WAY[:7], "pod", "kubectl get pod shop/proof"),
    "never marked": (WAY[:8], "node", "growth explain node default-1"),
    "never gone": (WAY[:9], "machine", "growth explain node default-1"),
}


@pytest.mark.parametrize(("looks", "step", "hint"), STUCK.values(), ids=STUCK.keys())
def test_a_step_that_does_not_happen_ends_in_time_and_says_where_to_look(
    looks: tuple[ProofSight, ...], step: str, hint: str
) -> None:
    failed = World(*looks).refuse()
    assert failed.step == step
    assert failed.text.startswith("waited ")
    assert failed.hint.startswith(hint)


def test_a_pod_without_a_place_is_told_with_the_plans_reason_at_once() -> None:
    reference = {"namespace": "shop", "name": "proof", "uid": WAITS.metadata.uid}
    left = pool(status={"unplaced": [{"pod": reference, "reason": "limits.cpu is used up"}]})
    world = World(WAY[0], ProofSight(pod=WAITS, pool=left))
    assert world.refuse().text == "limits.cpu is used up"
    assert world.now == 1


def test_a_pod_that_finds_room_on_a_machine_of_others_proves_nothing() -> None:
    world = World(*WAY[:2], ProofSight(pod=pod("proof", on="default-9")))
    assert "bound to default-9, which was bought for others" in world.refuse().text


def test_a_machine_that_the_provider_has_not_is_followed_by_another() -> None:
    refused = ProofSight(pod=WAITS, request=request("default-0", "Unmet", pods=(WAITS,)))
    world = World(*WAY[:2], refused, *WAY[2:])
    assert [each.text for each in world.prove()][1:3] == [TOLD[1][1], TOLD[2][1]]
    assert world.asked_for[-1] == "default-1"


def test_a_node_that_is_kept_says_why() -> None:
    kept = [{"node": "default-1", "reason": "PoolMinimum", "owner": "NodePool default"}]
    stays = ProofSight(request=READY, node=node(), pool=pool(status={"kept": kept}))
    assert World(*WAY[:7], stays).refuse().text.endswith("the node is kept: PoolMinimum")


def test_an_hour_that_is_paid_for_is_waited_for() -> None:
    (ignored, used) = (
        next(each.seconds for each in steps_for(pool(), paid) if "idle" in each.awaited)
        for paid in (PaidHour.IGNORE, PaidHour.USE)
    )
    assert used - ignored == 3600


def test_the_pod_fits_no_node_that_is_there_and_strict_namespaces_let_it_in() -> None:
    nodes = {"default-2", "default-1"}
    made = pod_for("default", name="p", namespace="shop", nodes=nodes, seconds=60)
    spec = made["spec"]
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (rule,) = terms["nodeSelectorTerms"][0]["matchExpressions"]
    assert rule == {
        "key": "kubernetes.io/hostname",
        "operator": "NotIn",
        "values": ["default-1", "default-2"],
    }
    assert spec["securityContext"]["runAsNonRoot"]
    assert decode_pod(msgspec.json.encode(made)).requests["cpu"] > 0


# The command


@pytest.fixture(scope="module")
def growing() -> Iterator[LiveCluster]:
    """A cluster of its own: what growth buys would serve the pods of other tests too."""
    with cluster_for("proof") as cluster:
        cluster.kubectl("apply", "-f", str(EXAMPLE))
        quick = pool_of("cx23") | {"metadata": {"name": "quick"}}
        quick["spec"] = {**quick["spec"], "scaleDown": {"idleAfter": "1s", "retryAfter": "1s"}}
        cluster.create(quick)
        yield cluster


def command(cluster: LiveCluster, *words: str) -> list[str]:
    own = ["--kubeconfig", str(cluster.kubeconfig), "--pool", "quick"]
    return ["doctor", "--prove", *own, *words]


def proofs(cluster: LiveCluster) -> list[str]:
    pods = cluster.get("pods", "--namespace", "default")["items"]
    return [name for each in pods if (name := each["metadata"]["name"]).startswith("growth-proof")]


@pytest.mark.cluster
def test_on_a_real_cluster_a_machine_comes_for_a_pod_and_goes_without_it(
    growing: LiveCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with reconciling(growing, tmp_path / "log", GROWTH_BIND_WAIT="8s"):
        wait_until(lambda: leads(growing), "a reconciler leads")
        code = main(command(growing, "--yes", "-o", "json"))
        printed = capsys.readouterr()
        told = json.loads(printed.out)
        assert (code, told["failure"]) == (0, "")
        assert [each["step"] for each in told["steps"]] == [step for step, _ in TOLD]
        assert told["proved"] is True
        assert re.search(r"pool quick buys a cx23 in \w+ at [0-9.]+ per hour", printed.err)
        assert told["machine"] not in machines(growing)
    assert proofs(growing) == []


@pytest.mark.cluster
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_takes_the_pod_away_and_says_what_may_be_left(
    growing: LiveCluster, number: int, code: int
) -> None:
    # The holder of the Lease does nothing: the pod waits for a request that never comes.
    lead_and_rest(growing)
    words = [sys.executable, "-m", "growth.cli", *command(growing, "--yes")]
    pipe = subprocess.PIPE
    with child(subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True)) as run:
        wait_until(lambda: proofs(growing), "the pod is there")
        run.send_signal(number)
        assert run.stderr is not None
        said = run.stderr.read()
        assert run.wait(timeout=100) == code
    assert said.strip() == "the pod is deleted; no machine was requested for it"
    assert proofs(growing) == []


@pytest.mark.cluster
def test_without_a_leader_nothing_is_tried(
    growing: LiveCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    patch_lease(growing, None)
    assert main(command(growing, "--yes")) == 1
    assert "no reconciler leads" in capsys.readouterr().err
    assert proofs(growing) == []


@pytest.mark.cluster
def test_a_machine_is_bought_only_when_somebody_has_agreed(
    growing: LiveCluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lead_and_rest(growing)
    assert main(command(growing)) == 2
    assert "add --yes" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", Answers("n\n"))
    assert main(command(growing)) == 1
    assert proofs(growing) == []


class Answers:
    """A person at a terminal."""

    def __init__(self, line: str) -> None:
        self._line = line

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._line


def leads(cluster: LiveCluster) -> bool:
    lease = cluster.get("lease", "growth-reconciler", "--namespace", "kube-system")
    return bool(lease["spec"].get("holderIdentity"))


def lead_and_rest(cluster: LiveCluster) -> None:
    """A Lease that is held for as long as a test may take."""
    patch_lease(cluster, "somebody")


def patch_lease(cluster: LiveCluster, holder: str | None) -> None:
    spec = {
        "holderIdentity": holder,
        "renewTime": holder and "2026-01-01T00:00:00.000000Z",
        "leaseDurationSeconds": holder and 10**9,
    }
    patch = json.dumps({"spec": spec})
    own = ("--namespace", "kube-system", "--type", "merge", "--patch", patch)
    cluster.kubectl("patch", "lease", "growth-reconciler", *own)
