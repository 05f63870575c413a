"""Do the certificates exist, are they valid, and are they trusted where needed?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from certs.objects import Objects
from certs.showing import rows
from certs.wanted import POLICY, WANTED
from growth.api.installed import CERTS
from growth.cli.doctor.examination.finding import fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from certs.showing import Row
    from growth.cli.doctor.examination.finding import ExaminedCluster, Finding, Findings

SOON: Final = timedelta(days=7)
"""Certificates are renewed a month before they expire; one that expires sooner wasn't renewed."""


async def examine_certificates(place: ExaminedCluster) -> Findings:
    """A finding for each bad certificate, or one for all."""
    objects = Objects(place.connection, namespace=place.namespace, wanted=WANTED, policy=POLICY)
    found = await objects.read()
    listed = rows(found.state, policy=POLICY, now=found.now)
    if not any(row.until for row in listed):
        return
    bad = list(_bad(listed, place, now=found.now))
    for finding in bad:
        yield finding
    if not bad:
        first = min(row.until for row in listed if row.until)
        yield ok("certificates", f"all are valid; the first expires in {_days(first, found.now)}")


def _bad(listed: tuple[Row, ...], place: ExaminedCluster, *, now: datetime) -> Iterator[Finding]:
    logs = f"kubectl -n {place.namespace} logs deployment/{CERTS}"
    for row in listed:
        if row.until is not None and row.until < now:
            text = f"{row.name} expired {(now - row.until).days} days ago"
            yield fail(
                "certificates", text, f"growth certs run-once; why it wasn't renewed: {logs}"
            )
        elif not row.good:
            text = f"{row.name}: {row.standing or 'it is not usable'}"
            yield fail("certificates", text, f"growth certs run-once, or see {logs}")
        elif row.until is not None and row.until - now < SOON:
            text = f"{row.name} expires in {_days(row.until, now)} and wasn't renewed"
            yield warn("certificates", text, f"growth certs rotate {row.name}; see {logs}")


def _days(moment: datetime, now: datetime) -> str:
    return f"{(moment - now).days} days"
