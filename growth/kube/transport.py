"""The connection to the API server: requests with timeouts, and errors by reaction.

The client library provides the address and the credentials; requests are sent with aiohttp. The
library's own request method encodes each body again, changes the content type of a JSON patch,
waits five minutes, and lets a `.netrc` file add credentials. Answers are bytes: each caller decodes
the few fields that it needs.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import aiohttp
import msgspec

import growth
from growth.clocks import wall_clock
from growth.errors import Misconfigured
from growth.kube.call import Call, Query, checked_path, pairs
from growth.kube.credentials import Credentials
from growth.kube.errors import Denied, NotFound, Unreachable, error_of, status_of
from growth.kube.hanging_up import AbruptResponse
from growth.kube.kubeconfig import Access, access
from growth.kube.tls import Tls
from growth.kube.warnings import ServerWarnings

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

__all__ = ["Connection", "NotFound", "Response", "connect"]


class Response(msgspec.Struct, frozen=True):
    """A successful answer; others are raised as errors."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as dicts and lists."""
        return msgspec.json.decode(self.body)

    @property
    def date(self) -> datetime:
        """The time of the answer by the API server's clock; by ours if it doesn't say."""
        told = self.headers.get("Date")
        return parsedate_to_datetime(told) if told else wall_clock()


class Connection:
    """A connection to the API server; an async context manager."""

    def __init__(self, *, access: Access, tls: Tls, process: str) -> None:
        self.server = _without_credentials(access.configuration.host)
        self._credentials = Credentials(access, tls=tls)
        self._tls_name = access.configuration.tls_server_name
        self._proxy = access.configuration.proxy or _proxy_from_environment(self.server)
        self._headers = {
            "User-Agent": f"growth/{growth.__version__} ({process})",
            "Accept": "application/json",
            # The server would gzip answers above 128 KB, which is slower in the same network.
            "Accept-Encoding": "identity",
        }
        self._warnings = ServerWarnings()
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=2**18,
            response_class=AbruptResponse,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: object = None,
        content_type: str = "application/json",
        timeout: float = 10.0,  # noqa: ASYNC109 - also over the second try, and named in the error
    ) -> Response:
        """Send a request; returns the complete answer. Bytes are sent as is, others as JSON."""
        call = Call(
            method=method,
            path=checked_path(path),
            query=pairs(query),
            body=body if isinstance(body, bytes | None) else msgspec.json.encode(body),
            content_type=content_type,
        )
        async with self._answering(call), _limit(timeout):
            # The second try uses credentials that are read again, in case they were just replaced.
            try:
                return await self._answer(call)
            except Denied as denied:
                if not self._credentials.rejected(denied):
                    raise
            except aiohttp.ClientConnectorCertificateError:
                if not self._credentials.doubted():
                    raise
            return await self._answer(call)

    @asynccontextmanager
    async def stream(
        self,
        path: str,
        *,
        query: Query,
        timeout: float = 10.0,  # noqa: ASYNC109 - limits the wait for the answer, not the stream
        silence: float = 60.0,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Open a watch: it must begin within `timeout` and never pause longer than `silence`.

        Network errors inside the block are raised as `Unreachable` too.
        """
        call = Call(method="GET", path=checked_path(path), query=pairs(query))
        async with self._answering(call):
            async with _limit(timeout):
                response = await self._open(call, silence=silence)
                if response.status != 200:
                    await self._raise(call, response)
            async with response:
                yield response

    async def _answer(self, call: Call) -> Response:
        async with await self._open(call, silence=None) as response:
            if not 200 <= response.status < 300:
                await self._raise(call, response)
            body = await response.read()
        return Response(status=response.status, headers=response.headers, body=body)

    async def _raise(self, call: Call, response: aiohttp.ClientResponse) -> None:
        async with response:
            said = status_of(await response.read())
        error = error_of(call, code=response.status, said=said, headers=response.headers)
        if isinstance(error, Denied):
            self._credentials.rejected(error)
        raise error

    async def _open(self, call: Call, *, silence: float | None) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("the connection is used outside its `async with` block")
        content_type = {} if call.body is None else {"Content-Type": call.content_type}
        credentials = await self._credentials.headers()
        response = await self._session.request(
            call.method,
            self.server + call.path,
            params=call.query,
            data=call.body,
            headers=self._headers | content_type | credentials,
            allow_redirects=False,
            ssl=self._credentials.tls,
            proxy=self._proxy,
            server_hostname=self._tls_name,
            # The callers have limits of their own. aiohttp's default would end each watch after
            # five minutes.
            timeout=aiohttp.ClientTimeout(total=None, sock_read=silence),
        )
        self._warnings.tell(response.headers.getall("Warning", ()))
        return response

    @asynccontextmanager
    async def _answering(self, call: Call) -> AsyncIterator[None]:
        """Turn network errors into our own, with the request and the server in the text."""
        try:
            yield
        except TimeoutError as error:
            late = str(error) or "no bytes for too long"
            raise Unreachable(f"{call.action}: {self.server}: {late}") from None
        except aiohttp.ClientConnectorCertificateError as error:
            self._credentials.doubted()
            raise Misconfigured(
                f"{call.action}: {self.server}: {error.certificate_error};"
                " the CA in the kubeconfig isn't that of this server"
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise Unreachable(f"{call.action}: {self.server}: {_plainly(error)}") from None


async def connect(
    *, kubeconfig: Path | None = None, context: str | None = None, process: str = "growth"
) -> Connection:
    """The connection from a kubeconfig or the pod's service account; not opened yet."""
    found = await access(kubeconfig=kubeconfig, context=context)
    tls = await asyncio.to_thread(Tls, found)
    return Connection(access=found, tls=tls, process=process)


@asynccontextmanager
async def _limit(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TimeoutError(f"no answer within {seconds:g} s") from None


def _plainly(error: Exception) -> str:
    """The error in one line; some network errors have no text, others several lines."""
    if isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error  # the outer text contains the address of the TLS context in memory
    return " ".join(str(error).split()) or type(error).__name__


def _without_credentials(host: str) -> str:
    parts = urlsplit(host)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl().rstrip("/")


def _proxy_from_environment(server: str) -> str | None:
    """The proxy of HTTPS_PROXY and NO_PROXY, as in kubectl; aiohttp would also read `.netrc`."""
    parts = urlsplit(server)
    if urllib.request.proxy_bypass(parts.netloc):
        return None
    return urllib.request.getproxies_environment().get(parts.scheme)
