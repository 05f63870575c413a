"""One Lease as an API server keeps it: optimistic locking, merge patches, deletion."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from growth.errors import DecideAgain
from growth.kube.election.lease import lease_from

if TYPE_CHECKING:
    import asyncio

    from growth.kube.election.lease import Lease


class LeaseModel:
    """The stored object, and what its API answers."""

    def __init__(self) -> None:
        self.stored: dict[str, Any] | None = None
        self.watchers: list[asyncio.Event] = []
        self._version = 0

    def read(self) -> Lease | None:
        return None if self.stored is None else lease_from(json.dumps(self.stored).encode())

    def create(self, body: dict[str, Any]) -> Lease | None:
        if self.stored is not None:
            raise DecideAgain("it exists already")
        self.stored = copy.deepcopy(body)
        self.stored["metadata"]["uid"] = f"uid-{self._version + 1}"
        return self._stored()

    def patch(self, body: dict[str, Any]) -> Lease | None:
        if self.stored is None:
            raise DecideAgain("it was deleted")
        if body["metadata"]["resourceVersion"] != self.stored["metadata"]["resourceVersion"]:
            raise DecideAgain("it has changed")
        changed = {**self.stored["spec"], **body["spec"]}
        # A patch that changes nothing is no write, and nobody sees it.
        if changed != self.stored["spec"]:
            self.stored["spec"] = changed
            self._stored()
        return self.read()

    def install(self) -> None:
        """What `kubectl apply` of an empty Lease does."""
        self.create({"metadata": {}, "spec": {}})

    def delete(self) -> None:
        self.stored = None
        self._tell_the_watchers()

    def label(self) -> None:
        if self.stored is not None:
            self._stored()

    def erase_the_holder(self) -> None:
        """What a person with `kubectl edit` may do."""
        if self.stored is not None:
            self.stored["spec"]["holderIdentity"] = ""
            self._stored()

    def _stored(self) -> Lease | None:
        assert self.stored is not None
        self._version += 1
        self.stored["metadata"]["resourceVersion"] = str(self._version)
        self._tell_the_watchers()
        return self.read()

    def _tell_the_watchers(self) -> None:
        for watcher in self.watchers:
            watcher.set()
