"""The shell tool, with real shells."""

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.sandbox import LocalSandbox
from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS, execute_tool
from agentframework.tools.schema import check_arguments
from tools_builtin._process import group_alive
from tools_builtin._shell import ShellState, shell_arguments, time_limit_ms
from tools_builtin.bash import bash_tool
from tools_builtin.shell import shell_tool

Run = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def shells() -> ShellState:
    return ShellState({"PATH": os.environ["PATH"], "HOME": "/nonexistent", "SECRET_API_KEY": "k", "LC_ALL": "C.UTF-8"})


@pytest.fixture
def run(shells: ShellState, context: ToolContext) -> Run:
    tool = bash_tool(shells)

    async def run(command: str, *, within_s: float = 5, session_id: str = "session", **more: object) -> ToolResult:
        arguments = {"command": command, **more}
        assert check_arguments(tool.input_schema, arguments) is None
        async with asyncio.timeout(within_s):
            return await execute_tool(tool, arguments, replace(context, session_id=session_id))

    return run


def test_both_names_are_one_tool(shells: ShellState) -> None:
    bash, shell = bash_tool(shells), shell_tool(shells)
    assert (bash.name, shell.name) == ("Bash", "Shell")
    for tool in (bash, shell):
        assert (tool.risk, tool.permission_key) == ("execute", "command")
        assert tool.input_schema["additionalProperties"] is False
        assert "run_in_background" not in tool.input_schema["properties"]
        assert "30,000" in tool.description
    assert bash.input_schema == shell.input_schema


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("echo hi", "hi", 0),
        ("true", "(no output)", 0),
        ("echo out; echo err >&2", "out\nstderr:\nerr", 0),
        ("echo warn >&2; exit 0", "(nothing on standard output)\nstderr:\nwarn", 0),
        ("echo x | grep zzz", "(no output)\nExit code 1", 1),
        ("false | true", "(no output)", 0),
        ("exit 300", "(no output)\nExit code 44", 44),
        ("kill -9 $$", "(no output)\nExit code 137 (SIGKILL)", 137),
        ('bash -c "kill -SEGV $$"', "(no output)\nExit code 139 (SIGSEGV)", 139),
        ("(exit 143)", "(no output)\nExit code 143 (SIGTERM)", 143),
        ("IFS=1; (exit 10)", "(no output)\nExit code 10", 10),
        ('echo "$# $1"', "0 ", 0),
        ("printf '  indented\\n\\n'", "  indented", 0),
        ("set -x; cd /; true", "(nothing on standard output)\nstderr:\n++ cd /\n++ true", 0),
    ],
)
async def test_output_comes_first_and_then_the_exit_code(run: Run, command: str, text: str, code: int) -> None:
    result = await run(command)
    assert result.content == text
    assert not result.is_error
    assert result.structured["exit_code"] == code
    assert result.structured["timed_out"] is False


@pytest.mark.parametrize(("command", "code"), [("nosuchcmd", 127), ("./notexec", 126), (")", 2), ("-x", 127)])
async def test_commands_that_cannot_run_are_results_too(run: Run, tmp_path: Path, command: str, code: int) -> None:
    (tmp_path / "notexec").write_text("echo no")
    result = await run(command)
    assert (result.is_error, result.structured["exit_code"]) == (False, code)
    assert result.content.endswith(f"Exit code {code}")


@pytest.mark.parametrize("command", ["", " \n\t", "echo a\0b", "echo \ud800"])
async def test_a_command_no_shell_can_take_is_refused(run: Run, command: str) -> None:
    result = await run(command)
    assert result.is_error
    assert result.content.startswith("Error: the command ")


async def test_a_command_longer_than_the_system_takes_is_an_error_that_says_so(run: Run) -> None:
    result = await run("true " + "x" * 200_000)
    assert result.is_error
    assert "into a file" in result.content


def test_a_call_without_a_command_is_refused(shells: ShellState) -> None:
    assert check_arguments(bash_tool(shells).input_schema, {}) is not None


