"""Events that the tests speak of."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from growth.kube.events import Event, ObjectReference, Severity

START = datetime(2026, 1, 1, tzinfo=UTC)


def wall(now: float) -> datetime:
    return START + timedelta(seconds=now)


def pod(number: int, namespace: str = "shop") -> ObjectReference:
    return ObjectReference("v1", "Pod", f"web-{number}", namespace, f"uid-{number}")


def no_place(
    number: int = 0,
    *,
    note: str = "needs 96Gi of memory",
    reason: str = "NoPlace",
    namespace: str = "shop",
) -> Event:
    return Event(
        regarding=pod(number, namespace),
        reason=reason,
        action="Planning",
        note=note,
        severity=Severity.WARNING,
    )
