"""Any story of buying, giving back, crashing and failing ends with exactly what was wanted."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from reconciler.providers.hetzner.labels import CLUSTER_LABEL, REQUEST_UID_LABEL
from reconciler.providers.port import Accepted, DeleteOutcome
from tests.hetzner.build import CLUSTER
from tests.hetzner.conftest import TOKEN
from tests.hetzner.fake.api import Account
from tests.hetzner.fake.faults import STATUSES, Fault, Kind
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.serving import serve
from tests.hetzner.story import Story

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from reconciler.providers.port import CreateAnswer

NAMES = st.sampled_from([f"default-{number}" for number in range(4)])
CALLS = st.sampled_from(
    ["*", "GET /servers", "POST /servers", "DELETE /servers/{id}", "POST /placement_groups"]
)
# A server that Hetzner says isn't there is believed to be gone, so that must not be a lie.
PASSING = sorted(set(STATUSES) - {"rate_limit_exceeded", "not_found"})


class AnyStory(RuleBasedStateMachine):
    """One cluster, one project with a stranger's server in it, and whatever happens."""

    def __init__(self) -> None:
        super().__init__()
        self.project = Project(listing_lag=4)
        self.stranger = self.project.add_foreign("default-0-of-a-stranger")
        self.ends = contextlib.ExitStack()
        endpoint = self.ends.enter_context(serve(Account({TOKEN: self.project})))
        self.runner = self.ends.enter_context(asyncio.Runner())
        self.story = self.run(self._begin(endpoint))

    async def _begin(self, endpoint: str) -> Story:
        story = Story(self.project, endpoint=endpoint, token=TOKEN)
        story.uses(placementGroup="Preferred")
        return story

    def run(self, doing: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(doing)

    @rule(name=NAMES)
    def buy(self, name: str) -> None:
        answer = self.run(self.story.create(name))

        if isinstance(answer, Accepted):
            server = self.project.servers[int(answer.machine_id)]
            assert (server.name, server.labels[CLUSTER_LABEL]) == (name, CLUSTER)

    @rule(name=NAMES)
    def give_back(self, name: str) -> None:
        listing = self.run(self.story.provider.list())
        if (machine := listing.machines.get(name)) is not None:
            answer = self.run(self.story.delete(machine))
            if answer.outcome is DeleteOutcome.GONE:
                assert name not in self.story.names

    @rule(call=CALLS, kind=st.sampled_from(Kind), code=st.sampled_from(PASSING))
    def go_wrong(self, call: str, kind: Kind, code: str) -> None:
        self.project.faults.add(Fault(call=call, kind=kind, code=code))

    @rule(seconds=st.sampled_from([1, 3, 10, 61]))
    def wait(self, seconds: int) -> None:
        self.project.pass_time(seconds)

    @rule()
    def restart(self) -> None:
        self.run(self._restart())

    async def _restart(self) -> None:
        self.story.restart()

    @invariant()
    def every_server_of_ours_says_whose_it_is(self) -> None:
        ours = [each for each in self.project.servers.values() if each is not self.stranger]
        assert all(each.labels[REQUEST_UID_LABEL] == f"uid-{each.name}" for each in ours)
        assert len({each.name for each in ours}) == len(ours)
        assert self.stranger.gone_from is None

    @override
    def teardown(self) -> None:
        try:
            self.run(self._settles())
        finally:
            self.run(self._end())
            self.ends.close()

    async def _settles(self) -> None:
        """Without faults, all that is wanted is there after a while, and then nothing of it."""
        self.project.faults.waiting.clear()
        wanted = {f"default-{number}" for number in range(4)}
        answers: list[CreateAnswer] = []
        for _ in range(10):
            self.project.pass_time(61)
            answers = [await self.story.create(name) for name in sorted(wanted)]
        assert all(isinstance(answer, Accepted) for answer in answers)
        assert set(await self.story.machines()) == wanted
        for machine in (await self.story.machines()).values():
            assert (await self.story.delete(machine)).outcome is DeleteOutcome.ACCEPTED
        self.project.pass_time(61)
        assert await self.story.machines() == {}
        assert list(self.project.servers.values()) == [self.stranger]

    async def _end(self) -> None:
        for cloud in self.story.clouds:
            await cloud.close()


def play(examples: int, *, steps: int) -> None:
    run_state_machine_as_test(
        AnyStory,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_any_story_ends_with_what_was_wanted_and_nothing_else() -> None:
    play(5, steps=20)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_any_long_story_ends_with_what_was_wanted_and_nothing_else() -> None:
    play(150, steps=50)
