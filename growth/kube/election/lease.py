"""The Lease as it lies in the API server, and the changes that an election makes to it.

Only the fields of an election are read. Times stay the text that their writer chose: another
holder's clock proves nothing to us, so they are compared for being the same, never for being late.
Changes are merge patches that carry the resourceVersion they were decided on, and leave alone what
others keep in the object (labels, `strategy`, `preferredHolder`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from growth.kube.micro_time import micro_time

RELEASED_DURATION = 1
"""What a holder that goes writes as the duration; other implementations write the same."""

CLOCK_STANDS_STILL = timedelta(seconds=1)
"""A clock that is further behind was set back, and then the time that it says is written."""


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel"):
    """Who holds it, for how long at a time, and since when."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def held(self) -> bool:
        """Whether somebody is named as the holder."""
        return bool(self.holder_identity)

    @property
    def given_back(self) -> bool:
        """Whether its last holder ended by itself, which is not the same as an erased name."""
        return not self.held and self.lease_duration_seconds == RELEASED_DURATION

    @property
    def never_held(self) -> bool:
        """Whether it is as an installation makes it: empty, and nobody ever renewed it."""
        return not self.held and self.renew_time is None


class LeaseMetadata(msgspec.Struct, frozen=True, rename="camel"):
    """What tells one state of one Lease from another."""

    uid: str
    resource_version: str


class Lease(msgspec.Struct, frozen=True):
    """One Lease at one resourceVersion."""

    metadata: LeaseMetadata
    spec: LeaseSpec = LeaseSpec()

    def says_the_same_as(self, other: Lease) -> bool:
        """Whether nothing was renewed between the two; a new label is no renewal."""
        return self.metadata.uid == other.metadata.uid and self.spec == other.spec


def seconds_without_a_leader(lease: Lease, now: datetime) -> float:
    """Since its last renewal, or since it was given back; 0 if nothing tells that."""
    try:
        renewed = datetime.fromisoformat(lease.spec.renew_time or "")
        return max((now - renewed).total_seconds(), 0.0)
    except (TypeError, ValueError):
        return 0.0  # Nobody ever held it, or somebody has written no time, or none of a zone.


def lease_from(body: bytes) -> Lease:
    """The Lease in an answer of the API server."""
    return msgspec.json.decode(body, type=Lease)


def unheld_lease(*, name: str, duration: int, now: datetime) -> dict[str, Any]:
    """A Lease in place of a missing one; its renewTime says that it isn't free at once."""
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
    """Takes the Lease, or renews it where the holder is the same."""
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
    """Gives the Lease back, so that the next holder need not wait."""
    spec = {
        "holderIdentity": "",
        "leaseDurationSeconds": RELEASED_DURATION,
        "renewTime": _new_text(now, after=lease.spec.renew_time),
    }
    return _patch(lease, spec)


def _patch(lease: Lease, spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": lease.metadata.resource_version}, "spec": spec}


def _new_text(now: datetime, *, after: str | None) -> str:
    """A renewal must be seen as a change, even when the wall clock stands still."""
    before = datetime.fromisoformat(after) if after else None
    if before is not None and timedelta() <= before - now < CLOCK_STANDS_STILL:
        return micro_time(before + timedelta(microseconds=1))
    return micro_time(now)
