"""Which certificates growth needs, under which authority, and how long each of them lives."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum, StrEnum, auto
from typing import Final

import msgspec

from growth.api import installed

DAY: Final = timedelta(days=1)


class Rotation(Enum):
    """Who decides that an authority is replaced."""

    BY_ITSELF = auto()
    BY_HAND = auto()
    """Somebody has copied it to where we can't write, and has to be there when it changes."""


class Usage(StrEnum):
    """Which side of a connection shows a certificate."""

    SERVER = "server"
    CLIENT = "client"


class WantedLeaf(msgspec.Struct, frozen=True):
    """A certificate that one of our processes shows."""

    name: str
    """Of its Secret."""
    usage: Usage
    purpose: str
    service: str = ""
    """The Service in front of its servers."""
    configuration: str = ""
    """The MutatingWebhookConfiguration that has to trust it."""

    def names(self, namespace: str) -> frozenset[str]:
        """The host names and addresses that a server answers to."""
        if self.usage is Usage.CLIENT:
            return frozenset()
        within = f"{self.service}.{namespace}"
        services = {self.service, within, f"{within}.svc", f"{within}.svc.cluster.local"}
        return frozenset({*services, "localhost", "127.0.0.1", "::1"})


class WantedAuthority(msgspec.Struct, frozen=True):
    """An authority, and the leaves under it."""

    name: str
    """Of its Secret."""
    rotation: Rotation
    life: timedelta
    leaves: tuple[WantedLeaf, ...]


class Policy(msgspec.Struct, frozen=True):
    """How long things last."""

    leaf_life: timedelta = 90 * DAY
    overlap: timedelta = timedelta(hours=1)
    """How long old and new are both trusted, before and after the change: the kubelet may need two
    minutes to bring a Secret into a pod, and a machine that was asleep needs longer."""
    backdate: timedelta = timedelta(hours=1)
    """How long ago a new certificate begins, for clocks that are behind."""
    skew: timedelta = timedelta(minutes=5)
    """How far apart clocks may be before we take one for wrong."""


POLICY: Final = Policy()
WEBHOOKS: Final = WantedLeaf(
    name=installed.WEBHOOKS_TLS_SECRET,
    usage=Usage.SERVER,
    purpose="the API server asks the webhooks",
    service=installed.WEBHOOKS,
    configuration=installed.WEBHOOKS,
)
EXTENDER: Final = WantedLeaf(
    name=installed.EXTENDER_TLS_SECRET,
    usage=Usage.SERVER,
    purpose="the extender streams the demand",
    service=installed.EXTENDER,
)
RECONCILER: Final = WantedLeaf(
    name=installed.RECONCILER_TLS_SECRET,
    usage=Usage.CLIENT,
    purpose="the reconciler reads the demand",
)
VERBS: Final = WantedLeaf(
    name=installed.VERBS_TLS_SECRET,
    usage=Usage.SERVER,
    purpose="the scheduler asks the extender",
    service=installed.EXTENDER,
)
OWN: Final = WantedAuthority(
    name=installed.OWN_AUTHORITY_SECRET,
    rotation=Rotation.BY_ITSELF,
    life=3 * 365 * DAY,
    leaves=(WEBHOOKS, EXTENDER, RECONCILER),
)
SCHEDULER: Final = WantedAuthority(
    name=installed.SCHEDULER_AUTHORITY_SECRET,
    rotation=Rotation.BY_HAND,
    life=20 * 365 * DAY,
    leaves=(VERBS,),
)
"""kube-scheduler reads the authority of its extenders once, from its own configuration."""
WANTED: Final = (OWN, SCHEDULER)
