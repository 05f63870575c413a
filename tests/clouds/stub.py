"""A cloud that says what a test wants, when it wants: the port's test double."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from growth.api.written import ServerTypeName
from growth.errors import RetryLater
from growth.instant import Instant
from growth.scheduling.resources import Resources
from reconciler.providers.port import (
    Accepted,
    Checked,
    ClassKey,
    CreateAnswer,
    DeleteAnswer,
    DeleteOutcome,
    FailureClass,
    Listing,
    Machine,
    MachineState,
    Offering,
    Order,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping

START = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ClassKey("HetznerNodeClass", "default")
OTHER = ClassKey("HetznerNodeClass", "other")


def now() -> Instant:
    """This moment of the event loop."""
    seconds = asyncio.get_running_loop().time()
    return Instant(monotonic=seconds, wall=START + timedelta(seconds=seconds))


@dataclass(kw_only=True)
class Stub:
    """What is said, and when it was asked."""

    machines: Mapping[str, Machine] = field(default_factory=dict)
    takes: float = 0.1
    """Seconds until an answer comes."""
    fails: bool = False
    is_garbled: bool = False
    """Whether it answers what nobody has thought of."""
    is_complete: bool = True
    calls: int = 0
    failure: FailureClass | None = None
    generation: int = 1
    price: str = "0.01"
    listed_at: list[float] = field(default_factory=list)
    asked_at: list[float] = field(default_factory=list)

    async def check(self) -> Checked:
        """Whether machines can be made."""
        self.asked_at.append(now().monotonic)
        await self._answer()
        problems = () if self.failure is None else ("it is wrong",)
        return Checked(
            at=now().monotonic,
            generation=self.generation,
            failure=self.failure,
            problems=problems,
        )

    async def offerings(self) -> tuple[Offering, ...]:
        """One type in one place."""
        await self._answer()
        return (
            Offering(
                provider="stub",
                server_type=ServerTypeName.parse("small"),
                location="here",
                price=Decimal(self.price),
                allocatable=Resources({}),
            ),
        )

    async def create(self, order: Order) -> CreateAnswer:
        """Say yes."""
        return Accepted(machine_id=order.name)

    async def list(self) -> Listing:
        """What there is."""
        at = now()
        self.listed_at.append(at.monotonic)
        await self._answer()
        return Listing(
            at=at,
            is_complete=self.is_complete,
            reason="" if self.is_complete else "half of it",
            machines=self.machines,
            calls=self.calls,
        )

    async def delete(self, machine: Machine) -> DeleteAnswer:
        """Say yes."""
        return DeleteAnswer(outcome=DeleteOutcome.ACCEPTED)

    async def _answer(self) -> None:
        await asyncio.sleep(self.takes)
        if self.fails:
            raise RetryLater("the cloud is away")
        if self.is_garbled:
            raise KeyError("server")


@contextlib.asynccontextmanager
async def going_on(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Something that never ends by itself, for as long as the block lasts."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def machine(name: str = "default-1", *, pool: str = "default") -> Machine:
    """One machine that runs."""
    return Machine(
        machine_id="7",
        name=name,
        request_uid=f"uid-{name}",
        pool=pool,
        state=MachineState.RUNNING,
    )
