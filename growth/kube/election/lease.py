"""The Lease object, and the patches that an election sends.

Only the fields of the election are read. Times stay text: the clock of another holder proves
nothing, so times are only compared for equality, never with our clock. Patches are merge patches
with the resourceVersion they were decided on, so other fields (labels, `strategy`,
`preferredHolder`) aren't changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from growth.foreign_text import time_or_none
from growth.kube.micro_time import micro_time

RELEASED_DURATION = 1
"""The duration that a holder writes when it releases the Lease; client-go writes the same."""

CLOCK_STANDS_STILL = timedelta(seconds=1)
"""A clock that is further behind the last renewal was set back; then its time is used as it is."""


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """The spec of a Lease."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def held(self) -> bool:
        """Whether it has a holder."""
        return bool(self.holder_identity)

    @property
    def given_back(self) -> bool:
        """Whether its last holder released it; an erased holder name isn't a release."""
        return not self.held and self.lease_duration_seconds == RELEASED_DURATION

    @property
    def never_held(self) -> bool:
        """Whether it is empty and was never renewed, as after an installation."""
        return not self.held and self.renew_time is None


class LeaseMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata that identifies one state of a Lease."""

    uid: str
    resource_version: str
    annotations: Mapping[str, str] = {}


class Lease(msgspec.Struct, frozen=True):
    """A Lease at one resourceVersion."""

    metadata: LeaseMetadata
    spec: LeaseSpec = LeaseSpec()

    def says_the_same_as(self, other: Lease) -> bool:
        """Whether there was no renewal between the two; a new label isn't a renewal."""
        return self.metadata.uid == other.metadata.uid and self.spec == other.spec


def seconds_without_a_leader(lease: Lease, now: datetime) -> float:
    """The seconds since it was last renewed or released; 0 if that isn't known."""
    renewed = time_or_none(lease.spec.renew_time)
    # It was never held, or its time is missing or malformed.
    return 0.0 if renewed is None else max((now - renewed).total_seconds(), 0.0)


def lease_from(body: bytes) -> Lease:
    """Decode a Lease."""
    return msgspec.json.decode(body, type=Lease)


def unheld_lease(*, name: str, duration: int, now: datetime) -> dict[str, Any]:
    """A Lease to replace a missing one; because of its renewTime it isn't free at once."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": {
            "holderIdentity": "",
            "leaseDurationSeconds": duration,
            "renewTime": micro_time(now),
            "leaseTransitions": 0,
        },
    }


def holding_patch(lease: Lease, *, holder: str, duration: int, now: datetime) -> dict[str, Any]:
    """The patch that takes the Lease, or renews it if the holder is the same."""
    spec: dict[str, Any] = {
        "holderIdentity": holder,
        "leaseDurationSeconds": duration,
        "renewTime": _new_text(now, after=lease.spec.renew_time),
    }
    if lease.spec.holder_identity != holder:
        spec["acquireTime"] = spec["renewTime"]
        spec["leaseTransitions"] = (lease.spec.lease_transitions or 0) + 1
    return _patch(lease, spec)


def release_patch(lease: Lease, *, now: datetime) -> dict[str, Any]:
    """The patch that releases the Lease, so that the next holder doesn't have to wait."""
    spec = {
        "holderIdentity": "",
        "leaseDurationSeconds": RELEASED_DURATION,
        "renewTime": _new_text(now, after=lease.spec.renew_time),
    }
    return _patch(lease, spec)


def _patch(lease: Lease, spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": lease.metadata.resource_version}, "spec": spec}


def _new_text(now: datetime, *, after: str | None) -> str:
    """The new renewTime; it always differs, because others see a renewal only by a change."""
    before = time_or_none(after)
    if before is not None and timedelta() <= before - now < CLOCK_STANDS_STILL:
        return micro_time(before + timedelta(microseconds=1))
    return micro_time(now)
