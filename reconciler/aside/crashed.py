"""Subjects are put aside if a step about them crashed (reconciler/effects/crashing.py).

Their objects can be read, so nothing stands in for them. They are tried again after a change, and
otherwise when the wait is over.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reconciler.aside.ledger import PutAside
from reconciler.aside.objects import versions_of

if TYPE_CHECKING:
    from growth.instant import Instant
    from reconciler.core.actions import CrashedStep, Subject
    from reconciler.core.world import World


def with_crashed(world: World, now: Instant) -> World:
    """The world in which the subjects of new crashes are put aside."""
    aside = world.ledger.aside
    if not world.crashes and not aside.crashes:
        return world
    new = {
        subject: crash
        for subject, crash in world.crashes.items()
        if aside.crashes.get(subject) != crash
        and crash.again_at > now.monotonic
        # The cache may still lack what the steps before have written, which is no change.
        and subject not in world.busy
    }
    known = {each: aside.crashes[each] for each in aside.crashes.keys() & world.crashes.keys()}
    subjects = {subject: _put_aside(subject, crash, world) for subject, crash in new.items()}
    changed = replace(aside, subjects={**aside.subjects, **subjects}, crashes={**known, **new})
    return world.remembering(replace(world.ledger, aside=changed))


def _put_aside(subject: Subject, crash: CrashedStep, world: World) -> PutAside:
    before = world.ledger.aside.subjects.get(subject)
    if before is not None and before.is_poison:
        return before
    return PutAside(
        subject=subject,
        versions=versions_of(subject, world),
        why=crash.why,
        is_poison=False,
        until=crash.again_at,
        # If the step that crashed was to tell of it, another try would crash at once.
        is_told=before is not None and before.is_told,
    )