@pytest.mark.parametrize(
    "more",
    [{"timeout": 0}, {"timeout": -1}, {"timeout": "5"}, {"timeout": None}, {"timeout": float("inf")}, {"cwd": "/"}],
)
def test_arguments_of_another_kind_are_refused(shells: ShellState, more: dict[str, object]) -> None:
    assert check_arguments(bash_tool(shells).input_schema, {"command": "x", **more}) is not None


def test_there_always_is_a_time_limit() -> None:
    assert time_limit_ms(None, 120_000) == 120_000
    assert time_limit_ms(1e12, 120_000) == 600_000
    assert time_limit_ms(1, 120_000) == 1


# Working directory


@pytest.mark.parametrize(
    "command",
    [
        "cd a/b",
        "cd a && cd b && false",
        "cd a/b; exit 0",
        "cd a/b; exit 9",
        "set -e; cd a/b; false; echo not reached",
        "cd a/b\nif then",
        "cd a/b; exec true",
        "cd a/b && exec >/dev/null",
        "trap 'echo bye' EXIT; cd a/b",
        "set -C; cd a/b",
        "cd a/b; set -u; echo $NOT_SET",
        "cd a/b; IFS=/",
        "pushd a/b",
        "cd a/b; kill $$",
        "cd a/b; function printf { echo no; }; exec 2>&1",
        "cd a/b; sleep 300 &",
    ],
)
async def test_the_working_directory_is_kept(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    await run(command)
    assert (await run("pwd")).content == str(tmp_path / "a" / "b")


@pytest.mark.parametrize(
    "command", ["(cd a)", "cd a | cat", "cd nowhere", "x=$(cd a)", "cd a; kill -9 $$", "(cd a; exec true)"]
)
async def test_a_subshell_or_a_failed_cd_moves_nothing(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "a").mkdir()
    await run(command)
    assert (await run("pwd")).content == str(tmp_path)


@pytest.mark.parametrize("name", ["with blank", "quote'\"", "line\nbreak", "日本", "-dash", b"\xff\xfe"])
async def test_any_directory_name_is_kept(run: Run, context: ToolContext, tmp_path: Path, name: str | bytes) -> None:
    directory = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    os.mkdir(directory)
    (tmp_path / "link").symlink_to(os.fsdecode(directory))
    await run("cd link")
    assert os.fsencode(context.sandbox.shell_directory) == directory
    assert (await run("test . -ef ../link && echo same")).content == "same"


async def test_a_deleted_working_directory_is_replaced_by_the_root_with_one_note(run: Run, tmp_path: Path) -> None:
    await run("mkdir t && cd t")
    await run("rm -rf ../t")
    result = await run("pwd")
    note = f"[the working directory {tmp_path}/t does not exist any more; this ran in {tmp_path}]"
    assert result.content == f"{note}\n{tmp_path}"
    assert (await run("cd / && pwd")).content == "/"
    assert (await run("pwd")).content == "/"


async def test_a_working_directory_replaced_by_a_file_is_left(run: Run, tmp_path: Path) -> None:
    await run("mkdir t && cd t")
    (tmp_path / "t").rmdir()
    (tmp_path / "t").write_text("a file now")
    assert (await run("pwd")).content.endswith(f"\n{tmp_path}")


async def test_without_any_directory_there_is_an_error_and_no_process(run: Run, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path)
    result = await run("pwd")
    assert result.is_error
    assert "does not exist any more" in result.content


async def test_sessions_do_not_share_their_directory(
    shells: ShellState, run: Run, context: ToolContext, tmp_path: Path
) -> None:
    await run("cd /")
    other = replace(context, sandbox=LocalSandbox(tmp_path))
    assert (await execute_tool(bash_tool(shells), {"command": "pwd"}, other)).content == str(tmp_path)


async def test_a_call_that_does_not_move_leaves_the_move_of_another_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "gate")
    slow = asyncio.ensure_future(run("echo ready > gate; read x < gate; true"))
    await run(f"read x < gate; cd {tmp_path}/a; echo go > ../gate")
    await slow
    assert (await run("pwd")).content == str(tmp_path / "a")


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
@pytest.mark.parametrize(
    ("command", "code"), [("cd /usr", 0), ("cd /usr; exit 3", 3), ("cd /usr; )", 2), ("cd /usr; set -eC; false", 1)]
)
def test_every_shell_reports_its_directory(shell: str, command: str, code: int) -> None:
    reader, writer = os.pipe()
    with open(reader, "rb") as report:
        arguments = shell_arguments(shell, command, writer)
        run = subprocess.run(arguments, pass_fds=(writer,), cwd="/", capture_output=True, timeout=10)
        os.close(writer)
        told = report.read()
    assert run.returncode == code
    # A syntax error on the only line means that nothing of it ran.
    assert told.endswith(b"/\n\0" if code == 2 else b"/usr\n\0")


