"""Processes that don't want to end, each in its way: `python -m tests.service.stubborn WAY`."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING, NoReturn

from growth.errors import Misconfigured
from growth.service import process
from tests.service.build import BakerySettings

if TYPE_CHECKING:
    from growth.service.context import Part, Service

    Baker = Part[BakerySettings]

LONG = 3600


async def obey(_service: Service[BakerySettings]) -> None:
    await asyncio.sleep(LONG)


async def ignore_cancellation(_service: Service[BakerySettings]) -> None:
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(LONG)


async def block_the_loop(_service: Service[BakerySettings]) -> None:
    await asyncio.sleep(0.2)
    time.sleep(LONG)  # noqa: ASYNC251 - that is what it is for


async def hang_in_the_pool(_service: Service[BakerySettings]) -> None:
    await asyncio.to_thread(time.sleep, LONG)


async def hang_in_a_thread(_service: Service[BakerySettings]) -> None:
    threading.Thread(target=time.sleep, args=(LONG,), name="baker").start()
    await asyncio.sleep(LONG)


async def crash(_service: Service[BakerySettings]) -> NoReturn:
    await asyncio.sleep(0.2)
    raise OSError("the oven is on fire")


async def miss_the_flour(_service: Service[BakerySettings]) -> NoReturn:
    await asyncio.sleep(0.2)
    raise Misconfigured("--flour: this has no default")


WAYS: dict[str, dict[str, Baker]] = {
    "obey": {"oven": obey},
    "ignore-cancellation": {"oven": ignore_cancellation},
    "block-the-loop": {"oven": block_the_loop},
    "hang-in-the-pool": {"oven": hang_in_the_pool},
    "hang-in-a-thread": {"oven": hang_in_a_thread},
    "crash": {"oven": crash},
    "crash-beside-one-that-ignores-it": {"oven": ignore_cancellation, "baker": crash},
    "miss-the-flour": {"oven": obey, "baker": miss_the_flour},
}


def main() -> int:
    """Run the bakery in the way of the first word."""
    bakery = process.Process(
        name="bakery",
        purpose="bakes",
        settings=BakerySettings,
        parts=WAYS[sys.argv[1]],
    )
    return process.main(bakery, sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
