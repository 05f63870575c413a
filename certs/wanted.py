"""The certificates that growth needs, their authorities, and their lifetimes."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING, Final

import msgspec

from growth.api import installed

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY: Final = timedelta(days=1)


class Rotation(Enum):
    """How an authority is replaced."""

    BY_ITSELF = auto()
    BY_HAND = auto()
    """A person has copied it to where growth can't write, and must copy the next one too."""


class Usage(StrEnum):
    """The side of a connection that uses a certificate."""

    SERVER = "server"
    CLIENT = "client"


class WantedLeaf(msgspec.Struct, frozen=True):
    """A certificate that one of our processes uses."""

    name: str
    """The name of its Secret."""
    usage: Usage
    purpose: str
    service: str = ""
    """The Service of its servers."""
    configuration: str = ""
    """The MutatingWebhookConfiguration that must trust it."""

    def names(self, namespace: str) -> frozenset[str]:
        """The host names and addresses of a server."""
        if self.usage is Usage.CLIENT:
            return frozenset()
        within = f"{self.service}.{namespace}"
        services = {self.service, within, f"{within}.svc", f"{within}.svc.cluster.local"}
        return frozenset({*services, "localhost", "127.0.0.1", "::1"})


class WantedAuthority(msgspec.Struct, frozen=True):
    """An authority and its leaves."""

    name: str
    """The name of its Secret."""
    rotation: Rotation
    life: timedelta
    leaves: tuple[WantedLeaf, ...]


class Policy(msgspec.Struct, frozen=True):
    """Lifetimes and waits."""

    leaf_life: timedelta = 90 * DAY
    overlap: timedelta = timedelta(hours=1)
    """How long the old and the new one are both trusted, before and after a change. The kubelet may
    need two minutes to update a Secret in a pod, and a suspended machine needs longer."""
    backdate: timedelta = timedelta(hours=1)
    """How far in the past a new certificate begins, for clocks that are behind."""
    skew: timedelta = timedelta(minutes=5)
    """How far clocks may differ before one is considered wrong."""


POLICY: Final = Policy()
WEBHOOKS: Final = WantedLeaf(
    name=installed.WEBHOOKS_TLS_SECRET,
    usage=Usage.SERVER,
    purpose="the API server calls the webhooks",
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
    purpose="the scheduler calls the extender",
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
"""kube-scheduler reads the authority of an extender only when it starts."""
WANTED: Final = (OWN, SCHEDULER)


def without_webhook(wanted: Iterable[WantedAuthority]) -> tuple[WantedAuthority, ...]:
    """The same where no webhook has to be trusted: no webhook configuration is read or written."""
    return tuple(
        msgspec.structs.replace(
            authority,
            leaves=tuple(
                msgspec.structs.replace(leaf, configuration="") for leaf in authority.leaves
            ),
        )
        for authority in wanted
    )
