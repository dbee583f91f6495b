import gc
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from toolkit import make_context, run

from agentframework import InteractiveSession, ToolResult, builtin_tools, tool
from agentframework.sandbox import LocalSandbox, OutsideWorkspaceError
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools.executor import MAX_RESULT_CHARACTERS, execute_tool
from agentframework.tools.spill import MAX_BYTES, MAX_FILE_BYTES, SpillSandbox, SpillStore

LONG = "\n".join(f"row {number} ü" for number in range(20_000))


@tool(risk="inspect")
def rows() -> str:
    """Many rows."""
    return LONG


@pytest.fixture
def store(tmp_path: Path) -> SpillStore:
    return SpillStore(str(tmp_path))


async def test_a_text_that_is_too_long_is_kept_as_a_whole(store: SpillStore) -> None:
    result = await execute_tool(rows, {}, make_context(), store.keep)
    assert result.spill_path is not None
    assert result.truncated
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    assert result.content.startswith("row 0 ü\n")
    assert result.spill_path in result.content.splitlines()[-1]
    assert Path(result.spill_path).read_text() == LONG
    assert stat.S_IMODE(os.stat(result.spill_path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(result.spill_path)).st_mode) == 0o700
    store.close()
    assert not os.path.exists(os.path.dirname(result.spill_path))


async def test_a_short_text_is_not_kept_and_without_a_store_it_is_only_cut(store: SpillStore) -> None:
    short = tool(lambda: "short", name="short", description="")  # type: ignore[call-overload]
    result = await execute_tool(short, {}, make_context(), store.keep)
    assert (result.truncated, result.spill_path, store.directory) == (False, None, None)
    result = await run(rows)
    assert (result.truncated, result.spill_path) == (True, None)


async def test_what_a_tool_says_about_its_own_result_is_kept() -> None:
    @tool
    def own() -> ToolResult:
        """Cuts by itself."""
        return ToolResult("head and tail", truncated=True, spill_path="/tmp/own")

    result = await run(own)
    assert (result.truncated, result.spill_path) == (True, "/tmp/own")


def test_there_are_limits(store: SpillStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentframework.tools.spill.MAX_FILE_BYTES", 10)
    monkeypatch.setattr("agentframework.tools.spill.MAX_BYTES", 25)
    paths = [store.keep("x" * 100) for _ in range(3)]
    assert [path and os.path.getsize(path) for path in paths] == [10, 10, None]
    assert MAX_FILE_BYTES < MAX_BYTES


def test_a_disk_that_refuses_and_a_closed_store_keep_nothing(store: SpillStore, tmp_path: Path) -> None:
    assert SpillStore(str(tmp_path / "missing")).keep("text") is None
    store.close()
    store.close()
    assert store.keep("text") is None


def test_a_store_that_is_never_closed_goes_with_the_program_and_with_its_last_user(tmp_path: Path) -> None:
    store = SpillStore(str(tmp_path))
    assert store.keep("text")
    del store
    gc.collect()
    assert os.listdir(tmp_path) == []
    code = "import sys; from agentframework.tools.spill import SpillStore as S; s = S(sys.argv[1]); print(s.keep('x'))"
    made = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert made.stdout.startswith(str(tmp_path)), made.stderr
    assert os.listdir(tmp_path) == []


def test_reading_tools_get_in_and_no_further(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("s")
    store = SpillStore(str(tmp_path))
    sandbox = SpillSandbox(LocalSandbox(work), store)
    with pytest.raises(OutsideWorkspaceError):
        sandbox.resolve(str(tmp_path / "anything"))
    path = store.keep("text")
    assert path is not None
    assert sandbox.resolve(path).path == path
    directory = os.path.dirname(path)
    os.symlink(tmp_path / "secret", os.path.join(directory, "link"))
    for outside in (f"{directory}/../secret", f"{directory}/link", directory + "x", f"{directory}/\0", directory):
        with pytest.raises(OutsideWorkspaceError):
            sandbox.resolve(outside)
    assert sandbox.resolve(".").shown == "."
    store.close()


async def test_the_model_reads_on_and_the_file_is_gone_after_the_session(tmp_path: Path) -> None:
    results: dict[str, str] = {}

    def kept() -> str:
        return results["rows"].rsplit("[all of it is in ", 1)[1].split(";")[0]

    provider = ScriptedProvider(
        say(call("rows")),
        lambda _request: say(
            call("Read", file_path=kept(), offset=9_999, limit=1),
            call("Grep", pattern="row 19998", path=kept(), output_mode="content"),
            call("Write", file_path=kept(), content="x"),
        ),
        "done",
    )
    async with InteractiveSession(cwd=tmp_path, provider=provider, default_tools=[rows, *builtin_tools()]) as session:
        session.on("tool_end", lambda event: results.update({event.tool_name: event.result}))
        session.on("permission_request", lambda event: session.resolve_permission(event.id, True))
        await session.submit("go")
        assert os.path.exists(kept())
    assert "row 9998 ü" in results["Read"]
    assert "row 19998 ü" in results["Grep"]
    assert "outside the working directory" in results["Write"]
    assert not os.path.exists(os.path.dirname(kept()))
