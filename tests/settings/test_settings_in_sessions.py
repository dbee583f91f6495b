import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from settingskit import repository, service, session_in, write

from agentframework import (
    ConfigurationError,
    InteractiveSession,
    PermissionMode,
    SettingsError,
    WorkspaceTrustError,
    host_settings_source,
)
from agentframework.events import ErrorEvent, HookError, WarningEvent
from agentframework.testing import ScriptedProvider, call, say

LOCAL = ".claude/settings.local.json"


def user(tmp_path: Path, value: Any) -> dict[str, Any]:
    """Options of a session with one file of the user."""
    return {"user_settings_sources": [host_settings_source("user", write(tmp_path / "user.json", value))]}


def outcome(session: InteractiveSession, command: str) -> str:
    return session.explain("Bash", {"command": command}).outcome


async def run(session: InteractiveSession, prompt: str = "go") -> str:
    async with asyncio.timeout(30):
        return (await (await session.submit(prompt)).completed).response


def test_rules_of_all_layers_add_up_and_deny_wins(tmp_path: Path) -> None:
    session = InteractiveSession(
        cwd=tmp_path,
        provider=ScriptedProvider(),
        user_settings_sources=[
            host_settings_source("user", write(tmp_path / "a.json", {"permissions": {"deny": ["WebFetch"]}})),
            host_settings_source("user", write(tmp_path / "b.json", {"permissions": {"allow": ["WebFetch", "Write"]}})),
            host_settings_source("user", tmp_path / "missing.json"),
            host_settings_source("user", write(tmp_path / "blank.json", "  \n")),
        ],
        denied_tools=["Write"],
    )
    assert session.explain("WebFetch", {"url": "https://a.test", "prompt": "p"}).outcome == "deny"
    assert session.explain("Write", {"file_path": "x", "content": ""}).outcome == "deny"


async def test_a_denial_names_the_file_and_line_of_its_rule(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / LOCAL, '{\n "permissions": {\n  "deny": [\n   "Read",\n   "Bash(curl:*)"\n  ]\n }\n}')
    session = session_in(root, await service(tmp_path).grant(root))
    found = session.explain("Bash", {"command": "curl x"})
    assert found.outcome == "deny"
    assert f"{LOCAL} line 5" in found.reason
    assert found.rule == "Bash(curl:*)"
    (where,) = [one for one in session.diagnostics() if "Bash(curl:*)" in one.message]
    assert (where.level, where.path, where.line) == ("info", str(root / LOCAL), 5)
    assert LOCAL in str(where)


@pytest.mark.parametrize("bad", ["Bash(rm -rf *)*", 42, None, "", "Bash()", "Bash(unclosed"])
async def test_a_broken_entry_is_named_and_the_others_bind(bad: Any, tmp_path: Path) -> None:
    options = user(tmp_path, {"permissions": {"deny": [bad, "Bash(curl:*)"]}})
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("hi"), **options)
    assert outcome(session, "curl x") == "deny"
    (warning,) = [one for one in session.diagnostics() if one.level == "warning"]
    assert (warning.path, warning.line) == (str(tmp_path / "user.json"), 4)
    assert warning.message.startswith(f"permissions.deny[0]: {bad!r}")
    heard: list[str] = []
    session.on(WarningEvent, lambda event: heard.append(event.message))
    await run(session)
    assert [f"permissions.deny[0]: {bad!r}" in text for text in heard] == [True]
    await session.shutdown()


@pytest.mark.parametrize(
    ("text", "line"), [('{"permissions":\n {"deny":["Bash(', 2), ("[1]", 1), ('{"a":1}\n}', 2), ('{"a": NaN}', 1)]
)
def test_a_file_that_is_no_json_object_is_an_error_with_its_place(text: str, line: int, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), **user(tmp_path, text))
    assert caught.value.code == "SETTINGS_INVALID"
    assert caught.value.details["line"] == line
    assert f"{tmp_path / 'user.json'}:{line}:" in str(caught.value)


@pytest.mark.parametrize("text", ['{"permissions":{"deny":["Bash(', "", "[]", '{"permissions":{"deny":{}}}'])
async def test_a_file_that_breaks_while_a_session_runs_changes_nothing(text: str, tmp_path: Path) -> None:
    session = InteractiveSession(
        cwd=tmp_path, provider=ScriptedProvider(), **user(tmp_path, {"permissions": {"deny": ["Bash(curl:*)"]}})
    )
    errors: list[ErrorEvent] = []
    session.on(ErrorEvent, errors.append)
    write(tmp_path / "user.json", text)
    problems = session.reload_settings()
    if text:
        assert [one.level for one in problems] == ["error"]
        assert errors[0].error.code == "SETTINGS_INVALID"
        assert outcome(session, "curl x") == "deny"
    else:  # a file that was emptied says nothing any more
        assert (problems, errors, outcome(session, "curl x")) == ((), [], "ask")
    write(tmp_path / "user.json", {"permissions": {"deny": ["Bash(wget:*)"]}})
    assert session.reload_settings() == ()
    assert (outcome(session, "curl x"), outcome(session, "wget x")) == ("ask", "deny")


