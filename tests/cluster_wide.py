"""Objects that affect the whole cluster, added and removed so that no other test is affected.

The API server applies policies, registrations, classes and roles some time after they are written:
policies are read once a second, and on a busy machine all of them are late. So a new object doesn't
apply yet, and a test passes that should fail; and a deleted one still applies, to the pods of the
next test or file. Both are waited for here, by checking what the API server does.
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
"""Checks that must agree, because one may be answered from a state that is being replaced."""


@contextmanager
def acting(
    cluster: LiveCluster, *objects: dict[str, Any], acts: Callable[[], bool]
) -> Iterator[None]:
    """The objects exist and apply in the block, and no longer apply after it.

    `acts` checks whether they apply, by something that the API server then answers differently.
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
    """Whether a service account, written as NAMESPACE:NAME, has a permission yet."""
    who = f"system:serviceaccount:{account}"
    words = ("auth", "can-i", verb, resource, "--as", who, "--namespace", namespace)
    return cluster.try_kubectl(*words).stdout.strip() == "yes"


def wait_steadily(holds: Callable[[], bool], goal: str) -> None:
    """Wait until several checks in a row agree."""
    looks = [False] * IN_A_ROW

    def is_steady() -> bool:
        looks[:] = [*looks[1:], holds()]
        return all(looks)

    wait_until(is_steady, goal)
