"""Objects that act on the whole cluster: put in and taken out so that no other test meets them.

The API server acts on what it has read of policies, registrations, classes and roles, and it reads
them some time after they are written: policies once a second, all of them late on a busy machine.
So an object that has just been created does not act yet, which makes a test pass that would fail;
and one that has been deleted still acts, on the pods of the next test or file. Both ends are waited
for here, by looking at what the API server does.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from tests.live import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.live import LiveCluster

IN_A_ROW: Final = 3
"""Looks that have to agree: one may be answered from a state that is just being replaced."""


@contextmanager
def acting(
    cluster: LiveCluster, *objects: dict[str, Any], acts: Callable[[], bool]
) -> Iterator[None]:
    """The objects are there and act while the block lasts, and act no more behind it.

    `acts` looks whether they do, by something that the API server answers differently then.
    """
    names = ", ".join(f"{each['kind']} {each['metadata']['name']}" for each in objects)
    try:
        cluster.create(*objects)
        wait_steadily(acts, f"{names} in force")
        yield
    finally:
        given = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*objects]})
        cluster.kubectl("delete", "--ignore-not-found", "-f", "-", input=given)
        wait_steadily(lambda: not acts(), f"{names} out of force")


def may(
    cluster: LiveCluster, verb: str, resource: str, *, account: str, namespace: str = "default"
) -> bool:
    """Whether a service account, written as NAMESPACE:NAME, has a right by now."""
    who = f"system:serviceaccount:{account}"
    words = ("auth", "can-i", verb, resource, "--as", who, "--namespace", namespace)
    return cluster.try_kubectl(*words).stdout.strip() == "yes"


def wait_steadily(holds: Callable[[], bool], goal: str) -> None:
    """Wait until something is so at several looks in a row."""
    looks = [False] * IN_A_ROW

    def is_steady() -> bool:
        looks[:] = [*looks[1:], holds()]
        return all(looks)

    wait_until(is_steady, goal)
