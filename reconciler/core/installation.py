"""Which installation of growth this is, so that its machines can be told from those of another one.

Two clusters may have the same id in one project: a copy has the UID of its original. So each
installation draws an id of its own, which is a label on its machines where the provider has labels.
It is kept on the Lease, together with the time at which the leader was last alive, and that is how
a cluster from a backup is told from its original: both know the id of the backup, but in the copy,
nobody has led since the backup was made. Whoever finds that nobody has led for a while goes on
under a new id and remembers when the former one ended. What was bought under the former id after
that was bought by the other one.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from growth.api.written import write_time
from growth.foreign_text import parse_time

if TYPE_CHECKING:
    from growth.instant import Instant

LONGEST_ABSENCE: Final = timedelta(minutes=5)
"""A rollout or a failover takes less, and a backup is older."""
MOST_FORMER: Final = 50
"""The number of former ids that are remembered."""


class FormerInstallation(msgspec.Struct, frozen=True):
    """An id that was in use until a time."""

    id: str
    ended: str


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """The id of this installation, and those that it has had before."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f-]{1,36}$")]
    former: tuple[FormerInstallation, ...] = ()

    def ended_at(self, former: str) -> datetime | None:
        """When a former id ended; None if it isn't one."""
        return next((parse_time(each.ended) for each in self.former if each.id == former), None)


def installation_from(text: str | None) -> Installation | None:
    """What is kept on the Lease; None if there is nothing that can be read."""
    try:
        kept = msgspec.json.decode(text or "", type=Installation)
        for each in kept.former:
            parse_time(each.ended)
    except (msgspec.DecodeError, ValueError):
        return None
    return kept


def installation_text(installation: Installation) -> str:
    """The text to keep."""
    return msgspec.json.encode(installation).decode()


def continued(
    kept: Installation | None, now: Instant, *, vacant_for: float, drawn: str
) -> Installation:
    """The installation from now on, with `drawn` as its id if it needs a new one."""
    if kept is None:
        return Installation(id=drawn)
    absence = timedelta(seconds=vacant_for)
    if absence <= LONGEST_ABSENCE:
        return kept
    ended = FormerInstallation(kept.id, write_time(now.wall - absence))
    return Installation(id=drawn, former=(*kept.former, ended)[-MOST_FORMER:])