async def test_hooks_and_variables_of_files_count_and_change_on_reload(tmp_path: Path) -> None:
    def hooks(mark: str) -> dict[str, Any]:
        entry = {"type": "command", "command": f'echo "$WHO" >> {mark}'}
        return {"hooks": {"PreToolUse": [{"matcher": "Glob", "hooks": [entry]}]}, "env": {"WHO": mark}}

    glob = say(call("Glob", pattern="*"))
    provider = ScriptedProvider(glob, "one", glob, "two")
    session = InteractiveSession(cwd=tmp_path, provider=provider, **user(tmp_path, hooks("first")))
    await run(session)
    write(tmp_path / "user.json", hooks("second"))
    session.reload_settings()
    await run(session)
    assert (tmp_path / "first").read_text() == "first\n"
    assert (tmp_path / "second").read_text() == "second\n"
    await session.shutdown()


async def test_hooks_that_come_with_a_reload_guard_the_next_call(tmp_path: Path) -> None:
    provider = ScriptedProvider(say(call("Glob", pattern="*")), "done")
    session = InteractiveSession(cwd=tmp_path, provider=provider, **user(tmp_path, {}))
    hook = {"type": "command", "command": "echo no >&2; exit 2"}
    write(tmp_path / "user.json", {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    session.reload_settings()
    ends: list[str] = []
    session.on("tool_end", lambda event: ends.append(event.outcome))
    await run(session)
    assert ends == ["blocked"]
    await session.shutdown()


async def test_variables_of_files_reach_shell_commands(tmp_path: Path) -> None:
    provider = ScriptedProvider(say(call("Bash", command="echo $WHO-$HOW")), "done")
    values = {"env": {"WHO": "me", "HOW": "$ENV:AF_TEST_HOW", "N": "$ENV:AF_TEST_UNSET"}}
    os.environ["AF_TEST_HOW"] = "well"
    try:
        session = InteractiveSession(
            cwd=tmp_path, provider=provider, permission_mode="bypassPermissions", **user(tmp_path, values)
        )
    finally:
        del os.environ["AF_TEST_HOW"]
    results: list[str] = []
    session.on("tool_end", lambda event: results.append(event.result))
    await run(session)
    assert "me-well" in results[0]
    assert [one.message for one in session.diagnostics() if one.level == "warning"] == [
        "env.N: the environment variable AF_TEST_UNSET is not set; it is left out"
    ]
    await session.shutdown()


def test_the_mode_is_that_of_the_settings_unless_the_host_names_one(tmp_path: Path) -> None:
    def mode(values: dict[str, Any], **options: Any) -> PermissionMode:
        return InteractiveSession(
            cwd=tmp_path, provider=ScriptedProvider(), **user(tmp_path, values), **options
        ).permission_mode

    assert mode({}) == "default"
    assert mode({"defaultTrustLevel": "safe"}) == "plan"
    assert mode({"defaultTrustLevel": "full"}) == "acceptEdits"
    assert mode({"permissions": {"defaultMode": "bypassPermissions"}}) == "bypassPermissions"
    assert mode({"permissions": {"defaultMode": "acceptEdits"}, "defaultTrustLevel": "safe"}) == "plan"
    assert mode({"permissions": {"defaultMode": "dontAsk"}}) == "default"
    assert mode({"defaultTrustLevel": "safe"}, permission_mode="acceptEdits") == "acceptEdits"


def test_settings_may_switch_bypassing_off(tmp_path: Path) -> None:
    off = user(tmp_path, {"permissions": {"disableBypassPermissionsMode": "disable"}})
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), **off)
    with pytest.raises(ConfigurationError, match="disableBypassPermissionsMode"):
        session.set_permission_mode("bypassPermissions")
    with pytest.raises(ConfigurationError, match="disableBypassPermissionsMode"):
        InteractiveSession(
            cwd=tmp_path, provider=ScriptedProvider(), permission_mode="bypassPermissions", **off
        )


