"""WebFetch against real servers on this machine; what a name resolves to is given by the test."""

import asyncio
import base64
import gzip
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentframework.messages import ImagePart
from agentframework.tools import Tool, ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin._page import FetchLimits
from tools_builtin.web_fetch import web_fetch_tool

Call = Callable[..., Awaitable[ToolResult]]
Fetch = Callable[..., Awaitable[ToolResult]]

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def _answer(
    body: bytes = b"", kind: str = "text/plain", status: str = "200 OK", headers: Mapping[str, str] | None = None
) -> bytes:
    every = {"content-type": kind, "content-length": str(len(body)), "connection": "close", **(headers or {})}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in every.items() if value)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _redirect(target: str, status: str = "302 Found") -> bytes:
    return _answer(status=status, headers={"location": target})


class Site:
    """A server that answers each path with fixed bytes and remembers what it was asked."""

    def __init__(self) -> None:
        self.routes: dict[str, bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]] = {}
        self.requests: list[str] = []
        self.port = 0
        self.busy: set[asyncio.Task[None]] = set()

    @property
    def paths(self) -> list[str]:
        return [request.split()[1] for request in self.requests]

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._answer(reader, writer))
        self.busy.add(task)
        task.add_done_callback(self.busy.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            route = self.routes.get(request.split()[1], _answer(status="404 Not Found"))
            if isinstance(route, bytes):
                writer.write(route)
                await writer.drain()
            else:
                await route(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went away
        finally:
            writer.close()


@asynccontextmanager
async def _serve(host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.connected, host, 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    async with server:
        yield site
        for task in site.busy:
            task.cancel()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with _serve() as running:
        yield running


def _names(**addresses: str | Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    async def resolve(host: str, port: int) -> Sequence[str]:
        if host.replace(".", "_") not in addresses:
            raise OSError("no such name")
        found = addresses[host.replace(".", "_")]
        return [found] if isinstance(found, str) else found

    return resolve


@pytest.fixture
def fetch(call: Call, context: ToolContext) -> Fetch:
    private = web_fetch_tool(allow_private=True)

    async def fetch(url: str, *, tool: Tool = private, **more: Any) -> ToolResult:
        async with asyncio.timeout(20):
            return await call(tool, context, url=url, **more)

    return fetch


def test_the_tool_says_what_it_is() -> None:
    tool = web_fetch_tool()
    assert (tool.name, tool.risk, tool.permission_key) == ("WebFetch", "inspect", "url")
    assert tool.input_schema["required"] == ["url"]
    assert tool.input_schema["additionalProperties"] is False
    assert "5,000,000 bytes in 30 seconds" in tool.description


def test_describing_the_tool_loads_no_http_client() -> None:
    describe = "import sys, tools_builtin.web_fetch as web; web.web_fetch_tool()"
    script = f"{describe}; print(sorted({{'httpx2', 'bs4', 'lxml', 'ddgs'}} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("[]\n", "")


# What comes back


async def test_html_becomes_markdown(site: Site, fetch: Fetch) -> None:
    page = (
        "<!doctype html><title> The  page </title><style>p{}</style><script>track()</script><h1>Head</h1>"
        "<p>Some <b>bold</b> text, <a href='/next'>a link</a>, <a href='javascript:x()'>no link</a>."
        "<ul><li>one<li>two</ul><pre><code class='language-python'>x = 1\n</code></pre>"
        "<table><tr><th>a<th>b<tr><td>1<td>2</table><img src='data:image/png;base64,AAAA' alt='pic'>"
    )
    site.routes["/d/p"] = _answer(page.encode(), "text/html; charset=utf-8")
    result = await fetch(f"http://127.0.0.1:{site.port}/d/p#part", prompt="the list")
    top, _, text = result.content.partition("\n\n")
    assert top == f"http://127.0.0.1:{site.port}/d/p\nTitle: The page\nSought: the list"
    assert text == (
        f"# Head\n\nSome **bold** text, [a link](http://127.0.0.1:{site.port}/next), no link.\n\n- one\n- two\n\n"
        "```python\nx = 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\npic"
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", '{"a": [1, 2]}'),
        ("application/ld+json; charset=utf-8", '{"a": 1}'),
        ("text/xml", "<a>\n <b/>\n</a>"),
        ("image/svg+xml", "<svg><title>t</title></svg>"),
        ("text/markdown", "# Head\n\n<b>stays</b>"),
        ("application/octet-stream", "plain after all"),
        ("", "no type at all"),
    ],
)
async def test_other_text_stays_as_it_is(site: Site, fetch: Fetch, kind: str, body: str) -> None:
    site.routes["/"] = _answer(body.encode(), kind)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert not result.is_error
    assert result.content == f"http://127.0.0.1:{site.port}/\n\n{body}"


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain; charset=iso-8859-1", b"caf\xe9 \x80", "café €"),
        ('text/plain; charset="shift_jis"', "日本".encode("shift_jis"), "日本"),
        ("text/plain", "\ufeff日本".encode(), "日本"),
        ("text/plain; charset=iso-8859-1", "\ufeffcafé".encode("utf-16-le"), "café"),
        ("text/html", b'<meta charset="koi8-r"><p>' + "да".encode("koi8-r"), "да"),
        (
            "text/xml",
            b'<?xml version="1.0" encoding="iso-8859-1"?><a>\xe9</a>',
            '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>',
        ),
        ("text/html", b'<meta charset="utf-16"><p>x', "x"),
        ("text/plain", b"caf\xe9", "café"),
        ("text/plain; charset=punycode", b"caf\xe9", "café"),
        ("text/plain; charset=utf-8", b"bad \xff", "bad \ufffd"),
        ("text/plain; charset=nonsense", "日本".encode(), "日本"),
    ],
)
async def test_the_character_set_is_found(site: Site, fetch: Fetch, kind: str, body: bytes, text: str) -> None:
    site.routes["/"] = _answer(body, kind)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.content.partition("\n\n")[2] == text


async def test_an_image_comes_as_an_image(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(PIXEL, "image/png")
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.images == (ImagePart("image/png", base64.b64encode(PIXEL).decode()),)


async def test_an_image_over_the_limit_is_refused(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(PIXEL + bytes(3_600_000), "image/png")
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.is_error
    assert "the limit is" in result.content
    assert result.images == ()


@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "", "video/mp4"])
async def test_other_binary_files_are_refused(site: Site, fetch: Fetch, kind: str) -> None:
    site.routes["/"] = _answer(b"%PDF-1.7\0\0\1\2", kind)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.is_error
    assert "is not text but" in result.content


async def test_an_empty_page_is_said_to_be_empty(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(b"<script>app()</script>", "text/html")
    assert (await fetch(f"http://127.0.0.1:{site.port}/")).content.endswith("(the page has no text)")


async def test_a_long_page_keeps_its_beginning_within_the_limit(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(b"start " + b"word " * 100_000)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert 29_900 < len(result.content) <= MAX_RESULT_CHARACTERS
    assert "\n\nstart word" in result.content
    assert result.content.endswith("[... 500006 characters in all]")


@pytest.mark.parametrize(
    "page", ["<div>" * 10_000 + "deep", "<!--" * 300_000, "<script>" * 100_000, "<a href='http://[' >x"]
)
async def test_hostile_html_is_survived(site: Site, fetch: Fetch, page: str) -> None:
    site.routes["/"] = _answer(page.encode(), "text/html")
    assert not (await fetch(f"http://127.0.0.1:{site.port}/")).is_error


async def test_scripts_do_not_use_up_what_is_converted_of_a_long_page(site: Site, fetch: Fetch) -> None:
    page = "<script>" + "x" * 1_500_000 + "</SCRIPT ><p>after"
    site.routes["/"] = _answer(page.encode(), "text/html")
    assert (await fetch(f"http://127.0.0.1:{site.port}/")).content.endswith("\n\nafter")


async def test_gzip_is_unpacked(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(gzip.compress(b"packed"), headers={"content-encoding": "gzip"})
    assert (await fetch(f"http://127.0.0.1:{site.port}/")).content.endswith("\n\npacked")


# Limits and failures


@pytest.mark.parametrize("length", ["", "50000000"])
async def test_a_body_over_the_limit_is_refused_while_it_comes(site: Site, fetch: Fetch, length: str) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(_answer(headers={"content-length": length}))
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()

    site.routes["/"] = endless
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.content == "Error: the page is larger than 5,000,000 bytes; do not retry"


async def test_a_small_body_that_unpacks_to_a_large_one_is_refused(site: Site, fetch: Fetch) -> None:
    site.routes["/"] = _answer(gzip.compress(bytes(100_000_000)), headers={"content-encoding": "gzip"})
    assert "larger than 5,000,000 bytes" in (await fetch(f"http://127.0.0.1:{site.port}/")).content


@pytest.mark.parametrize(
    ("encoding", "body", "message"),
    [
        ("br", b"x", "packed as br"),
        ("gzip", b"no gzip", "not valid gzip"),
        ("gzip", gzip.compress(b"cut off", mtime=0)[:-4], "ended too early"),
    ],
)
async def test_a_body_that_cannot_be_unpacked_is_an_error(
    site: Site, fetch: Fetch, encoding: str, body: bytes, message: str
) -> None:
    site.routes["/"] = _answer(body, headers={"content-encoding": encoding})
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.is_error
    assert message in result.content


@pytest.mark.parametrize("begun", [False, True])
async def test_the_deadline_covers_a_body_that_trickles(site: Site, fetch: Fetch, begun: bool) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        if begun:
            writer.write(_answer(headers={"content-length": "1000"}) + b"x")
            await writer.drain()
        await asyncio.Event().wait()

    site.routes["/"] = trickle
    tool = web_fetch_tool(allow_private=True, limits=FetchLimits(deadline_s=0.3))
    result = await fetch(f"http://127.0.0.1:{site.port}/", tool=tool)
    assert result.is_error
    assert "retrying may help" in result.content


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("404 Not Found", "do not retry"),
        ("403 Forbidden", "do not retry"),
        ("429 Too Many Requests", "retrying later may help"),
        ("500 Internal Server Error", "retrying later may help"),
        ("503 Service Unavailable", "retrying later may help"),
        ("302 Found", "do not retry"),
    ],
)
async def test_an_http_error_says_whether_to_retry(site: Site, fetch: Fetch, status: str, hint: str) -> None:
    site.routes["/"] = _answer(b"details", status=status)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert result.content == f"Error: HTTP {status} from http://127.0.0.1:{site.port}/; {hint}"
    assert result.is_error


async def test_a_closed_port_is_called_refused(fetch: Fetch) -> None:
    async with _serve() as gone:
        port = gone.port
    result = await fetch(f"http://127.0.0.1:{port}/")
    assert result.is_error
    assert "connection was refused" in result.content


async def test_a_broken_answer_is_an_error(site: Site, fetch: Fetch) -> None:
    site.routes["/none"] = b""
    site.routes["/junk"] = b"SSH-2.0-OpenSSH\r\n"
    site.routes["/short"] = _answer(headers={"content-length": "100"}) + b"short"
    for path in site.routes:
        result = await fetch(f"http://127.0.0.1:{site.port}{path}")
        assert result.is_error
        assert "the connection broke" in result.content


async def test_a_name_that_does_not_resolve_is_an_error(fetch: Fetch) -> None:
    tool = web_fetch_tool(resolve=_names())
    assert "cannot be resolved" in (await fetch("http://gone.test/", tool=tool)).content


async def test_a_bad_certificate_is_named_and_the_name_asked_for_is_sent(fetch: Fetch, tmp_path: Path) -> None:
    names: list[str] = []
    tls = _self_signed(tmp_path)
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    tool = web_fetch_tool(allow_private=True, resolve=_names(ok_test="127.0.0.1"))
    async with _serve(tls=tls) as secure:
        result = await fetch(f"https://ok.test:{secure.port}/", tool=tool)
    assert "the TLS certificate is not valid" in result.content
    assert (names, secure.requests) == (["ok.test"], [])


async def test_a_server_without_tls_is_named(fetch: Fetch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_answer(status="400 Bad Request"))
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        result = await fetch(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    assert "the TLS connection failed" in result.content


def _self_signed(folder: Path) -> ssl.SSLContext:
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415 - for this one test

    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ok.test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("ok.test")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "both.pem").write_bytes(secret + certificate.public_bytes(pem))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "both.pem")
    return tls


# What may be asked for


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "127.0.0.1/x",
        "//127.0.0.1/", "http://", "http:///x", "http://[::1", "http://exa\nmple.test/", "http://127.0.0.1:99999/", "http://127.0.0.1:0/",
        "http://user:secret@127.0.0.1/", "http://user@127.0.0.1/", " ",
    ],
)  # fmt: skip
async def test_an_unusable_address_is_refused(fetch: Fetch, url: str) -> None:
    result = await fetch(url)
    assert result.is_error
    assert "secret" not in result.content


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://[::1]:{port}/", "http://0.0.0.0:{port}/",
        "http://2130706433:{port}/", "http://0x7f.1:{port}/", "http://127.1:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
        "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://[fd00:ec2::254]/", "https://192.168.0.1/",
    ],
)  # fmt: skip
async def test_addresses_off_the_public_internet_are_refused(site: Site, fetch: Fetch, url: str) -> None:
    site.routes["/"] = _answer(b"secret")
    result = await fetch(url.format(port=site.port), tool=web_fetch_tool())
    assert result.is_error
    assert "not on the public internet" in result.content or "cannot be resolved" in result.content
    assert site.requests == []


