"""Fetches one page over HTTP within fixed limits, from public addresses only.

Above is ``web_fetch``, which imports this module when it is first needed; below are httpx2 and the address guard.
Environment proxies, cookies of earlier calls and credentials play no part.
"""

import asyncio
import ssl
import zlib

import httpx2

from ._address_guard import AddressGuard, AddressRefusedError, UnknownHostError
from ._page import FetchError, FetchLimits, Moved, Page

CONNECT_TIMEOUT_S = 10.0
USER_AGENT = "agentframework-webfetch"
# Only gzip, because it can be unpacked piece by piece under a limit.
HEADERS = {"user-agent": USER_AGENT, "accept": "text/markdown, text/html, */*;q=0.5", "accept-encoding": "gzip"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRY = frozenset({408, 425, 429})


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Connects to addresses the guard has judged, under the name that was asked for (Host header, TLS name)."""

    def __init__(self, guard: AddressGuard, tls: ssl.SSLContext) -> None:
        self._guard = guard
        self._inner = httpx2.AsyncHTTPTransport(verify=tls, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        host = request.url.raw_host.decode("ascii")
        addresses = await self._guard.addresses(host, _port(request.url))
        for address in addresses[:-1]:
            try:
                return await self._inner.handle_async_request(_to_address(request, host, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._inner.handle_async_request(_to_address(request, host, addresses[-1]))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _to_address(request: httpx2.Request, host: str, address: str) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


class PageFetcher:
    """`fetch` may run several times at once. The TLS configuration is loaded once; build it off the event loop."""

    def __init__(self, guard: AddressGuard, limits: FetchLimits) -> None:
        self._guard = guard
        self._limits = limits
        self._tls = httpx2.create_ssl_context(trust_env=False)

    async def fetch(self, address: str) -> Page | Moved:
        """GET ``address``. Raises `FetchError`."""
        try:
            async with asyncio.timeout(self._limits.deadline_s):
                return await self._follow(_checked(address))
        except TimeoutError:
            raise FetchError(f"no complete answer within {self._limits.deadline_s:g} s; retrying may help") from None
        except (AddressRefusedError, UnknownHostError) as error:
            raise FetchError(f"{error}; do not retry") from error
        except httpx2.HTTPError as error:
            raise FetchError(_worded(error)) from error

    async def _follow(self, url: httpx2.URL) -> Page | Moved:
        async with httpx2.AsyncClient(
            transport=_GuardedTransport(self._guard, self._tls),
            headers=HEADERS,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(self._limits.deadline_s, connect=CONNECT_TIMEOUT_S),
        ) as client:
            for _ in range(self._limits.max_redirects + 1):
                async with client.stream("GET", url) as response:
                    if response.status_code not in _REDIRECTS or "location" not in response.headers:
                        return await self._page(response)
                    target = _checked(str(url.join(response.headers["location"])))
                    if not _same_site(url, target):
                        return Moved(response.status_code, str(url), str(target))
                url = target
        raise FetchError(f"more than {self._limits.max_redirects} redirects; do not retry")

    async def _page(self, response: httpx2.Response) -> Page:
        status = response.status_code
        if not response.is_success:
            hint = "retrying later may help" if status >= 500 or status in _RETRY else "do not retry"
            raise FetchError(f"HTTP {status} {response.reason_phrase}".rstrip() + f" from {response.url}; {hint}")
        body = _Body(response.headers.get("content-encoding", ""), self._limits.max_bytes)
        async for data in response.aiter_raw():
            body.add(data)
        return Page(str(response.url), response.headers.get("content-type", ""), body.finish())


class _Body:
    """A body within a limit that holds for the unpacked bytes, however small they were packed."""

    def __init__(self, encoding: str, limit: int) -> None:
        encoding = encoding.strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise FetchError(f"the answer is packed as {encoding}, which was not asked for; do not retry")
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding.endswith("gzip") else None
        self._limit = limit
        self._data = bytearray()

    def add(self, data: bytes) -> None:
        if self._unpack is not None:
            try:
                data = self._unpack.decompress(data, self._limit + 1 - len(self._data))
            except zlib.error:
                raise FetchError("the answer is not valid gzip; do not retry") from None
        self._data += data
        if len(self._data) > self._limit:
            raise FetchError(f"the page is larger than {self._limit:,} bytes; do not retry")

    def finish(self) -> bytes:
        if self._unpack is not None and not self._unpack.eof and self._data:
            raise FetchError("the answer ended too early; retrying may help")
        return bytes(self._data)


def _checked(address: str) -> httpx2.URL:
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL as error:
        raise FetchError(f"not a valid URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise FetchError(f"only http and https URLs with a host can be fetched, not {address[:200]}")
    if url.userinfo:
        raise FetchError("a URL with user name or password is not fetched; do not put credentials into URLs")
    if not 0 < _port(url) < 65_536:
        raise FetchError(f"{url.port} is not a port")
    return url.copy_with(fragment=None)


def _port(url: httpx2.URL) -> int:
    return url.port if url.port is not None else 443 if url.scheme == "https" else 80


def _same_site(old: httpx2.URL, new: httpx2.URL) -> bool:
    """Same host and port; from http to https on the standard ports is the same site too, the way back is not."""
    if old.host != new.host:
        return False
    if old.scheme == new.scheme:
        return _port(old) == _port(new)
    return (_port(old), _port(new)) == (80, 443)


def _worded(error: httpx2.HTTPError) -> str:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and len(causes) < 20:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the TLS certificate is not valid ({cause.verify_message}); do not retry"
    if isinstance(error, httpx2.TimeoutException):
        return "the server did not answer in time; retrying may help"
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return "the TLS connection failed: this is no https server, or its protocol is too old; do not retry"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "the connection was refused: nothing listens on that port; retrying will hardly help"
    if isinstance(error, httpx2.ConnectError):
        return "the server cannot be reached; retrying may help"
    return f"the connection broke ({type(error).__name__}); retrying may help"
