"""Requests of others than the administrator, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import parse_qsl

import yaml

from growth.kube.errors import ApiError
from growth.kube.transport import connect
from tests.cluster_wide import acting
from tests.manifests.reading import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.live import LiveCluster


def asked(kubeconfig: Path, *call: Any, content_type: str = "application/json") -> str:
    """What becomes of a request to the API server; kubectl would look before each patch."""

    async def ask() -> str:
        async with await connect(kubeconfig=kubeconfig, process="test") as connection:
            method, target, body = call
            path, _, query = target.partition("?")
            try:
                answer = await connection.request(
                    method,
                    path,
                    query=parse_qsl(query),
                    body=body,
                    content_type=content_type,
                )
            except ApiError as error:
                return error.message
            return answer.body.decode()

    return asyncio.run(ask())


def stolen_from(cluster: LiveCluster, account: str, path: Path) -> Path:
    """The kubeconfig of somebody who has the token of one of growth's accounts."""
    token = cluster.kubectl("create", "token", account, "--namespace", SYSTEM)
    config = yaml.safe_load(cluster.kubeconfig.read_text("utf-8"))
    config["users"][0]["user"] = {"token": token.strip()}
    server = config["clusters"][0]["cluster"]
    server["certificate-authority"] = str(
        cluster.kubeconfig.parent / server["certificate-authority"]
    )
    path.write_text(yaml.safe_dump(config), "utf-8")
    return path


class Caller(NamedTuple):
    """Somebody whose requests the administrator makes in their name."""

    user: str
    group: str = ""

    def says(self, cluster: LiveCluster, *words: str, body: Any = None) -> str:
        """What kubectl tells them: the object, or why not."""
        groups = (f"--as-group={self.group}",) if self.group else ()
        # To validate, kubectl would list definitions, which they may not.
        given = () if body is None else ("--validate=false", "-f", "-")
        who = (f"--as={self.user}", *groups)
        answer = cluster.try_kubectl(*who, *words, *given, input=json.dumps(body))
        return answer.stdout + answer.stderr


KUBELET: Final = Caller("system:node:worker", "system:nodes")
PERSON: Final = Caller("somebody")
STEWARD: Final = Caller("the-administrator-of-growth")

_WRITES: Final = [
    {"apiGroups": [""], "resources": ["nodes", "nodes/status"], "verbs": ["*"]},
    {"apiGroups": ["growth.dev"], "resources": ["*"], "verbs": ["get", "create", "patch"]},
    {"apiGroups": ["growth.dev"], "resources": ["*"], "verbs": ["delete"]},
]
_ADMINISTERS: Final = [
    {"apiGroups": ["growth.dev"], "resources": ["noderecords"], "verbs": ["administer"]}
]


def request(name: str) -> dict[str, Any]:
    """A NodeRequest."""
    spec = {
        "pool": "pool",
        "targetOffering": "kwok-cx23",
        "serverType": "cx23",
        "location": "nbg1",
        "price": "0.0088",
        "resources": {"cpu": "2", "memory": "4Gi"},
        "pods": [],
    }
    kind = {"apiVersion": "growth.dev/v1alpha1", "kind": "NodeRequest"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


@contextmanager
def all_may_write(cluster: LiveCluster) -> Iterator[None]:
    """Roles let each caller write Nodes and growth's objects, so that only the guards refuse."""
    objects = [
        *_granted("guards-writing", _WRITES, KUBELET, PERSON, STEWARD),
        *_granted("guards-administering", _ADMINISTERS, STEWARD),
    ]
    # `kubectl auth can-i` knows no verbs and resources but those of the API.
    wanted = {"group": "growth.dev", "resource": "noderecords", "verb": "administer"}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }

    def may_administer() -> bool:
        words = ("create", "--output=jsonpath={.status.allowed}")
        return STEWARD.says(cluster, *words, body=review) == "true"

    with acting(cluster, *objects, acts=may_administer):
        yield


def _granted(name: str, rules: Any, *callers: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
    group = "rbac.authorization.k8s.io"
    version = f"{group}/v1"
    metadata = {"name": name}
    role = {"apiVersion": version, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": name}
    subjects = [
        {"apiGroup": group, "kind": "Group", "name": each.group}
        if each.group
        else {"apiGroup": group, "kind": "User", "name": each.user}
        for each in callers
    ]
    binding = {
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": reference,
        "subjects": subjects,
    }
    return role, binding
