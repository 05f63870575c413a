"""What the tests of certificates share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar, cast

from certs.objects import Objects
from certs.rule import due
from certs.steps import subject_of
from certs.tending import tend
from certs.wanted import POLICY, WANTED, Policy
from tests.certs.api import NAMESPACE, Api

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from certs.tending import RoundDone
    from growth.kube.transport import Connection


T = TypeVar("T")


def objects(api: Api, policy: Policy = POLICY) -> Objects:
    connection = cast("Connection", api)
    return Objects(connection, namespace=NAMESPACE, wanted=WANTED, policy=policy)


def finish(work: Coroutine[object, object, T]) -> T:
    """Run what never waits, as an API server in memory answers at once."""
    try:
        work.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    raise AssertionError("it has waited for something")


def leading() -> None:
    """Another process never leads."""


def tend_once(api: Api) -> RoundDone:
    return finish(tend(objects(api), may_write=leading))


def installed() -> Api:
    """A cluster in which everything is good."""
    api = Api()
    api.install_webhooks()
    tend_once(api)
    return api


def steps_due(api: Api) -> list[str]:
    found = finish(objects(api).read())
    return [
        f"{type(write).__name__} {subject_of(write)}"
        for write in due(found.state, policy=POLICY, now=found.now)
    ]


async def becomes(condition: Callable[[], object]) -> None:
    """Wait for what has no event of its own."""
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
