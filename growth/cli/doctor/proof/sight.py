"""The state of a proof at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from growth.api.nodepool import NodePool
from growth.api.noderemovalrequest import NodeRemovalRequest
from growth.api.noderequest import NodeRequest
from growth.api.wellknown import GROUP_VERSION
from growth.kube.reads import Reads
from growth.scheduling.node import Node
from growth.scheduling.objects import decode_node, decode_pod
from growth.scheduling.pod import Pod

if TYPE_CHECKING:
    from collections.abc import Callable

    from growth.cli.cluster.lists import Lists

_T = TypeVar("_T")


class ProofSight(msgspec.Struct, frozen=True, kw_only=True):
    """The pod, and the machine that is bought for it."""

    pod: Pod | None = None
    pool: NodePool | None = None
    request: NodeRequest | None = None
    """The newest request that names the pod, or that of the machine once it is known."""
    node: Node | None = None
    removal: NodeRemovalRequest | None = None

    @property
    def without_place(self) -> str:
        """Why the last plan had no place for the pod; empty if it had one or doesn't say."""
        if self.pod is None or self.pool is None:
            return ""
        uid = self.pod.metadata.uid
        told = (each.reason for each in self.pool.status.unplaced if each.pod.uid == uid)
        return next(told, "")

    @property
    def kept(self) -> str:
        """Why the node is kept, according to the pool; empty if it doesn't say."""
        if self.node is None or self.pool is None:
            return ""
        told = (each.reason for each in self.pool.status.kept if each.node == self.node.name)
        return next(told, "")


async def see_proof(lists: Lists, *, pod: str, uid: str, pool: str, machine: str) -> ProofSight:
    """Read everything with a few requests; `pod` is the path of the pod."""
    ours = f"/apis/{GROUP_VERSION}"
    if not machine:
        machine = newest(await lists.ours(NodeRequest), uid)
    return ProofSight(
        pod=await _found(lists, pod, decode_pod),
        pool=await _found(lists, f"{ours}/nodepools/{pool}", NodePool.model_validate_json),
        request=await _found(
            lists, machine and f"{ours}/noderequests/{machine}", NodeRequest.model_validate_json
        ),
        node=await _found(lists, machine and f"/api/v1/nodes/{machine}", decode_node),
        removal=await _found(
            lists,
            machine and f"{ours}/noderemovalrequests/{machine}",
            NodeRemovalRequest.model_validate_json,
        ),
    )


def newest(requests: tuple[NodeRequest, ...], uid: str) -> str:
    """The newest request for the pod, because a failed one is followed by another."""
    named = [each for each in requests if any(pod.uid == uid for pod in each.spec.pods)]
    made = {each.name: each.metadata.creation_timestamp for each in named}
    return max(made, key=lambda name: (str(made[name]), name), default="")


async def _found(lists: Lists, path: str, decode: Callable[[bytes], _T]) -> _T | None:
    """The object at a path, if there is one."""
    if not path:
        return None
    answer = await Reads(lists.connection).answer(path)
    return None if answer is None else decode(answer.body)
