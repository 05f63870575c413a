"""One account per test, with one project behind one token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hetzner.fake.api import Account
from tests.hetzner.fake.project import Project
from tests.hetzner.fake.serving import serve
from tests.hetzner.story import Story

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

TOKEN = "jEheVytlAoFl7F8MqUQ7jAo2hOXASztXZTkn5LZjEQfJsfC1J5ajnoHnWjwTdoXC"  # made up


@pytest.fixture
def project() -> Project:
    return Project()


@pytest.fixture
def account(project: Project) -> Account:
    return Account({TOKEN: project})


@pytest.fixture
def endpoint(account: Account) -> Iterator[str]:
    with serve(account) as address:
        yield address


@pytest.fixture
async def story(project: Project, endpoint: str) -> AsyncIterator[Story]:
    told = Story(project, endpoint=endpoint, token=TOKEN)
    yield told
    for cloud in told.clouds:
        await cloud.close()
