"""Each process with the token of its own account: its roles are enough, and none is for nothing.

What is asked is noted by a proxy before the real API server. A right that nobody has used must be
named below with its reason, and a right that is named there must be granted: so taking any verb out
of a role, or putting one in, fails here.
"""

from __future__ import annotations

import asyncio
import os
import sys
import urllib.request
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from certs.objects import Objects
from certs.tending import tend
from certs.wanted import WANTED, Policy, without_webhook
from growth.installation.rendering import rendered
from growth.installation.rights import Right, rights_of
from growth.installation.values import (
    Admission,
    InstallationValues,
    ProviderChoice,
    SchedulerChoice,
)
from growth.kube.token_review import TokenVerdict, reviewed
from growth.kube.transport import connect
from kwok.ports import free_port
from tests.live import IN_TIME, ROOT, wait_until
from tests.manifests.beside import mount_certificate
from tests.manifests.commands import grow
from tests.manifests.reading import SYSTEM
from tests.manifests.witness import witness
from tests.thread.growing import EXAMPLE, deployment, pool_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from certs.wanted import WantedAuthority
    from growth.installation.shipped import Object
    from growth.kube.transport import Connection
    from tests.live import LiveCluster
    from tests.manifests.witness import Witness

pytestmark = pytest.mark.cluster

ITEMS: Final = rendered(InstallationValues(provider=ProviderChoice.KWOK))
SECOND: Final = rendered(
    InstallationValues(provider=ProviderChoice.KWOK, scheduler=SchedulerChoice.SECOND)
)
WITHOUT_WEBHOOK: Final = rendered(
    InstallationValues(provider=ProviderChoice.KWOK, admission=Admission.POLICY)
)
CONFIGURATION: Final = (
    ROOT / "manifests" / "overlays" / "second-scheduler" / "scheduler-configuration.yaml"
)
QUICKLY: Final = {"GROWTH_STABLE_INTERVAL": "100ms", "GROWTH_LEASE_DURATION": "3s"}

AS_INSTALLED: Final = {"GROWTH_LEASE_NAMESPACE": SYSTEM, "GROWTH_CERTIFICATES": "external"}

UNUSED: Final[dict[tuple[str, str], str]] = {
    ("tokenreviews", "create"): "metrics are asked for from another machine",
    ("subjectaccessreviews", "create"): "metrics are asked for from another machine",
    ("pods/eviction", "create"): "nodes with pods are drained where something replaces them",
    ("pods", "delete"): "a pool limits how long drains take, and a budget doesn't yield",
    ("pods/status", "patch"): "a pod that nothing else could hold is nominated to its node",
    ("nodes", "delete"): "a machine is given back when it was idle for long enough",
    ("nodes", "get"): "a Node whose making was not answered is looked at",
    ("pods", "get"): "asked when pods were bought for before",
    ("configmaps", "get"): "a class may keep its catalogue there",
    ("nodepools", "patch"): "the finalizer",
    ("kwoknodeclasses", "patch"): "the finalizer",
    ("hetznernodeclasses", "patch"): "the finalizer",
    ("kwoknodeclasses/status", "patch"): "what its check has found",
    ("hetznernodeclasses/status", "patch"): "what its check has found",
    ("nodepools/status", "patch"): "what the pool says of itself",
    ("noderequests", "get"): "one whose making was not answered is looked at",
    ("noderequests", "delete"): "its time to live has run out",
    ("noderecords", "get"): "one whose making was not answered is looked at",
    ("noderecords", "delete"): "its machine is gone",
    ("noderecords/status", "patch"): "what growth does to its node",
    **{("noderemovalrequests", verb): "idle" for verb in ("get", "create", "patch", "delete")},
    ("noderemovalrequests/status", "patch"): "idle",
    ("events", "get"): "one that is there already is continued",
    ("events", "create"): "nothing may have happened that is worth one",
    ("events", "patch"): "one that is there already is continued",
}
"""What no part of the story needs for sure, and what would."""

LOOKED_UP: Final = {
    ("signers", "approve"): "the API server looks it up when an approval is written"
}


MEASURED: Final = Right("", "", "metrics.k8s.io", "nodes", "list", "")


def a_number_of(server_type: str) -> Object:
    """A pool that goes by what its nodes really use."""
    pool = pool_of(server_type)
    desired = {"minNodes": 0, "maxNodes": 1, "desiredNodes": 0}
    return {**pool, "spec": {**pool["spec"], "scaling": {"policy": "Desired", "desired": desired}}}


def token_of(cluster: LiveCluster, account: str) -> str:
    return cluster.kubectl("create", "token", account, "--namespace", SYSTEM).strip()


