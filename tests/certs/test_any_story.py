"""Whatever is done to our Secrets, and whenever the writer dies: trust holds, and all ends well."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from typing_extensions import override

from certs.rule import due
from certs.wanted import DAY, OWN, POLICY, SCHEDULER, WANTED
from growth.errors import GrowthError
from tests.certs.api import WEBHOOKS, Api, Killed
from tests.certs.build import finish, objects, steps_due, tend_once
from tests.certs.trust import broken_meetings, run_out

if TYPE_CHECKING:
    from certs.objects import CertificatesFound, Objects

MINUTE = timedelta(minutes=1)
SPANS = st.one_of(
    st.integers(0, 90).map(lambda minutes: minutes * MINUTE),
    st.integers(1, 10).map(lambda days: days * DAY),
)
POINTS = st.integers(-1, 12)
LEAVES = st.sampled_from([leaf.name for authority in WANTED for leaf in authority.leaves])
SKEWS = st.floats(-1, 1).map(lambda part: part * POLICY.skew)


class Story(RuleBasedStateMachine):
    """A cluster, a writer that may die at any write, and people who do things."""

    def __init__(self) -> None:
        super().__init__()
        self.api = Api()
        self.api.install_webhooks()
        tend_once(self.api)
        self.frozen: tuple[Objects, CertificatesFound] | None = None

    @rule(span=SPANS, before=POINTS, after=POINTS, skew=SKEWS)
    def time_passes(self, span: timedelta, before: int, after: int, skew: timedelta) -> None:
        api = self.api
        api.skew = skew
        api.killed_before = api.writes + before if before >= 0 else -1
        api.killed_after = api.writes + after if after >= 0 else -1
        with contextlib.suppress(Killed):
            tend_once(api)
        api.pass_time(span)

    @rule(name=st.one_of(LEAVES, st.sampled_from([OWN.name, SCHEDULER.name])))
    def a_person_asks_for_a_rotation(self, name: str) -> None:
        with contextlib.suppress(KeyError):
            self.api.ask_for_rotation(name)

    # Where the key of its authority is lost too, a new leaf can't wait until it is trusted.
    @precondition(lambda self: self.has_key)
    @rule(name=LEAVES)
    def a_leaf_is_deleted(self, name: str) -> None:
        with contextlib.suppress(KeyError):
            self.api.remove(name)
        self.a_round_is_whole()

    @precondition(lambda self: self.has_key)
    @rule(name=LEAVES, key=st.sampled_from(["tls.key", "ca.crt"]))
    def half_of_a_leaf_is_overwritten(self, name: str, key: str) -> None:
        with contextlib.suppress(KeyError):
            self.api.change(name, **{key: b"-----BEGIN"})
        self.a_round_is_whole()

    # In the middle of a rotation only one of the two would be found again with the leaves.
    @precondition(lambda self: self.api.bundle.count(b"BEGIN") == 1 and not self.rotating)
    @rule()
    def the_authority_is_deleted(self) -> None:
        self.api.remove(OWN.name)
        self.a_round_is_whole()

    @rule()
    def the_webhook_configuration_is_applied_anew(self) -> None:
        self.api.install_webhooks()
        self.a_round_is_whole()

    @rule()
    def nobody_may_write_the_configuration(self) -> None:
        self.api.read_only = {WEBHOOKS}

    @rule()
    def nobody_may_read_the_configuration(self) -> None:
        self.api.forbidden = {WEBHOOKS}

    @rule()
    def rights_are_given_back(self) -> None:
        self.api.read_only, self.api.forbidden = set(), set()

    @rule()
    def another_writer_reads_and_freezes(self) -> None:
        writer = objects(self.api)
        self.frozen = writer, finish(writer.read())

    @precondition(lambda self: self.frozen is not None)
    @rule()
    def the_frozen_writer_wakes_up(self) -> None:
        assert self.frozen is not None
        writer, found = self.frozen
        self.frozen = None
        for write in due(found.state, policy=POLICY, now=found.now):
            with contextlib.suppress(GrowthError, Killed):
                finish(writer.carry_out(write, now=found.now))

    def a_round_is_whole(self) -> None:
        """Two disasters in one minute may take all traces of an authority away."""
        self.api.killed_before = self.api.killed_after = -1
        tend_once(self.api)

    @property
    def has_key(self) -> bool:
        return b"BEGIN" in self.api.content(OWN.name).get("tls.key", b"")

    @property
    def rotating(self) -> bool:
        data = self.api.content(OWN.name)
        return "next.crt" in data or "previous.crt" in data

    def whatever_is_shown_is_trusted(self) -> None:
        assert broken_meetings(self.api) == []
        assert run_out(self.api) == []

    @override
    def teardown(self) -> None:
        """Left alone with its rights, it all ends well."""
        api = self.api
        api.read_only, api.forbidden = set(), set()
        api.killed_before = api.killed_after = -1
        for _ in range(8):
            tend_once(api)
            api.pass_time(POLICY.overlap + 3 * POLICY.skew)
        assert steps_due(api) == []
        assert api.bundle.count(b"BEGIN") == 1
        self.whatever_is_shown_is_trusted()


class LongStory(Story):
    """The same, told at length."""


TestAnyStory = Story.TestCase
TestAnyStory.settings = settings(
    max_examples=12,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestAnyLongStory = pytest.mark.timeout(1800)(pytest.mark.long(LongStory.TestCase))
TestAnyLongStory.settings = settings(
    TestAnyStory.settings, max_examples=400, stateful_step_count=40
)