async def test_a_made_up_report_is_not_believed(run: Run, tmp_path: Path) -> None:
    forge = "printf '/no/such\\n\\0junk' >>$fd"
    await run(f"for fd in /dev/fd/*; do [ ${{fd##*/}} -gt 2 ] && {forge}; done 2>/dev/null; kill -9 $$")
    assert (await run("pwd")).content == str(tmp_path)


# Environment and input


async def test_only_known_variables_of_the_host_are_passed_on(run: Run) -> None:
    os.environ["AGENTFRAMEWORK_TEST_AMBIENT"] = "1"
    try:
        variables = dict(line.split("=", 1) for line in (await run("env")).content.splitlines())
    finally:
        del os.environ["AGENTFRAMEWORK_TEST_AMBIENT"]
    assert "SECRET_API_KEY" not in variables
    assert "AGENTFRAMEWORK_TEST_AMBIENT" not in variables
    assert variables["LC_ALL"] == "C.UTF-8"
    assert (variables["TERM"], variables["PAGER"], variables["GIT_PAGER"]) == ("dumb", "cat", "cat")
    assert variables["GIT_TERMINAL_PROMPT"] == "0"


async def test_variables_given_on_purpose_are_set(context: ToolContext) -> None:
    tool = bash_tool(ShellState(variables={"API_TOKEN": "t", "TERM": "xterm"}))
    result = await execute_tool(tool, {"command": 'echo "$API_TOKEN $TERM"; command -v ls'}, context)
    assert result.content.startswith("t xterm\n/")


@pytest.mark.parametrize(
    "command",
    [
        'read x; echo "[$x]"',
        "cat",
        f'{sys.executable} -c "input()"',
        "git init -q . && EDITOR=vi git -c user.name=a -c user.email=a@b.test commit --allow-empty",
        "git ls-remote https://127.0.0.1:1/x",
        'sh -c "read x </dev/tty"',
        'sh -c "echo please >/dev/tty"',
    ],
)
async def test_a_command_that_waits_for_a_person_ends_by_itself(run: Run, command: str) -> None:
    result = await run(command)
    assert not result.structured["timed_out"]


# Output


async def test_a_flood_of_output_costs_little_memory_and_keeps_both_ends(run: Run) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await run("echo BEGIN; yes | head -c 300000000; echo END; exit 3", within_s=60)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert result.content.startswith("BEGIN\ny\n")
    assert result.content.endswith("y\nEND\nExit code 3")
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    assert "characters (149,98" in result.content


async def test_a_flood_without_line_ends_is_cut_as_well(run: Run) -> None:
    result = await run('head -c 20000000 /dev/zero | tr "\\0" x', within_s=30)
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    assert "(0 lines) left out" in result.content


async def test_output_within_the_limit_is_not_cut(run: Run) -> None:
    result = await run("for i in $(seq 2899); do echo 123456789; done")
    assert result.content == "\n".join(["123456789"] * 2899)


async def test_long_output_on_both_streams_keeps_the_ends_of_both(run: Run) -> None:
    result = await run("for i in $(seq 9999); do echo $i; echo e$i >&2; done")
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    out, _, err = result.content.partition("\nstderr:\n")
    assert (out[:4], out[-10:]) == ("1\n2\n", "\n9998\n9999")
    assert (err[:6], err[-12:]) == ("e1\ne2\n", "\ne9998\ne9999")
    assert len(out) > len(err) > 9000


async def test_a_little_of_one_stream_leaves_the_room_to_the_other(run: Run) -> None:
    result = await run("echo out; for i in $(seq 9999); do echo $i >&2; done")
    assert 29_500 < len(result.content) <= MAX_RESULT_CHARACTERS
    assert result.content.startswith("out\nstderr:\n1\n")


