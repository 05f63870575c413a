"""Approves the certificates of growth's machines while a process runs (`joinApproval: Growth`).

Requests are watched. Their NodeRequests and Nodes are read when there is something to decide, and
never from a cache: an outdated phase or a missing Node would approve too much. What isn't approved
is left alone, because a person may still approve it. What may still become approvable is looked at
again: a machine may ask before the reconciler has noted that its purchase was accepted.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any, Final

import structlog

from certs.approval import FINAL, JoiningMachine, JoinVerdict, verdict_on
from certs.signing_requests import SIGNING_REQUESTS, WATCHED, machine_in
from growth.api.noderequest import NodeRequest, RequestPhase
from growth.errors import GrowthError
from growth.kube.cache.reflector import Reflector
from growth.kube.reads import Reads
from growth.kube.writes import Decided, Writes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from certs.metrics import ApprovalMetrics
    from certs.signing_requests import SigningRequest
    from growth.kube.cache.metrics import CacheMetrics
    from growth.kube.transport import Connection

AGAIN: Final = 2.0
"""Seconds until requests that wait are looked at again."""

log = structlog.get_logger()


class Approver:
    """Looks at the requests that growth's join tokens have made."""

    def __init__(
        self, connection: Connection, *, metrics: ApprovalMetrics, caches: CacheMetrics
    ) -> None:
        self._reads = Reads(connection)
        self._writes = Writes(connection, path=SIGNING_REQUESTS)
        self._metrics = metrics
        self._changed = asyncio.Event()
        self._told: dict[str, JoinVerdict] = {}
        """The verdict that was logged and counted for each waiting request, by uid."""
        self._reflector = Reflector(
            server=connection,
            resource=WATCHED,
            metrics=caches,
            chance=Random(),  # noqa: S311 - it spreads calls and protects nothing
            changed=lambda _: self._changed.set(),
        )

    async def run(self) -> None:
        """Approve until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._reflector.run(), name="watch certificatesigningrequests")
            await self._reflector.synced()
            while True:
                self._changed.clear()
                await self._round_guarded()
                with suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN if self._waiting() else None):
                        await self._changed.wait()

    async def _round_guarded(self) -> None:
        try:
            await self._decide(self._waiting())
        except GrowthError as error:
            log.warning("could not decide on signing requests", reason=str(error))
        except Exception:
            # A bug here must not stop the renewal of certificates.
            self._metrics.crashes.inc()
            log.exception("could not decide on signing requests")

    def _waiting(self) -> Sequence[SigningRequest]:
        """The undecided requests, without those that can't be approved any more."""
        known = self._reflector.store.objects.values()
        ours = {each.metadata.uid: each for each in known if each.waits_for_growth}
        self._told = {uid: told for uid, told in self._told.items() if uid in ours}
        return [each for uid, each in ours.items() if self._told.get(uid) not in FINAL]

    async def _decide(self, waiting: Sequence[SigningRequest]) -> None:
        if not waiting:
            return
        # All at once: someone with a token may ask under thousands of names.
        machines = {
            each["metadata"]["name"]: joining_machine(each)
            for each in await self._reads.listed(NodeRequest.collection())
        }
        nodes = await self._nodes({machine_in(each) for each in waiting}, machines)
        for asked in waiting:
            await self._carry_out(asked, verdict_on(asked, machines=machines, nodes=nodes))

    async def _nodes(self, names: set[str], machines: Mapping[str, JoiningMachine]) -> set[str]:
        """Which of these machines that are under way have a Node."""
        coming = [name for name in sorted(names & machines.keys()) if machines[name].is_under_way]
        return {name for name in coming if await self._reads.found(f"/api/v1/nodes/{name}")}

    async def _carry_out(self, asked: SigningRequest, verdict: JoinVerdict) -> None:
        if verdict is JoinVerdict.APPROVED:
            try:
                await self._approve(asked)
            except GrowthError as error:
                log.warning(
                    "signing request not approved", name=asked.metadata.name, reason=str(error)
                )
                return
        self._tell(asked, verdict)

    async def _approve(self, asked: SigningRequest) -> None:
        condition = {
            "type": "Approved",
            "status": "True",
            "reason": "MachineIsComing",
            "message": f"NodeRequest {machine_in(asked)} is under way",
        }
        patch = {"status": {"conditions": [condition]}}
        await self._writes.merge(Decided.on(asked), patch, subresource="approval")

    def _tell(self, asked: SigningRequest, verdict: JoinVerdict) -> None:
        """Log and count a verdict once."""
        if self._told.get(asked.metadata.uid) is verdict:
            return
        self._told[asked.metadata.uid] = verdict
        self._metrics.requests.labels(verdict.value).inc()
        log.info(
            "signing request looked at",
            result=verdict.value,
            name=asked.metadata.name,
            machine=machine_in(asked),
            user=asked.spec.username,
        )


def joining_machine(request: Mapping[str, Any]) -> JoiningMachine:
    """A NodeRequest as the API server has it."""
    metadata = request["metadata"]
    phase = (request.get("status") or {}).get("phase")
    return JoiningMachine(
        uid=metadata["uid"],
        is_under_way=phase == RequestPhase.PROVISIONING and "deletionTimestamp" not in metadata,
    )