@asynccontextmanager
async def running(
    process: str, proxy: Witness, folder: Path, *words: str, **settings: str
) -> AsyncIterator[None]:
    """A process, from when it is ready to its orderly end."""
    address = f"127.0.0.1:{free_port()}"
    told = ("--kubeconfig", str(proxy.kubeconfig), "--metrics-address", address, *words)
    with (folder / "log").open("ab") as output:
        started = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", process, *told),
            env={**os.environ, **QUICKLY, **settings},
            stdout=output,
            stderr=output,
        )
    try:
        await until(lambda: answers(f"http://{address}/readyz"), f"{process} is ready")
        yield
    finally:
        started.terminate()
        code = await started.wait()
        assert code == 0, (folder / "log").read_text()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


async def until(done: Any, goal: str) -> None:
    await asyncio.to_thread(wait_until, done, goal)


def check(account: str, proxy: Witness, items: Sequence[Object] = ITEMS) -> None:
    """Nothing was refused, and each right was used or is excused."""
    granted = rights_of(account, items)
    used = {right for right in granted for asked in proxy.asked if right.allows(asked)}
    excused = {right for right in granted if is_excused(right, granted)}

    assert proxy.denied == []
    assert granted - used - excused == set()
    # Kinds that are watched are listed by API servers before 1.32, which can't stream them whole.
    watched = {right for right in granted if right.verb == "watch" and right.resource != "leases"}
    assert {right._replace(verb="list") for right in watched} <= granted


def is_excused(right: Right, granted: set[Right]) -> bool:
    if right.verb == "list":
        return right._replace(verb="watch") in granted
    return (right.resource, right.verb) in UNUSED | LOOKED_UP


async def test_the_extender_works_with_its_role(installed: LiveCluster, tmp_path: Path) -> None:
    token = await asyncio.to_thread(token_of, installed, "growth-extender")
    free = {"--verbs-address": "127.0.0.1:0", "--demand-address": "127.0.0.1:0"}
    words = [word for pair in free.items() for word in pair]
    async with witness(installed, token, tmp_path) as proxy:
        async with running("extender", proxy, tmp_path, *words):
            pass
        check("growth-extender", proxy)


async def test_the_webhooks_work_with_their_role(installed: LiveCluster, tmp_path: Path) -> None:
    await asyncio.to_thread(mount_certificate, installed, tmp_path / "tls")
    token = await asyncio.to_thread(token_of, installed, "growth-webhooks")
    words = ("--webhook-address", "127.0.0.1:0", "--webhook-tls-folder", str(tmp_path / "tls"))
    async with witness(installed, token, tmp_path) as proxy:
        async with running("webhooks", proxy, tmp_path, *words):
            pass
        check("growth-webhooks", proxy)


async def test_the_reconciler_works_with_its_roles(installed: LiveCluster, tmp_path: Path) -> None:
    token = await asyncio.to_thread(token_of, installed, "growth-reconciler")
    # One that is missing is made anew, which needs a right of its own.
    await asyncio.to_thread(installed.kubectl, *of_growth("delete", "lease", "growth-reconciler"))
    await asyncio.to_thread(installed.kubectl, "apply", "-f", str(EXAMPLE))
    await asyncio.to_thread(installed.create, pool_of("cx23"), a_number_of("cx33"))
    async with witness(installed, token, tmp_path) as proxy:
        async with running("reconciler", proxy, tmp_path, **AS_INSTALLED):
            work = deployment("some", pool="cx23", replicas=1, cpu="1", memory="1Gi")
            await asyncio.to_thread(installed.create, work)
            await until(lambda: is_bound(installed), "the pod is bound")
            await asyncio.to_thread(installed.kubectl, "delete", "deployment", "some")
            await until(lambda: MEASURED in proxy.asked, "measured use is asked for")
        check("growth-reconciler", proxy)


async def test_the_keeper_of_certificates_works_with_its_roles(
    installed: LiveCluster, tmp_path: Path
) -> None:
    token = await asyncio.to_thread(token_of, installed, "growth-certs")
    async with witness(installed, token, tmp_path) as proxy:
        async with running("certs", proxy, tmp_path):
            await until(lambda: has_certificates(installed), "the certificates are made")
            await rotate(installed, proxy)
        check("growth-certs", proxy)


async def test_where_a_policy_admits_pods_no_webhook_is_touched(
    installed: LiveCluster, tmp_path: Path
) -> None:
    token = await asyncio.to_thread(token_of, installed, "growth-certs")
    async with witness(installed, token, tmp_path) as proxy:
        async with running("certs", proxy, tmp_path, GROWTH_ADMISSION="Policy"):
            await until(lambda: has_certificates(installed), "the certificates are made")
            await rotate(installed, proxy, wanted=without_webhook(WANTED))
        check("growth-certs", proxy, WITHOUT_WEBHOOK)


def has_certificates(cluster: LiveCluster) -> bool:
    found = cluster.get("secrets", "--namespace", SYSTEM)["items"]
    names = {each["metadata"]["name"] for each in found}
    return {leaf.name for authority in WANTED for leaf in authority.leaves} <= names


