"""Single calls to the API: in threads, within the rate budget, without retries.

The client library blocks, sleeps between its own retries, and repeats a create whose answer was
lost. Here, a call is made once or not at all, and the loop decides about retries, where they are
visible. Each thread has its own client, because sessions can't be shared. A new token takes effect
with the next call. No error raised here contains a part of the token.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from hcloud import APIException, Client
from requests.exceptions import RequestException

import growth
from growth.errors import RetryLater
from reconciler.providers.hetzner.failures import (
    ANSWER_LOST,
    NOT_READABLE,
    OVER_BUDGET,
    CallSubject,
    Failure,
    without_secrets,
)
from reconciler.providers.hetzner.metrics import ANSWERED
from reconciler.providers.hetzner.rates import Purpose, RateBucket, after_answer, exhausted
from reconciler.providers.hetzner.wire import Meta
from reconciler.providers.port import ProviderTrouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from requests import Response, Session

    from growth.instant import Instant
    from reconciler.providers.hetzner.metrics import ProjectMetrics

ENDPOINT: Final = "https://api.hetzner.cloud/v1"
UNREADABLE: Final = Failure(
    code=NOT_READABLE, text="Hetzner's answer doesn't have the documented form"
)
"""For example, the error page of a proxy, on which the client library fails."""
Entry = TypeVar("Entry")
Value = TypeVar("Value")
# The library's own default is to wait for ever.
TIMEOUTS = (5.0, 30.0)
"""Seconds to connect, and to wait for the next bytes of an answer."""
THREADS = 10
CREATES_AT_ONCE = 8
"""Fewer than threads, so that a burst of purchases never keeps a delete waiting."""
PAGE = 50
"""Hetzner's maximum number of entries on a page."""


