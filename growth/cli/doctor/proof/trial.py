"""Creates the pod of a proof, and deletes it however the proof ends.

Its name is chosen before it is created. So it is also deleted if the answer to its creation is
lost, and after Ctrl-C or SIGTERM. If the deletion fails, the pod ends by itself: see
`growth.cli.doctor.proof.pod`.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

from growth.api.noderequest import NodeRequest
from growth.cli.doctor.proof.sight import newest
from growth.errors import DecideAgain, GiveUp, GrowthError, Misconfigured
from growth.kube.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from growth.cli.cluster.lists import Lists
    from growth.cli.doctor.proof.attempt import Attempt


class TrialPod:
    """An async context manager in which the pod exists."""

    def __init__(self, attempt: Attempt, lists: Lists) -> None:
        self._attempt, self._lists = attempt, lists
        self.uid = ""
        self.left = ""
        """What may be left after an early end; empty if all steps are done."""

    @property
    def path(self) -> str:
        """The path of the pod."""
        return f"{self._attempt.pods}/{self._attempt.pod['metadata']['name']}"

    async def delete(self) -> None:
        """Delete the pod if it exists."""
        with suppress(NotFound):
            query = {"gracePeriodSeconds": "0"}
            await self._lists.connection.request("DELETE", self.path, query=query)

    async def __aenter__(self) -> Self:
        try:
            answer = await self._lists.connection.request(
                "POST", self._attempt.pods, body=self._attempt.pod
            )
            self.uid = answer.json()["metadata"]["uid"]
        except (GiveUp, Misconfigured, DecideAgain):
            # The server has refused the pod, so there is none.
            raise
        except BaseException:
            await self._end_early()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            await self._end_early()

    async def _end_early(self) -> None:
        try:
            await self.delete()
        except GrowthError as error:
            self.left = f"delete the pod {self._attempt.pod_name} yourself: {error}"
        else:
            self.left = f"the pod is deleted; {await self._machine()}"

    async def _machine(self) -> str:
        """What may be left of the machine; read after the pod is deleted, so nothing is missed."""
        unknown = "a machine may have been requested for it; growth removes it when it is idle"
        if not self.uid:
            return unknown
        try:
            requests = await self._lists.ours(NodeRequest)
        except GrowthError:
            return unknown
        machine = newest(requests, self.uid)
        if not machine:
            return "no machine was requested for it"
        return f"{machine} may still run; growth removes it when it is idle"


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, such as at a CI job's timeout, cancel the task like Ctrl-C."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None  # noqa: S101 - tells mypy what a coroutine knows
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
