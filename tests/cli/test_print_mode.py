import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentframework.events import EVENT_TYPES
from agentframework.testing.strict_server import call, error, text

WAIT_S = 60


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def user_texts(server: Any) -> list[str]:
    """Texts of the first user message that the server got."""
    content = server.requests[0].body["input"][0]["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


async def test_the_answer_is_the_only_thing_on_stdout(command, server) -> None:
    server.reply(text("It is ", chunks=2), text("a test."))
    done = await command("-p", "What is it?")
    assert (done.code, done.out, done.err) == (0, "It is a test.\n", "")


async def test_anthropic_is_picked_by_its_key(command, server) -> None:
    command.environment |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.anthropic_url}
    server.reply(text("Hello."))
    assert (await command("-p", "hi")).out == "Hello.\n"
    assert server.requests[0].path == "/v1/messages"


async def test_a_positional_prompt_is_taken_and_everything_after_two_dashes(command, server) -> None:
    server.reply(text("ok"))
    assert (await command("--max-turns", "3", "--", "what", "does", "--help", "do?")).code == 0
    assert user_texts(server) == ["what does --help do?"]


async def test_json_is_one_object(command, server) -> None:
    server.reply(text("hm "), call("Read", {"file_path": "a.txt"}))
    server.reply(text("done"))
    (Path(command.cwd) / "a.txt").write_text("content")
    done = await command("-p", "go", "--output-format", "json")
    record = json.loads(done.out)
    assert set(record) == {
        "type", "subtype", "is_error", "result", "session_id", "num_turns", "usage", "error_code",
    }  # fmt: skip
    assert (record["type"], record["subtype"], record["is_error"], record["result"]) == (
        "result", "success", False, "done",
    )  # fmt: skip
    assert record["num_turns"] == 2
    assert record["usage"]["total_tokens"] > 0
    assert done.code == 0


async def test_stream_json_is_our_events_between_start_and_result(command, server) -> None:
    server.reply(text("a\u2028b", chunks=2), call("Glob", {"pattern": "*"}))
    server.reply(text("done"))
    done = await command("-p", "go", "--output-format", "stream-json")
    records = lines(done.out)
    assert records[0]["type"] == "session_started"
    assert records[-1]["type"] == "result"
    assert {record["type"] for record in records[:-1]} <= set(EVENT_TYPES)
    assert "".join(r["text"] for r in records if r["type"] == "text_delta") == "a\u2028bdone"
    assert [r["seq"] for r in records[:-1]] == list(range(1, len(records)))
    assert [r["outcome"] for r in records if r["type"] == "tool_end"] == ["success"]


async def test_nobody_is_there_to_allow_a_write_so_it_is_denied_and_the_model_decides(command, server) -> None:
    server.reply(call("Write", {"file_path": "new.txt", "content": "x"}))
    server.reply(text("I may not."))
    done = await command("-p", "write", "--verbose")
    assert (done.code, done.out) == (0, "I may not.\n")
    assert not (Path(command.cwd) / "new.txt").exists()
    assert "Write deny" in done.err


@pytest.mark.parametrize(
    ("options", "written"),
    [
        (["--permission-mode", "acceptEdits"], True),
        (["--allowed-tools", "Write"], True),
        (["--allowed-tools", "Read,Bash(a, b),Write"], True),
        (["--allowed-tools", "Write", "--denied-tools", "Write"], False),
    ],
)
async def test_options_decide_what_may_be_written(command, server, options: list[str], written: bool) -> None:
    server.reply(call("Write", {"file_path": "new.txt", "content": "x"}))
    server.reply(text("ok"))
    assert (await command("-p", "write", *options)).code == 0
    assert (Path(command.cwd) / "new.txt").exists() is written


