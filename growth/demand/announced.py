"""Pods that will be there in a moment: a ReplicaSet wants them, and its controller is at work.

A controller makes the pods of a large deployment over seconds, and of many deployments one after
the other, while each says from the first moment how many there will be. Planning that knows this
buys once for all of them, instead of a little for each of the parts in which they come. A
Deployment speaks for itself until its first ReplicaSet is there.
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
    """What an owner still lacks."""

    missing: int
    like: Pod
    """One of its pods; where there is none yet, what its template comes to."""
    since: str
    """When the owner made its newest pod, or began (RFC 3339): long ago, and it makes no more."""


class Announcements:
    """Who lacks pods, kept up to date change by change."""

    def __init__(self) -> None:
        self._owners: dict[str, ReplicaSet] = {}
        self._there: Counter[str] = Counter()
        self._newest: dict[str, Pod] = {}
        self._deployments: dict[str, Deployment] = {}
        self._sets: Counter[str] = Counter()
        self._announced: dict[str, Announced] = {}
        self.wanted = 0
        """Pods that all ReplicaSets want together."""

    def deployment_changed(self, old: Deployment | None, new: Deployment | None) -> None:
        """A Deployment came, went or changed."""
        if old is not None:
            self._deployments.pop(old.metadata.uid, None)
            self._tell_for(old.metadata.uid)
        if new is not None and not new.is_refused:
            self._deployments[new.metadata.uid] = new
            self._tell_for(new.metadata.uid)

    def owner_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        """A ReplicaSet came, went or changed."""
        if (before := _controller(old, "Deployment")) != (after := _controller(new, "Deployment")):
            self._count_set(before, -1)
            self._count_set(after, 1)
        if old is not None:
            known = self._owners.pop(old.metadata.uid, None)
            self.wanted -= 0 if known is None else known.spec.wanted
            self._tell(old.metadata.uid)
        if new is not None and not new.is_refused:
            self._owners[new.metadata.uid] = new
            self.wanted += new.spec.wanted
            self._tell(new.metadata.uid)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """A pod came, went or changed."""
        before, after = _owner(old), _owner(new)
        if before == after:
            return
        if before:
            self._there[before] -= 1
            self._tell(before)
        if new is not None and after:
            self._there[after] += 1
            newest = self._newest.get(after)
            if newest is None or _made(newest) <= _made(new):
                self._newest[after] = new
            self._tell(after)

    def now(self) -> Mapping[str, Announced]:
        """All owners that lack pods, by their uid."""
        return dict(self._announced)

    def _count_set(self, deployment: str, more: int) -> None:
        if deployment:
            self._sets[deployment] += more
            self._tell_for(deployment)

    def _tell_for(self, uid: str) -> None:
        """A deployment of which nothing is made yet."""
        sets = self._sets.get(uid, 0)
        if not sets:
            self._sets.pop(uid, None)
        deployment = self._deployments.get(uid)
        if deployment is None or sets or not deployment.spec.wanted:
            self._announced.pop(uid, None)
            return
        self._announced[uid] = Announced(
            missing=deployment.spec.wanted,
            like=_by_template(deployment, "Deployment"),
            since=_made(deployment),
        )

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
        self._announced[uid] = Announced(
            missing=owner.spec.wanted - there,
            like=_by_template(owner, "ReplicaSet") if like is None else like,
            since=_made(owner) if like is None else _made(like),
        )


def _owner(pod: Pod | None) -> str:
    """Who counts the pod among those that it has; empty if nobody does."""
    if pod is None or pod.is_finished or pod.is_terminating:
        return ""
    return _controller(pod, "ReplicaSet")


def _controller(each: Pod | ReplicaSet | None, kind: str) -> str:
    controller = None if each is None else each.metadata.controller
    return controller.uid if controller is not None and controller.kind == kind else ""


def _made(each: Pod | ReplicaSet | Deployment) -> str:
    return each.metadata.creation_timestamp or ""


def _by_template(owner: ReplicaSet | Deployment, kind: str) -> Pod:
    """Without what admission will add: who knows a pod prefers that."""
    metadata = owner.metadata
    reference = OwnerReference(kind=kind, name=metadata.name, uid=metadata.uid, controller=True)
    return pod_of(
        owner.spec.template,
        name=f"{metadata.name}-announced",
        namespace=metadata.namespace,
        owner=reference,
    )