async def test_an_answer_for_the_project_is_added_to_its_last_settings_file(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    target = write(root / LOCAL, {"permissions": {"allow": ["Read"], "x": 1}, "statusLine": {"type": "command"}})
    access = await service(tmp_path).grant(root)
    session = session_in(root, access, say(call("Bash", command="touch 'a b' && touch c")), "done")
    session.on("permission_request", lambda event: session.resolve_permission(event.id, "allow-project"))
    warnings: list[WarningEvent] = []
    session.on(WarningEvent, warnings.append)
    await run(session)
    assert warnings == []
    assert json.loads(target.read_text()) == {
        "permissions": {"allow": ["Read", "Bash(touch 'a b')", "Bash(touch c)"], "x": 1},
        "statusLine": {"type": "command"},
    }
    await session.shutdown()
    later = session_in(root, access)
    assert outcome(later, "touch c && touch 'a b'") == "allow"
    assert outcome(later, "touch d") == "ask"


async def test_an_answer_in_a_subfolder_means_the_same_file_from_the_root(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (root / "sub").mkdir()
    access = await service(tmp_path).grant(root)
    session = session_in(root / "sub", access, say(call("Write", file_path="a.txt", content="")), "done")
    session.on("permission_request", lambda event: session.resolve_permission(event.id, "allow-project"))
    await run(session)
    assert json.loads((root / LOCAL).read_text())["permissions"]["allow"] == ["Write(/sub/a.txt)"]
    await session.shutdown()
    arguments = {"file_path": "a.txt", "content": ""}
    assert session_in(root / "sub", access).explain("Write", arguments).outcome == "allow"
    assert session_in(root, access).explain("Write", arguments).outcome == "ask"


async def test_an_answer_for_the_project_leaves_a_broken_file_alone_and_holds_for_the_session(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    access = await service(tmp_path).grant(root)
    touch = say(call("Bash", command="touch c"))
    session = session_in(root, access, touch, "one", touch, "two")
    answers = iter(["allow-project"])
    session.on("permission_request", lambda event: session.resolve_permission(event.id, next(answers)))
    warnings: list[str] = []
    session.on(WarningEvent, lambda event: warnings.append(event.message))
    broken = '{"permissions":{"deny":["Bash('
    write(root / LOCAL, broken)
    await run(session)
    await run(session)
    assert (root / LOCAL).read_text() == broken
    assert len(warnings) == 1
    assert "until the session ends" in warnings[0]
    await session.shutdown()


async def test_without_trust_an_answer_for_the_project_writes_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    session = session_in(root, await service(tmp_path).inspect(root), say(call("Bash", command="touch c")), "done")
    session.on("permission_request", lambda event: session.resolve_permission(event.id, "allow-project"))
    await run(session)
    assert (root / "c").exists()
    assert not (root / ".claude").exists()
    await session.shutdown()


async def test_a_revocation_takes_back_what_the_project_brought_at_once(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    hook = {"type": "command", "command": "touch hooked"}
    write(root / LOCAL, {"permissions": {"allow": ["Bash"]}, "hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    trust = service(tmp_path)
    session = session_in(root, await trust.grant(root), say(call("Glob", pattern="*")), "done")
    assert outcome(session, "touch c") == "allow"
    await trust.revoke(root)
    assert outcome(session, "touch c") == "ask"
    await run(session)
    assert not (root / "hooked").exists()
    await session.shutdown()


async def test_a_revocation_by_another_program_counts_from_the_next_turn(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / LOCAL, {"permissions": {"allow": ["Bash"]}})
    session = session_in(root, await service(tmp_path).grant(root), say(call("Bash", command="touch c")), "done")
    await service(tmp_path).revoke(root)
    await run(session)
    assert not (root / "c").exists()
    await session.shutdown()


def test_an_access_that_no_service_gave_is_refused(tmp_path: Path) -> None:
    class Trusted:
        status = "trusted"
        trusted = True
        root = str(tmp_path)

    with pytest.raises(WorkspaceTrustError):
        session_in(tmp_path, Trusted())  # type: ignore[arg-type]


async def test_a_project_may_not_lift_the_questions_or_the_hooks_of_the_user(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    values = {"permissions": {"defaultMode": "bypassPermissions"}, "disableAllHooks": True}
    write(root / LOCAL, values)
    hook = {"type": "command", "command": "exit 2"}
    options = user(tmp_path, {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    session = session_in(root, await service(tmp_path).grant(root), say(call("Glob", pattern="*")), "done", **options)
    assert session.permission_mode == "default"
    ends: list[str] = []
    session.on("tool_end", lambda event: ends.append(event.outcome))
    session.on(HookError, lambda event: ends.append(event.message))
    await run(session)
    assert ends == ["blocked"]
    await session.shutdown()
