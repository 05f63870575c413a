"""Announced pods: a ReplicaSet wants them, and its controller will create them in a moment.

A controller takes seconds to create the pods of a large Deployment, and works on many Deployments
one after another. But each ReplicaSet says from the start how many pods it wants. So planning can
buy once for all of them, instead of a little for each part. Until a Deployment has its first
ReplicaSet, the Deployment itself says how many.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from growth.scheduling.metadata import OwnerReference
from growth.scheduling.pod import Pod
from growth.scheduling.templates import pod_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from growth.scheduling.workloads import Deployment, ReplicaSet


class Announced(msgspec.Struct, frozen=True, kw_only=True):
    """The pods that an owner still has to create."""

    missing: int
    like: Pod
    """One of its pods or, if there is none yet, a pod from its template."""
    since: str
    """When the owner created its newest pod, or was created itself (RFC 3339).

    If that is long ago, no more pods are coming.
    """


class Announcements:
    """The owners that still have to create pods, updated with each change."""

    def __init__(self) -> None:
        self._owners: dict[str, ReplicaSet] = {}
        self._there: Counter[str] = Counter()
        self._newest: dict[str, Pod] = {}
        self._deployments: dict[str, Deployment] = {}
        self._sets: Counter[str] = Counter()
        self._announced: dict[str, Announced] = {}
        self.wanted = 0
        """The number of pods that all ReplicaSets want together."""

    def deployment_changed(self, old: Deployment | None, new: Deployment | None) -> None:
        """Handle a new, changed or deleted Deployment."""
        if old is not None:
            self._deployments.pop(old.metadata.uid, None)
            self._tell_for(old.metadata.uid)
        if new is not None and not new.is_refused:
            self._deployments[new.metadata.uid] = new
            self._tell_for(new.metadata.uid)

    def owner_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        """Handle a new, changed or deleted ReplicaSet."""
        if (before := _controller(old, "Deployment")) != (after := _controller(new, "Deployment")):
            self._count_set(before, -1)
            self._count_set(after, 1)
        if old is not None:
            known = self._owners.pop(old.metadata.uid, None)
            self.wanted -= 0 if known is None else known.spec.wanted
            self._tell(old.metadata.uid)
        # One that a quota refuses would be announced for ever, and machines be bought for pods that
        # never come.
        if new is not None and not new.is_refused:
            self._owners[new.metadata.uid] = new
            self.wanted += new.spec.wanted
            self._tell(new.metadata.uid)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a new, changed or deleted pod."""
        before, after = _owner(old), _owner(new)
        if before == after:
            return
        if before:
            self._there[before] -= 1
            self._tell(before)
        if new is not None and after:
            self._there[after] += 1
            newest = self._newest.get(after)
            # Times from the API server are all in UTC, so they sort as text.
            if newest is None or _made(newest) <= _made(new):
                self._newest[after] = new
            self._tell(after)

    def now(self) -> Mapping[str, Announced]:
        """The owners that still have to create pods, by uid."""
        return dict(self._announced)

    def _count_set(self, deployment: str, more: int) -> None:
        if deployment:
            self._sets[deployment] += more
            self._tell_for(deployment)

    def _tell_for(self, uid: str) -> None:
        """Update the announcement of a Deployment; it has one until it has a ReplicaSet."""
        sets = self._sets.get(uid, 0)
        if not sets:
            self._sets.pop(uid, None)
        deployment = self._deployments.get(uid)
        if deployment is None or sets or not deployment.spec.wanted:
            self._announced.pop(uid, None)
            return
        like = _by_template(deployment, "Deployment")
        self._announce(uid, like, missing=deployment.spec.wanted, since=_made(deployment))

    def _tell(self, uid: str) -> None:
        there = self._there.get(uid, 0)
        if not there:
            self._there.pop(uid, None)
            self._newest.pop(uid, None)
        owner = self._owners.get(uid)
        if owner is None or owner.spec.wanted <= there:
            self._announced.pop(uid, None)
            return
        like = self._newest.get(uid)
        since = _made(owner) if like is None else _made(like)
        like = _by_template(owner, "ReplicaSet") if like is None else like
        self._announce(uid, like, missing=owner.spec.wanted - there, since=since)

    def _announce(self, uid: str, like: Pod | None, *, missing: int, since: str) -> None:
        if like is None:
            self._announced.pop(uid, None)
        else:
            self._announced[uid] = Announced(missing=missing, like=like, since=since)


def _owner(pod: Pod | None) -> str:
    """The uid of the ReplicaSet that counts this pod as one of its own; "" if none does."""
    if pod is None or pod.is_finished or pod.is_terminating:
        return ""
    return _controller(pod, "ReplicaSet")


def _controller(each: Pod | ReplicaSet | None, kind: str) -> str:
    controller = None if each is None else each.metadata.controller
    return controller.uid if controller is not None and controller.kind == kind else ""


def _made(each: Pod | ReplicaSet | Deployment) -> str:
    return each.metadata.creation_timestamp or ""


def _by_template(owner: ReplicaSet | Deployment, kind: str) -> Pod | None:
    """A pod from the template, without what admission adds; an existing pod is a better example.

    None if an amount in it can't be read: its pods are then judged when they exist.
    """
    metadata = owner.metadata
    reference = OwnerReference(kind=kind, name=metadata.name, uid=metadata.uid, controller=True)
    try:
        made = pod_of(
            owner.spec.template,
            name=f"{metadata.name}-announced",
            namespace=metadata.namespace,
            owner=reference,
        )
        # Computed here and kept, so an amount that can't be read fails no rule later.
        _ = made.requests
    except ValueError:
        return None
    return made