@pytest.mark.parametrize(
    "command",
    [
        "printf '\\xf0'",
        "printf 'caf\\xe9\\n'",
        "printf 'a\\0b'",
        "printf '\\xed\\xa0\\x80'",
        "head -c 4096 /dev/urandom",
    ],
)
async def test_any_bytes_become_text_that_json_takes(run: Run, command: str) -> None:
    result = await run(command)
    json.dumps(result.content, ensure_ascii=False).encode()


async def test_output_is_shown_while_the_command_runs(context: ToolContext, shells: ShellState, tmp_path: Path) -> None:
    seen: list[str] = []
    os.mkfifo(tmp_path / "gate")
    reported = asyncio.Event()

    def progress(text: str, progress: float | None = None, total: float | None = None) -> None:
        seen.append(text)
        reported.set()

    command = "for i in $(seq 500); do echo $i; done; read x < gate; echo last"
    running = asyncio.ensure_future(
        execute_tool(bash_tool(shells), {"command": command}, replace(context, progress=progress))
    )
    async with asyncio.timeout(5):
        await reported.wait()
        (tmp_path / "gate").write_text("go on\n")
        result = await running
    assert result.content.endswith("500\nlast")
    assert "last" not in "".join(seen)
    assert len(seen) == 1
    assert seen[0].endswith("499\n500\n")
    assert len(seen[0]) <= 2000


# The end


async def test_a_timeout_is_an_error_with_the_output_so_far(run: Run) -> None:
    result = await run("echo $$; sleep 300 & sleep 300", timeout=300, within_s=3)
    assert result.is_error
    first, group = result.content.splitlines()
    assert first == "Error: the command timed out after 300 ms and was ended. Its output so far:"
    assert result.structured == {"exit_code": None, "signal": "SIGTERM", "timed_out": True}
    assert not group_alive(int(group))


async def test_the_default_timeout_applies(shells: ShellState, context: ToolContext) -> None:
    tool = bash_tool(shells, default_timeout_ms=200)
    async with asyncio.timeout(3):
        result = await execute_tool(tool, {"command": "sleep 100000"}, context)
    assert result.is_error
    assert "timed out after 200 ms" in result.content


@pytest.mark.parametrize(
    "tail", ["sleep 300 & sleep 300", "sleep 300 | cat", "trap '' TERM; while :; do sleep 1; done"]
)
async def test_an_abort_leaves_no_process(shells: ShellState, context: ToolContext, tail: str) -> None:
    abort = AbortSignal()
    groups: list[int] = []

    def progress(text: str, progress: float | None = None, total: float | None = None) -> None:
        groups.append(int(text))
        abort.abort()

    work = execute_tool(
        bash_tool(shells), {"command": f"echo $$; {tail}"}, replace(context, progress=progress, abort=abort)
    )
    async with asyncio.timeout(5):
        with pytest.raises(AbortedError):
            await run_abortable(work, abort)
    assert not group_alive(groups[0])


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & echo done",
        "(while :; do echo tick; sleep .1; done) & sleep .3; echo done",
        f"nohup {sys.executable} -m http.server 0 >/dev/null 2>&1 & echo done",
        "sleep 300 >/dev/null & echo done",
    ],
)
async def test_a_background_process_is_ended_and_does_not_hold_up_the_call(run: Run, command: str) -> None:
    result = await run(command, within_s=2)
    assert "done\n" in result.content
    assert result.structured["exit_code"] == 0
    assert result.content.endswith("[background processes of this command were ended with it]")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="what left its group is found in /proc only")
async def test_what_left_the_group_is_ended_too(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    result = await run("setsid cat gate & echo done", within_s=3)
    assert result.content == "done\n[background processes of this command were ended with it]"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open descriptors in /proc")
async def test_two_hundred_calls_leave_nothing_behind(run: Run) -> None:
    await run("true")
    descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(50):
        await asyncio.gather(*(run("echo out; echo err >&2; cd /; exit 1") for _ in range(4)))
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert threading.active_count() <= threads + 4
    _assert_no_children()


def _assert_no_children() -> None:
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