class CallFailed(RetryLater):
    """Hetzner refused a call, or its result isn't known."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason, after=failure.seconds or None)
        self.failure = failure


class Pages(NamedTuple, Generic[Entry]):
    """The entries of a listing, and whether they are all."""

    entries: tuple[Entry, ...]
    is_complete: bool
    calls: int
    """The number of pages read."""


class HetznerPage(NamedTuple, Generic[Entry]):
    """One page of a listing."""

    entries: tuple[Entry, ...]
    next_page: int | None
    total: int | None
    """The number of entries on all pages."""


class _Heard(NamedTuple):
    """The result of a call in a thread."""

    payload: dict[str, Any] | None
    failure: Failure | None
    headers: Mapping[str, str]
    """The keys are case-insensitive."""


class Calls:
    """The API calls with one token, which may be replaced at any time."""

    def __init__(
        self, *, now: Callable[[], Instant], metrics: ProjectMetrics, endpoint: str = ENDPOINT
    ) -> None:
        self._now = now
        self._metrics = metrics
        self._endpoint = endpoint
        self._token = ""
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="hetzner")
        self._own = threading.local()
        self._clients: list[Client] = []
        self._creates = asyncio.Semaphore(CREATES_AT_ONCE)
        self._standing = RateBucket(at=now().monotonic)
        self._under_way = 0

    @property
    def token(self) -> str:
        """The current token."""
        return self._token

    @property
    def standing(self) -> RateBucket:
        """What is left of the rate limit now."""
        return self._standing.later(self._now().monotonic)

    def use(self, token: str) -> None:
        """Use this token from the next call on."""
        self._token = token

    async def get(
        self, path: str, *, purpose: Purpose = Purpose.LIST, **params: Any
    ) -> dict[str, Any]:
        """Read something. A failed read never counts as a refusal to sell."""
        try:
            return await self._call("GET", path, purpose=purpose, params=params)
        except CallFailed as failed:
            failure = msgspec.structs.replace(failed.failure, subject=CallSubject.READING)
            raise CallFailed(failure) from None

    async def create(
        self, path: str, body: Mapping[str, Any], *, secrets: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Create something; `secrets` are strings in the body that no error may contain."""
        async with self._creates:
            return await self._call(
                "POST", path, purpose=Purpose.CREATE, secrets=secrets, json=dict(body)
            )

    async def delete(self, path: str) -> dict[str, Any]:
        """Delete something."""
        return await self._call("DELETE", path, purpose=Purpose.DELETE)

    async def pages(self, path: str, *, key: str, kind: type[Entry], **params: Any) -> Pages[Entry]:
        """All pages of a listing. It is complete if it didn't change between its pages."""
        found: dict[Any, Entry] = {}
        totals: set[int | None] = set()
        calls = 0
        number: int | None = 1
        while number is not None:
            calls += 1
            page = await self.page(path, key=key, kind=kind, page=number, **params)
            for entry in page.entries:
                found[getattr(entry, "id", len(found))] = entry
            totals.add(page.total)
            number = page.next_page
        # If an entry disappears while the pages are read, others move up and one is missed. Then
        # the totals of the pages differ, or they don't match the number of different entries.
        is_complete = totals in ({len(found)}, {None})
        return Pages(tuple(found.values()), is_complete, calls)

    async def page(
        self, path: str, *, key: str, kind: type[Entry], page: int, **params: Any
    ) -> HetznerPage[Entry]:
        """One page of a listing."""
        answer = await self.get(path, page=page, per_page=PAGE, **params)
        entries = decoded_answer(answer.get(key), tuple[kind, ...])  # type: ignore[valid-type]
        pagination = decoded_answer(answer.get("meta"), Meta).pagination
        return HetznerPage(entries, pagination.next_page, pagination.total_entries)

    async def close(self) -> None:
        """Wait for running calls to end, then close their connections."""
        await asyncio.to_thread(self._threads.shutdown)
        for client in self._clients:
            _session(client).close()

    async def _call(
        self, method: str, path: str, *, purpose: Purpose, secrets: Sequence[str] = (), **more: Any
    ) -> dict[str, Any]:
        self._refuse_beyond_budget(purpose)
        # Counted before the call, so that concurrent calls can't overdraw the budget together.
        self._standing = self.standing.drawn()
        self._under_way += 1
        try:
            loop = asyncio.get_running_loop()
            heard = await loop.run_in_executor(
                self._threads, lambda: self._in_thread(method, path, secrets, more)
            )
        finally:
            self._under_way -= 1
        self._learn(heard)
        outcome = heard.failure.code if heard.failure is not None else ANSWERED
        self._metrics.called(method, path, outcome=outcome, standing=self._standing)
        if heard.failure is not None:
            raise CallFailed(self._with_wait(heard.failure, purpose))
        return heard.payload or {}

    def _refuse_beyond_budget(self, purpose: Purpose) -> None:
        wait = self.standing.wait(purpose)
        if wait > 0:
            text = f"{purpose.name.lower()} waits, to leave the rest of the rate limit to others"
            raise CallFailed(Failure(code=OVER_BUDGET, text=text, seconds=wait))

    def _learn(self, heard: _Heard) -> None:
        self._standing = after_answer(
            self.standing,
            heard.headers,
            wall=self._now().wall.timestamp(),
            under_way=self._under_way,
        )
        if heard.failure is not None and heard.failure.trouble is ProviderTrouble.THROTTLED:
            self._standing = exhausted(self._standing)

    def _with_wait(self, failure: Failure, purpose: Purpose) -> Failure:
        if failure.trouble is not ProviderTrouble.THROTTLED:
            return failure
        return msgspec.structs.replace(failure, seconds=max(1.0, self.standing.wait(purpose)))

    def _in_thread(
        self, method: str, path: str, secrets: Sequence[str], more: Mapping[str, Any]
    ) -> _Heard:
        token = self._token
        client = self._client(token)
        self._own.headers = {}
        try:
            payload: object = client.request(method, path, **more)
        except APIException as error:
            return _Heard(None, _failure_of(error, secrets=(token, *secrets)), self._own.headers)
        except RequestException as error:
            # The error's text may contain the whole request.
            text = f"the connection failed before an answer came: {type(error).__name__}"
            return _Heard(None, Failure(code=ANSWER_LOST, text=text), self._own.headers)
        # The library reads an answer before it looks at its form. A proxy's JSON would otherwise
        # end the process as a bug.
        except (KeyError, TypeError):
            return _Heard(None, UNREADABLE, self._own.headers)
        if not isinstance(payload, dict):
            return _Heard(None, UNREADABLE, self._own.headers)
        return _Heard(payload, None, self._own.headers)

    def _client(self, token: str) -> Client:
        """This thread's own client for the token."""
        if getattr(self._own, "token", None) != token:
            self._end_client()
            client = Client(
                token,
                self._endpoint,
                application_name="growth",
                application_version=growth.__version__,
                timeout=TIMEOUTS,
            )
            # Its own retries repeat a create whose answer was lost, and sleep for up to a minute in
            # this thread.
            client._client._retry_max_retries = 0  # noqa: SLF001 - it has no public switch
            # The library hands out no headers, and only they say what is left of the rate limit.
            _session(client).hooks["response"].append(self._keep_headers)
            self._own.client, self._own.token = client, token
            self._clients.append(client)
        own: Client = self._own.client
        return own

    def _end_client(self) -> None:
        """Close the client with the old token."""
        if (old := getattr(self._own, "client", None)) is not None:
            self._clients.remove(old)
            _session(old).close()

    def _keep_headers(self, response: Response, **_: Any) -> None:
        self._own.headers = response.headers


def decoded_answer(value: Any, kind: type[Value]) -> Value:
    """Convert a part of an answer to its type."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        text = f"{UNREADABLE.text}: {error}"
        raise CallFailed(Failure(code=NOT_READABLE, text=text)) from None


def _session(client: Client) -> Session:
    return client._client._session  # noqa: SLF001 - the only access to hooks and close


def _failure_of(error: APIException, *, secrets: Sequence[str]) -> Failure:
    code = error.code if isinstance(error.code, str) else f"http_{error.code}"
    text = f"{error.message}{_fields(error.details)}"
    return Failure(
        code=code,
        text=without_secrets(text, secrets),
        correlation_id=without_secrets(error.correlation_id or "", secrets),
    )


def _fields(details: Any) -> str:
    """Which fields are wrong, and why; without user_data, because its messages may quote it."""
    fields = details.get("fields") if isinstance(details, dict) else None
    told = [
        f"{field['name']}: {', '.join(map(str, field.get('messages', ())))}"
        for field in fields or ()
        if isinstance(field, dict) and field.get("name") not in {None, "user_data"}
    ]
    return f" ({'; '.join(told)})" if told else ""
