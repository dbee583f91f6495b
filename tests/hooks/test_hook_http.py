"""HTTP hooks, with a real server on this machine."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hookkit import Desk, HookServer, on


def hook(url: str, **fields: Any) -> dict[str, Any]:
    return {"type": "http", "url": url, **fields}


async def test_the_event_is_posted_and_ok_is_no_objection(tmp_path: Path) -> None:
    async with HookServer('{"ok": true}') as server:
        desk = Desk(tmp_path, on("PreToolUse", hook(server.url)))
        assert (await desk.before("Write", file_path="a")).decision is None
    ((headers, posted),) = server.requests
    assert headers["content-type"] == "application/json"
    assert (posted["hook_event_name"], posted["tool_input"]) == ("PreToolUse", {"file_path": "a"})
    assert desk.errors == []


@pytest.mark.parametrize(
    ("body", "reason"), [({"ok": False, "reason": "no"}, "no"), ({"ok": False}, "blocked by a hook")]
)
async def test_not_ok_blocks_with_its_reason(body: dict[str, Any], reason: str, tmp_path: Path) -> None:
    async with HookServer(json.dumps(body)) as server:
        outcome = await Desk(tmp_path, on("PreToolUse", hook(server.url))).before()
    assert (outcome.blocked, outcome.reason) == (True, reason)


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ("", "200 OK", "no JSON"),
        ("ok", "200 OK", "no JSON"),
        ("[true]", "200 OK", "its answer must be"),
        ('{"ok": "true"}', "200 OK", "its answer must be"),
        ('{"ok": 1}', "200 OK", "its answer must be"),
        ('{"decision": "approve"}', "200 OK", "its answer must be"),
        ('{"ok": true}', "500 Internal Server Error", "HTTP 500"),
        ('{"ok": true}', "302 Found", "HTTP 302"),
        ('{"ok": true, "x": "' + "x" * 100_000 + '"}', "200 OK", "more than 65536 bytes"),
    ],
)
async def test_any_other_answer_is_a_failure(body: str, status: str, says: str, tmp_path: Path) -> None:
    async with HookServer(body, status, ["location: http://127.0.0.1:1/"]) as server:
        desk = Desk(tmp_path, on("PreToolUse", hook(server.url)))
        assert (await desk.before()).decision is None
        closed = Desk(tmp_path, on("PreToolUse", hook(server.url, failClosed=True)))
        assert (await closed.before()).blocked
    assert says in desk.errors[0]


async def test_a_server_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", hook("http://127.0.0.1:1/")))
    assert (await desk.before()).decision is None
    assert "ConnectError" in desk.errors[0]


async def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    async with HookServer("") as server:
        server.silent = True
        desk = Desk(tmp_path, on("PreToolUse", hook(server.url, timeout=0.2)))
        assert (await desk.before()).decision is None
    assert desk.errors == ["it timed out after 0.2 s"]


async def test_cancelling_ends_the_request(tmp_path: Path) -> None:
    async with HookServer("") as server:
        server.silent = True
        task = asyncio.create_task(Desk(tmp_path, on("PreToolUse", hook(server.url))).before())
        await asyncio.wait_for(server.asked.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 3)


async def test_headers_may_name_variables_that_the_hook_lists(tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer $SECRET_TOKEN", "X-Mine": "${MINE}-$LANG", "X-Price": "5$"}
    async with HookServer('{"ok": true}') as server:
        listed = hook(server.url, headers=headers, allowedEnvVars=["SECRET_TOKEN"])
        await Desk(tmp_path, {"PreToolUse": [{"env": {"MINE": "1"}, "hooks": [listed]}]}).before()
        await Desk(tmp_path, on("PreToolUse", hook(server.url, headers=headers))).before()
    first, second = (got for got, _ in server.requests)
    assert (first["authorization"], first["x-mine"], first["x-price"]) == ("bearer s3cret", "1-$lang", "5$")
    assert second["authorization"] == "bearer $secret_token"


async def test_a_header_that_no_request_can_hold_is_a_failure(tmp_path: Path) -> None:
    async with HookServer('{"ok": true}') as server:
        desk = Desk(tmp_path, on("PreToolUse", hook(server.url, headers={"X": "a\r\nY: b"})))
        assert (await desk.before()).decision is None
    assert len(desk.errors) == 1
    assert server.requests == []


async def test_proxies_of_the_environment_are_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with HookServer('{"ok": true}') as server:
        desk = Desk(tmp_path, on("PreToolUse", hook(server.url)))
        await desk.before()
    assert (desk.errors, len(server.requests)) == ([], 1)
