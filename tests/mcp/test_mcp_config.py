import json
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    ConfigurationError,
    ErrorCode,
    HttpServer,
    McpClientManager,
    McpOptions,
    ReconnectPolicy,
    RetryPolicy,
    SseServer,
    StdioServer,
)
from agentframework.mcp import as_servers, load_server_file, read_servers


@pytest.mark.parametrize(
    "make",
    [
        lambda: StdioServer(""),
        lambda: StdioServer("  "),
        lambda: StdioServer("x", "not a list"),
        lambda: StdioServer("x", env={"A=B": "c"}),
        lambda: StdioServer("x", allowed_tools="read"),
        lambda: StdioServer("x", timeout_s=0),
        lambda: StdioServer("x", max_buffer_size=0),
        lambda: HttpServer("http://example.com/mcp"),
        lambda: HttpServer("https://user:secret@example.com/mcp"),
        lambda: HttpServer("https://secret@example.com/mcp"),
        lambda: HttpServer("ftp://example.com"),
        lambda: HttpServer("example.com/mcp"),
        lambda: HttpServer("http://127.0.0.1.example.com/mcp"),
        lambda: HttpServer("http://localhost.example.com/mcp"),
        lambda: HttpServer("http://[::2]/mcp"),
        lambda: HttpServer("https://example.com:99999/mcp"),
        lambda: HttpServer("https://example.com/mcp", headers={"X": "a\r\nY: b"}),
        lambda: HttpServer("https://example.com/mcp", auth=" "),
        lambda: SseServer("http://example.com/sse"),
        lambda: as_servers({"-bad": StdioServer("x")}),
        lambda: as_servers({"a" * 65: StdioServer("x")}),
        lambda: as_servers({"a b": StdioServer("x")}),
        lambda: as_servers({"": StdioServer("x")}),
        lambda: as_servers({"a": {}}),
        lambda: as_servers({"a": {"type": "telepathy", "url": "https://example.com"}}),
        lambda: as_servers({"a": 7}),
        lambda: as_servers("https://example.com/mcp"),
        lambda: McpClientManager({}, protocol={"mode": "sometimes"}),
        lambda: McpClientManager({}, protocol={"mode": {"pin": "2025-06-18"}}),
        lambda: McpClientManager({}, protocol={"mode": "auto", "probe_timeout_s": -1}),
        lambda: McpClientManager({}, protocol={"mode": "auto", "probe_max_retries": 1.5}),
        lambda: McpClientManager({}, protocol={"modus": "auto"}),
        lambda: McpClientManager({}, handlers={"rooots": list}),
        lambda: McpOptions(concurrency=0),
        lambda: McpOptions(list_max_pages=0),
        lambda: McpOptions(timeout_s=-1),
        lambda: McpOptions(timeout_s=float("nan")),
        lambda: McpOptions(retry=RetryPolicy(max_attempts=0)),
        lambda: ReconnectPolicy(max_attempts=-1),
        lambda: ReconnectPolicy(health_check_interval_s=0),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_written_down(make: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert caught.value.code == ErrorCode.INVALID_CONFIGURATION
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/mcp",
        "http://localhost:3000/mcp",
        "http://127.0.0.1/mcp",
        "http://[::1]:9/mcp",
        "HTTP://LOCALHOST/x",
    ],
)
def test_https_and_this_machine_are_fine(url: str) -> None:
    assert HttpServer(url).url == url


def test_ids_of_a_list_are_numbered() -> None:
    servers = as_servers(["http://localhost:1/mcp", HttpServer("http://localhost:2/mcp")])
    assert list(servers) == ["server_1", "server_2"]


def test_the_secrets_of_a_server_do_not_show_in_its_text() -> None:
    http = HttpServer("https://example.com/mcp", headers={"X-Key": "s3cret"}, auth="t0ken")
    stdio = StdioServer("x", env={"KEY": "s3cret"})
    assert "s3cret" not in repr(http) + repr(stdio)
    assert "t0ken" not in repr(http)


def test_a_file_is_read_with_and_without_its_wrapper() -> None:
    entries = {"fs": {"command": "node", "args": ["x.mjs"]}, "web": {"url": "https://example.com/mcp"}}
    for data in ({"mcpServers": entries}, entries, {"servers": entries}):
        file = read_servers(data, {})
        assert file.servers == {"fs": StdioServer("node", ["x.mjs"]), "web": HttpServer("https://example.com/mcp")}
        assert file.problems == ()


def test_placeholders_are_replaced_once_and_from_the_given_environment() -> None:
    data = {
        "a": {
            "command": "${HOME}/bin/x",
            "args": ["${PORT:-8080}", "$ENV:NAME", "${EMPTY:-d}"],
            "env": {"K": "${KEY}"},
        },
        "b": {"type": "http", "url": "https://${HOST:-example.com}/mcp", "headers": {"Authorization": "Bearer ${KEY}"}},
    }
    file = read_servers(data, {"HOME": "/home/me", "NAME": "${KEY}", "KEY": "k$ENV:HOME", "EMPTY": ""})
    assert file.servers["a"] == StdioServer("/home/me/bin/x", ["8080", "${KEY}", "d"], env={"K": "k$ENV:HOME"})
    assert file.servers["b"] == HttpServer("https://example.com/mcp", headers={"Authorization": "Bearer k$ENV:HOME"})
    assert file.problems == ()


def test_placeholders_stay_as_they_are_outside_files() -> None:
    assert as_servers({"a": {"command": "x", "args": ["${HOME}"]}})["a"] == StdioServer("x", ["${HOME}"])


def test_an_unset_variable_is_reported_and_reads_as_empty() -> None:
    file = read_servers({"a": {"command": "x", "env": {"K": "${NOPE}"}}}, {})
    assert file.servers["a"] == StdioServer("x", env={"K": ""})
    assert file.problems == ("MCP server a: the variable NOPE is not set; it reads as empty",)


@pytest.mark.parametrize(
    ("entry", "server"),
    [
        ({"type": "streamable-http", "url": "https://e.com/m"}, HttpServer("https://e.com/m")),
        ({"type": "streamableHttp", "url": "https://e.com/m"}, HttpServer("https://e.com/m")),
        ({"transport": "sse", "url": "https://e.com/m"}, SseServer("https://e.com/m")),
        ({"url": "https://e.com/sse"}, SseServer("https://e.com/sse")),
        ({"serverUrl": "https://e.com/m"}, HttpServer("https://e.com/m")),
        ({"link": "https://e.com/m"}, HttpServer("https://e.com/m")),
        ({"type": "local", "command": ["bun", "x"]}, StdioServer("bun", ["x"])),
        ({"command": "npx mcp-remote https://e.com"}, StdioServer("npx", ["mcp-remote", "https://e.com"])),
        ({"command": "x", "disabledTools": ["rm"]}, StdioServer("x", denied_tools=["rm"])),
        ({"command": "x", "description": "nice", "autoApprove": []}, StdioServer("x")),
        ({"url": "https://e.com/m", "auth": {"type": "bearer", "token": "t"}}, HttpServer("https://e.com/m", auth="t")),
    ],
)
def test_entries_as_they_are_found_are_understood(entry: dict[str, Any], server: Any) -> None:
    assert read_servers({"mcpServers": {"one": entry}}, {}).servers == {"one": server}


def test_a_bad_entry_is_reported_by_name_and_the_others_load() -> None:
    data = {"good": {"command": "x"}, "bad": {"url": "http://example.com"}, "off": {"command": "y", "disabled": True}}
    file = read_servers({"mcpServers": data}, {})
    assert list(file.servers) == ["good"]
    assert len(file.problems) == 1
    assert "MCP server bad: url for example.com must be https" in file.problems[0]


def test_odd_names_of_a_file_become_ids() -> None:
    names = ["DeepGraph Next.js MCP", "@microsoft/clarity-mcp-server", "検索"]
    file = read_servers({"mcpServers": {name: {"command": "x"} for name in names}}, {})
    assert list(file.servers) == ["DeepGraph-Next.js-MCP", "microsoft-clarity-mcp-server", "server"]


@pytest.mark.parametrize("content", ['{"content": "x"}', "[]", "{", '{"a": 1, "b": 2}'])
def test_a_file_without_servers_says_so(content: str, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"\.mcp\.json"):
        load_server_file(path, {})


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("\ufeff" + json.dumps({"mcpServers": {"a": {"command": "x"}}}), encoding="utf-8")
    assert list(load_server_file(path, {}).servers) == ["a"]