async def test_the_second_scheduler_works_with_its_roles(
    installed: LiveCluster, tmp_path: Path
) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("{provider: kwok, scheduler: Second}")
    words = ("install", "--values", str(values), "--wait", "0s")
    assert await asyncio.to_thread(grow, installed, *words) == 0
    token = await asyncio.to_thread(token_of, installed, "growth-scheduler")
    free = ("--verbs-address", "127.0.0.1:0", "--demand-address", "127.0.0.1:0")
    async with witness(installed, token, tmp_path) as proxy:
        async with running("extender", proxy, tmp_path, *free):
            pass
        async with scheduling(installed, proxy, tmp_path):
            await until(lambda: LED in proxy.asked, "the scheduler renews its Lease")
        check("growth-scheduler", proxy, SECOND)


LED: Final = Right("", SYSTEM, "coordination.k8s.io", "leases", "update", "growth-scheduler")


@asynccontextmanager
async def scheduling(cluster: LiveCluster, proxy: Witness, folder: Path) -> AsyncIterator[None]:
    """The real kube-scheduler with the configuration that is shipped, but for its places."""
    configuration = yaml.safe_load(CONFIGURATION.read_text("utf-8"))
    # What the witness passes on is text.
    text = {"contentType": "application/json", "acceptContentTypes": "application/json"}
    configuration["clientConnection"] |= {"kubeconfig": str(proxy.kubeconfig), **text}
    configuration["leaderElection"] |= {"leaseDuration": "3s", "renewDeadline": "2s"}
    configuration["leaderElection"] |= {"retryPeriod": "500ms"}
    (folder / "scheduler.yaml").write_text(yaml.safe_dump(configuration))
    program = cluster.kubeconfig.parent / "bin" / "kube-scheduler"
    words = (f"--config={folder / 'scheduler.yaml'}", "--bind-address=127.0.0.1")
    lenient = "--authentication-tolerate-lookup-failure=true"
    with (folder / "scheduler.log").open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *(str(program), *words, f"--secure-port={free_port()}", lenient),
            stdout=output,
            stderr=output,
        )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


def is_bound(cluster: LiveCluster) -> bool:
    pods = cluster.get("pods", "--selector=app=some")["items"]
    return any("nodeName" in pod["spec"] for pod in pods)


def test_what_is_excused_is_granted() -> None:
    granted = {(right.resource, right.verb) for right in rights_of("growth-reconciler", ITEMS)}

    assert UNUSED.keys() <= granted


def of_growth(*words: str) -> tuple[str, ...]:
    return (*words, "--namespace", SYSTEM)


async def rotate(
    cluster: LiveCluster, proxy: Witness, *, wanted: Sequence[WantedAuthority] = WANTED
) -> None:
    """All certificates are made anew, which writes each Secret that there is and makes one."""
    for name in ("growth-ca", "growth-scheduler-ca"):
        words = of_growth("annotate", "--overwrite", "secret", name, "growth.dev/rotate=now")
        await asyncio.to_thread(cluster.kubectl, *words)
    await asyncio.to_thread(cluster.kubectl, *of_growth("delete", "secret", "growth-extender-tls"))
    async with await connect(kubeconfig=proxy.kubeconfig, process="test") as connection:
        policy = Policy(overlap=Policy().skew * 0)
        kept = Objects(connection, namespace=SYSTEM, wanted=wanted, policy=policy)
        done = await tend(kept, may_write=lambda: None)
    assert not done.problems


async def test_the_cluster_says_whose_token_may_read_metrics(
    installed: LiveCluster, tmp_path: Path
) -> None:
    token = await asyncio.to_thread(token_of, installed, "growth-webhooks")
    reader = await asyncio.to_thread(token_of, installed, "growth-extender")
    words = ("--clusterrole=growth-metrics-reader", f"--serviceaccount={SYSTEM}:growth-extender")
    binding = ("clusterrolebinding", "reads-metrics")
    async with (
        witness(installed, token, tmp_path) as proxy,
        await connect(kubeconfig=proxy.kubeconfig, process="test") as connection,
    ):
        before = await reviewed(connection, reader, path="/metrics")
        await asyncio.to_thread(installed.kubectl, "create", *binding, *words)
        try:
            await until_allowed(connection, reader)
        finally:
            await asyncio.to_thread(installed.kubectl, "delete", *binding)
        unknown = await reviewed(connection, "invented", path="/metrics")
    assert (before, unknown) == (TokenVerdict.FORBIDDEN, TokenVerdict.UNKNOWN)
    assert proxy.denied == []


async def until_allowed(connection: Connection, token: str) -> None:
    """The API server learns of a new binding a moment after it has been written."""
    async with asyncio.timeout(IN_TIME):
        while await reviewed(connection, token, path="/metrics") is not TokenVerdict.ALLOWED:  # noqa: ASYNC110 - the server says nothing by itself
            await asyncio.sleep(0.1)