async def test_a_name_with_one_private_address_is_refused(site: Site, fetch: Fetch) -> None:
    tool = web_fetch_tool(resolve=_names(mixed_test=["93.184.216.34", "127.0.0.1"]))
    result = await fetch(f"http://mixed.test:{site.port}/", tool=tool)
    assert "mixed.test has the address 127.0.0.1 (loopback)" in result.content
    assert site.requests == []


async def test_the_address_that_was_judged_is_the_one_connected_to(site: Site, fetch: Fetch) -> None:
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), 2) - 1]

    tool = web_fetch_tool(resolve=rebinding, judge=lambda address: "private" if address == "127.0.0.2" else None)
    site.routes["/"] = _answer(b"public")
    site.routes["/moved"] = _redirect("/secret")
    assert (await fetch(f"http://ok.test:{site.port}/", tool=tool)).content.endswith("\n\npublic")
    assert asked == ["ok.test"]
    assert f"host: ok.test:{site.port}\r\n" in site.requests[0].lower()
    asked.clear()
    result = await fetch(f"http://ok.test:{site.port}/moved", tool=tool)
    assert "ok.test has the address 127.0.0.2 (private)" in result.content
    assert site.paths == ["/", "/moved"]


async def test_the_next_address_is_tried_if_one_does_not_answer(site: Site, fetch: Fetch) -> None:
    tool = web_fetch_tool(allow_private=True, resolve=_names(two_test=["127.0.0.9", "127.0.0.1"]))
    site.routes["/"] = _answer(b"second")
    assert (await fetch(f"http://two.test:{site.port}/", tool=tool)).content.endswith("second")