@pytest.mark.parametrize(
    ("failure", "code", "says"),
    [
        (error(401, "Incorrect API key provided"), "MODEL_AUTHENTICATION_FAILED", "Incorrect API key"),
        (error(404, "no model nope", code="model_not_found"), "MODEL_NOT_FOUND", "nope"),
        (error(400, "too long", code="context_length_exceeded"), "CONTEXT_OVERFLOW", "too long"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
async def test_a_failing_api_is_an_error_in_every_format(command, server, failure, code, says, output) -> None:
    server.reply(failure)
    done = await command("-p", "go", "--output-format", output)
    assert done.code == 1
    assert says in done.err
    assert "Traceback" not in done.err
    if output == "text":
        assert done.out == ""
    else:
        last = lines(done.out)[-1]
        assert (last["subtype"], last["is_error"], last["error_code"]) == ("error", True, code)
        assert says in last["result"]


async def test_the_turn_limit_has_an_exit_code_of_its_own(command, server) -> None:
    server.reply(call("Glob", {"pattern": "*"}))
    done = await command("-p", "go", "--max-turns", "1", "--output-format", "json")
    record = json.loads(done.out)
    assert (done.code, record["subtype"], record["error_code"]) == (3, "error_limit", "AGENT_LIMIT_EXCEEDED")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--cwd", "/no/such/place"], "cwd: '/no/such/place' does not exist"),
        (["--permission-mode", "yolo"], "permission_mode must be one of plan, default"),
        (["--provider", "nobody"], "unknown provider 'nobody'; the providers are anthropic"),
        (["--output-format", "xml"], "invalid choice: 'xml'"),
        (["--max-turns", "0"], "must be at least 1"),
        (["--no-such-option"], "unrecognized arguments"),
        (["--provider", "anthropic"], "ANTHROPIC_API_KEY"),
    ],
)
async def test_usage_and_configuration_errors_exit_with_2(command, options: list[str], says: str) -> None:
    done = await command("-p", "go", *options)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err


async def test_a_configuration_error_is_a_record_where_records_are_asked_for(command) -> None:
    done = await command("-p", "go", "--cwd", "/no/such/place", "--output-format", "json")
    record = json.loads(done.out)
    assert (done.code, record["is_error"], record["error_code"]) == (2, True, "INVALID_CONFIGURATION")


async def test_an_unreachable_server_says_where_it_should_have_been(command) -> None:
    command.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    done = await command("-p", "go")
    assert done.code == 1
    assert "127.0.0.1:9" in done.err
    assert "Traceback" not in done.err


async def test_piped_text_is_added_to_the_prompt(command, server) -> None:
    server.reply(text("ok"))
    assert (await command("-p", "review", piped=b"the diff\xff\n")).code == 0
    assert user_texts(server) == ["review\n\nthe diff\ufffd\n"]


async def test_the_prompt_may_come_from_stdin_alone(command, server) -> None:
    server.reply(text("ok"))
    assert (await command("-p", piped=b"from stdin")).code == 0
    assert user_texts(server) == ["from stdin"]


async def test_an_open_silent_pipe_does_not_hold_up_a_run(command, server) -> None:
    server.reply(text("ok"))
    reading, writing = os.pipe()
    try:
        process = await command.start("-p", "go", stdin=reading)
        async with asyncio.timeout(WAIT_S):
            out, _ = await process.communicate()
    finally:
        os.close(reading)
        os.close(writing)
    assert (process.returncode, out) == (0, b"ok\n")


@pytest.mark.parametrize("arguments", [[], ["-p"], ["-p", "  "]])
async def test_no_prompt_at_all_is_a_usage_error(command, arguments: list[str]) -> None:
    done = await command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "no prompt" in done.err


def shell(command: Any, line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell line that says ``AF`` for the command."""
    line = line.replace("AF", f"{sys.executable} -m agentframework")
    return subprocess.run(
        ["bash", "-c", line], cwd=command.cwd, env=command.environment, capture_output=True, timeout=WAIT_S
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("AF -p hi <&-", 0),
        ("AF -p hi >&-", 1),
        ("AF -p hi 2>&-", 0),
        ("AF -p hi >/dev/full", 1),
        ("AF -p hi --output-format stream-json >/dev/full", 1),
        ("set -o pipefail; AF -p hi --output-format stream-json | head -n 1 >/dev/null", 141),
    ],
)
async def test_odd_descriptors_give_the_documented_code_and_no_traceback(command, server, line, code) -> None:
    server.reply(text("x" * 400_000, chunks=400))
    done = await asyncio.to_thread(shell, command, line)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


async def until(process: Any, wanted: str) -> list[dict[str, Any]]:
    """Records up to and with the first of type ``wanted``."""
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(WAIT_S):
        while not seen or seen[-1]["type"] != wanted:
            line = await process.stdout.readline()
            assert line, f"no {wanted} in {[record['type'] for record in seen]}"
            seen.append(json.loads(line))
    return seen


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return state != "Z"


async def wait_for_file(path: Path) -> str:
    async with asyncio.timeout(WAIT_S):
        while not (path.exists() and path.read_text().strip()):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
    return path.read_text()


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ([signal.SIGINT], 130),
        ([signal.SIGTERM], 143),
        ([signal.SIGHUP], 129),
    ],
)
async def test_a_signal_ends_the_turn_in_order(command, server, numbers: list[signal.Signals], code: int) -> None:
    server.reply(text("Sleeping. "), call("Bash", {"command": "echo $$ > pid; sleep 90"}))
    process = await command.start(
        "-p", "go", "--output-format", "stream-json", "--permission-mode", "bypassPermissions"
    )
    await until(process, "tool_start")
    pid = int(await wait_for_file(Path(command.cwd) / "pid"))
    for number in numbers:
        process.send_signal(number)
    async with asyncio.timeout(WAIT_S):
        rest, err = await process.communicate()
    records = lines(rest.decode())
    assert process.returncode == code
    assert (records[-1]["type"], records[-1]["subtype"]) == ("result", "interrupted")
    assert [r["outcome"] for r in records if r["type"] == "tool_end"] == ["interrupted"]
    assert err == b""
    assert not alive(pid)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to find the children")
async def test_a_second_interrupt_ends_everything_at_once_still_with_the_final_record(command, server) -> None:
    server.reply(call("Bash", {"command": "trap '' TERM; echo $$ > pid; while :; do sleep 1; done"}))
    process = await command.start(
        "-p", "go", "--output-format", "stream-json", "--permission-mode", "bypassPermissions"
    )
    await until(process, "tool_start")
    pid = int(await wait_for_file(Path(command.cwd) / "pid"))
    rest = asyncio.ensure_future(process.stdout.read())
    async with asyncio.timeout(WAIT_S):
        while not rest.done():  # two signals at once would be one
            process.send_signal(signal.SIGINT)
            await asyncio.wait({rest}, timeout=0.1)
        await process.wait()
    assert process.returncode == 130
    assert lines(rest.result().decode())[-1]["subtype"] == "interrupted"
    assert not alive(pid)


async def test_help_and_version_answer_without_loading_the_heavy_half(command) -> None:
    done = await command("--help")
    assert (done.code, done.err) == (0, "")
    assert "exit codes:" in done.out
    done = await command("--version")
    assert done.out.startswith("agentframework 0.")
