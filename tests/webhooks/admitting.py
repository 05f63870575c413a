"""A real cluster with both ways of admission in it, each for namespaces of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from growth.api.nodepool import NodePool
from tests.live import bring_down, bring_up, wait_until
from tests.raw_api import Api
from tests.service.authority import Authority
from tests.thread.growing import install_definitions
from tests.webhooks.api import ADMISSION, only_in, webhook_at
from tests.webhooks.table import POOLS
from webhooks.registration import names
from webhooks.registration.policy import binding, policy
from webhooks.registration.webhook import configuration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.live import LiveCluster

Document = dict[str, Any]

BY_WEBHOOK: Final = "by-webhook"
BY_POLICY: Final = "by-policy"
BY_BOTH: Final = "by-both"
BY_NOBODY: Final = "by-nobody"
FREE: Final = "by-whom-a-test-says"
MARKED: Final = "by-markers"
"""Where a registration shows that it is in force."""
NODE_POOLS: Final = NodePool.collection()
_MARKER: Final = "a-marker"


class Webhook(NamedTuple):
    """The process, and where it is asked."""

    pid: int
    url: str


@dataclass
class Admitting:
    """The cluster, and the process that serves the webhook there."""

    cluster: LiveCluster
    api: Api
    authority: Authority
    webhook: Webhook | None = None
    _pools: str = ""
    _count: Iterator[int] = field(default_factory=lambda: iter(range(10**6)))

    def pools(self, name: str) -> None:
        """These pools of the table are there, and both ways of admission know it."""
        if name != self._pools:
            self.replace_pools(POOLS[name])
            self._pools = name

    def replace_pools(self, pools: Iterable[Document]) -> None:
        """These pools are there instead of all others."""
        self._pools = ""
        for pool in self.api.do("GET", NODE_POOLS)["items"]:
            self.api.do("DELETE", f"{NODE_POOLS}/{pool['metadata']['name']}")
        for pool in pools:
            self.api.do("POST", NODE_POOLS, pool)
        self._wait_until_known()

    def _wait_until_known(self) -> None:
        """A pool that comes and goes after all others: who has seen both has seen the others."""
        key = f"marker-{next(self._count)}"
        taint = {"key": key, "effect": "NoSchedule"}
        spec = {"serverTypes": [{"name": "cx23", "max": 1}], "taints": [taint]}
        marker = {"apiVersion": "growth.dev/v1alpha1", "kind": "NodePool", "spec": spec}
        self.api.do("POST", NODE_POOLS, {**marker, "metadata": {"name": _MARKER}})
        self._wait_for_marker(key, known=True)
        self.api.do("DELETE", f"{NODE_POOLS}/{_MARKER}")
        self._wait_for_marker(key, known=False)

    def _wait_for_marker(self, key: str, *, known: bool) -> None:
        pod = {
            "metadata": {"name": "marked"},
            "spec": {
                "containers": [{"name": "main", "image": "none"}],
                "nodeSelector": {"growth.dev/pool": _MARKER},
            },
        }

        def is_known(namespace: str) -> bool:
            answer = self.api.create_pod(pod, namespace=namespace, query="?dryRun=All")
            return any(each.get("key") == key for each in answer.body["spec"]["tolerations"])

        for way in (BY_WEBHOOK, BY_POLICY):
            wait_until(lambda way=way: is_known(way) is known, f"the pools {way}")  # type: ignore[misc]


@contextlib.contextmanager
def admitting(folder: Path) -> Iterator[Admitting]:
    """A cluster of its own: policies and pools are everybody's."""
    name = f"growth-test-{os.getpid()}-admission"
    try:
        cluster = bring_up(name)
        install_definitions(cluster)
        setting = Admitting(cluster, Api(cluster.kubeconfig), Authority())
        for namespace in (BY_WEBHOOK, BY_POLICY, BY_BOTH, BY_NOBODY, FREE, MARKED):
            _make_namespace(setting, namespace)
        register_policy(setting)
        with serving(setting, folder) as webhook, contextlib.closing(setting.api):
            register_webhook(setting, url=webhook.url)
            setting.webhook = webhook
            yield setting
    finally:
        bring_down(name)


def _make_namespace(setting: Admitting, name: str) -> None:
    labels = {"growth.dev/admission": "disabled"} if name in {BY_NOBODY, MARKED} else {}
    document = {"metadata": {"name": name, "labels": labels}}
    setting.api.do("POST", "/api/v1/namespaces", document)
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    wait_until(lambda: setting.api.ask("GET", account).status == 200, "the service account")


def register_policy(setting: Admitting) -> None:
    """The shipped policy, bound in the namespaces that are for it."""
    setting.api.do("POST", f"{ADMISSION}/mutatingadmissionpolicies", policy())
    bound = binding()
    here = only_in((BY_POLICY, BY_BOTH), {"matchExpressions": []})
    bound["spec"] = {**bound["spec"], "matchResources": {"namespaceSelector": here}}
    setting.api.do("POST", f"{ADMISSION}/mutatingadmissionpolicybindings", bound)


def register_webhook(setting: Admitting, *, url: str) -> None:
    """The shipped configuration, in the namespaces that are for it."""
    setting.api.do(
        "POST",
        f"{ADMISSION}/mutatingwebhookconfigurations",
        webhook_at(
            configuration(),
            url,
            authority=setting.authority.certificate,
            namespaces=(BY_WEBHOOK, BY_BOTH, BY_NOBODY),
        ),
    )


@contextlib.contextmanager
def serving(
    setting: Admitting, folder: Path, *, kubeconfig: Path | None = None
) -> Iterator[Webhook]:
    """The process, as it is in a cluster."""
    setting.authority.leaf("webhooks").write_to(folder)
    log = folder / "log"
    who = str(kubeconfig or setting.cluster.kubeconfig)
    words = ["--kubeconfig", who, "--webhook-tls-folder", str(folder)]
    addresses = ["--metrics-address", "127.0.0.1:0", "--webhook-address", "127.0.0.1:0"]
    with (
        log.open("ab") as output,
        subprocess.Popen(
            [sys.executable, "-m", "webhooks", *words, *addresses, "--log-form", "json"],
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            wait_until(lambda: "webhook_address" in _said(log), "the webhook listens")
            yield Webhook(process.pid, f"https://{_said(log)['webhook_address']}{names.PATH}")
        finally:
            process.terminate()
            assert process.wait(timeout=60) == 0, log.read_text()


def _said(log: Path) -> Document:
    """All that the lines of a log say, the last word counting."""
    lines = (json.loads(line) for line in log.read_text().splitlines() if line.endswith("}"))
    return {key: value for line in lines for key, value in line.items()}