# Redirects


async def test_redirects_within_a_host_are_followed(site: Site, fetch: Fetch) -> None:
    site.routes["/a"] = _redirect("/b", "301 Moved Permanently")
    site.routes["/b"] = _redirect(f"http://127.0.0.1:{site.port}/c", "307 Temporary Redirect")
    site.routes["/c"] = _answer(b"there")
    assert (await fetch(f"http://127.0.0.1:{site.port}/a")).content == f"http://127.0.0.1:{site.port}/c\n\nthere"


async def test_redirects_end_somewhere(site: Site, fetch: Fetch) -> None:
    site.routes["/a"] = _redirect("/a")
    assert "more than 5 redirects" in (await fetch(f"http://127.0.0.1:{site.port}/a")).content
    assert site.paths == ["/a"] * 6


@pytest.mark.parametrize(
    "target",
    [
        "http://other.test/x",
        "http://127.0.0.1:1/x",
        "https://127.0.0.1/x",
        "//sub.127.0.0.1.test/x",
        "http://169.254.169.254/",
    ],
)
async def test_a_redirect_to_another_site_is_reported_and_not_followed(site: Site, fetch: Fetch, target: str) -> None:
    site.routes["/"] = _redirect(target)
    result = await fetch(f"http://127.0.0.1:{site.port}/")
    assert not result.is_error
    full = target if "://" in target else f"http:{target}"
    assert result.content.endswith(f"call WebFetch with this address: {full}")
    assert result.structured["redirect"] == full


async def test_a_redirect_to_a_private_server_never_reaches_it(site: Site, fetch: Fetch) -> None:
    tool = web_fetch_tool(resolve=_names(ok_test="127.0.0.1"), judge=lambda _: None)
    async with _serve("127.0.0.2") as secret:
        site.routes["/"] = _redirect(f"http://127.0.0.2:{secret.port}/secret")
        result = await fetch(f"http://ok.test:{site.port}/", tool=tool)
        assert "It was not followed" in result.content
        refused = await fetch(f"http://127.0.0.2:{secret.port}/secret", tool=web_fetch_tool())
        assert refused.is_error
        assert secret.requests == []


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "javascript:x", "http://[::1"])
async def test_a_redirect_to_an_unusable_address_is_an_error(site: Site, fetch: Fetch, target: str) -> None:
    site.routes["/"] = _redirect(target)
    assert (await fetch(f"http://127.0.0.1:{site.port}/")).is_error


async def test_proxies_of_the_environment_are_ignored(
    site: Site, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/")
    site.routes["/"] = _answer(b"direct")
    assert (await fetch(f"http://127.0.0.1:{site.port}/")).content.endswith("direct")
