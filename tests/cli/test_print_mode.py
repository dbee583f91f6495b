import asyncio
import json
import os
from typing import Any

import pytest
from headlesskit import finish, of

from agentframework.cli.arguments import parse
from agentframework.errors import AuthenticationError, ContextOverflowError, ErrorCode, ModelNotFoundError
from agentframework.events import EVENT_TYPES
from agentframework.testing.strict_server import error, text


def user_texts(server: Any) -> list[str]:
    """Texts of the first user message that the server got."""
    content = server.requests[0].body["input"][0]["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


async def test_the_answer_is_the_only_thing_on_stdout(command, server) -> None:
    server.reply(text("It is ", chunks=2), text("a test."))
    done = await command("-p", "What is it?")
    assert (done.code, done.out, done.err) == (0, "It is a test.\n", "")
    assert user_texts(server) == ["What is it?"]


async def test_anthropic_is_picked_by_its_key(command, server) -> None:
    command.environment |= {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.anthropic_url}
    server.reply(text("Hello."))
    assert (await command("-p", "hi")).out == "Hello.\n"
    assert server.requests[0].path == "/v1/messages"


async def test_what_the_api_says_about_a_failure_reaches_the_caller(command, server) -> None:
    server.reply(error(401, "Incorrect API key provided"))
    done = await command("-p", "go", "--output-format", "json")
    assert (done.code, done.last["error_code"]) == (1, "MODEL_AUTHENTICATION_FAILED")
    assert "Incorrect API key" in done.err
    assert "Incorrect API key" in done.last["result"]
    assert done.is_quiet()


async def test_an_unreachable_server_says_where_it_should_have_been(command) -> None:
    command.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1"
    done = await command("-p", "go")
    assert done.code == 1
    assert "127.0.0.1:9" in done.err
    assert done.is_quiet()


async def test_a_positional_prompt_is_taken_and_everything_after_two_dashes(replayed, exchanges) -> None:
    exchanges.answer("ok")
    done = await replayed("--output-format", "stream-json", "--", "what", "does", "--help", "do?")
    assert [record["content"] for record in of("user_message", done.records)] == ["what does --help do?"]


async def test_json_is_one_object(replayed, exchanges) -> None:
    exchanges.answer("hm ", ("Read", {"file_path": "a.txt"})).answer("done")
    (replayed.cwd / "a.txt").write_text("content")
    done = await replayed("-p", "go", "--output-format", "json")
    record = json.loads(done.out)
    assert set(record) == {
        "type", "subtype", "is_error", "result", "session_id", "num_turns", "usage", "error_code",
    }  # fmt: skip
    assert (record["type"], record["subtype"], record["is_error"], record["result"]) == (
        "result", "success", False, "done",
    )  # fmt: skip
    assert (record["num_turns"], record["usage"]["total_tokens"]) == (2, 2_100)
    assert done.code == 0


async def test_stream_json_is_our_events_between_start_and_result(replayed, exchanges) -> None:
    exchanges.answer("a\u2028b ", ("Glob", {"pattern": "*"})).answer("done")
    done = await replayed("-p", "go", "--output-format", "stream-json")
    records = done.records
    assert records[0]["type"] == "session_started"
    assert records[-1]["type"] == "result"
    assert {record["type"] for record in records[:-1]} <= set(EVENT_TYPES)
    assert "".join(r["text"] for r in of("text_delta", records)) == "a\u2028b done"
    assert [r["seq"] for r in records[:-1]] == list(range(1, len(records)))
    assert [r["outcome"] for r in of("tool_end", records)] == ["success"]
    assert (done.code, done.err) == (0, "")


async def test_nobody_is_there_to_allow_a_write_so_it_is_denied_and_the_model_decides(replayed, exchanges) -> None:
    exchanges.answer("", ("Write", {"file_path": "new.txt", "content": "x"})).answer("I may not.")
    done = await replayed("-p", "write", "--verbose")
    assert (done.code, done.out) == (0, "I may not.\n")
    assert not (replayed.cwd / "new.txt").exists()
    assert "Write deny" in done.err


async def test_options_decide_what_may_be_written(replayed, exchanges) -> None:
    exchanges.answer("", ("Write", {"file_path": "new.txt", "content": "x"})).answer("ok")
    options = {
        "mode": ["--permission-mode", "acceptEdits"],
        "allowed": ["--allowed-tools", "Read,Bash(a, b),Write"],
        "denied": ["--allowed-tools", "Write", "--denied-tools", "Write"],
    }
    for name in options:
        (replayed.cwd / name).mkdir()
    ended = await asyncio.gather(*(replayed("-p", "write", "--cwd", name, *given) for name, given in options.items()))
    assert [done.code for done in ended] == [0, 0, 0]
    assert [name for name in options if (replayed.cwd / name / "new.txt").exists()] == ["mode", "allowed"]


@pytest.mark.parametrize(
    ("failure", "output"),
    [
        (AuthenticationError("the key was refused", status=401), "text"),
        (ModelNotFoundError("there is no such model", status=404), "json"),
        (ContextOverflowError("it is too long", status=400), "stream-json"),
    ],
)
async def test_a_failure_is_an_error_in_every_format(replayed, exchanges, failure, output: str) -> None:
    exchanges.fail(failure)
    done = await replayed("-p", "go", "--output-format", output)
    assert (done.code, done.err) == (1, f"agentframework: {failure.message}\n")
    if output == "text":
        assert done.out == ""
    else:
        last = done.last
        assert (last["type"], last["subtype"], last["is_error"]) == ("result", "error", True)
        assert (last["result"], last["error_code"]) == (failure.message, failure.code)


async def test_the_turn_limit_has_an_exit_code_of_its_own(replayed, exchanges) -> None:
    exchanges.answer("", ("Glob", {"pattern": "*"}))
    done = await replayed("-p", "go", "--max-turns", "1", "--output-format", "json")
    record = json.loads(done.out)
    assert (done.code, record["subtype"], record["error_code"]) == (3, "error_limit", ErrorCode.AGENT_LIMIT_EXCEEDED)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--output-format", "xml"], "invalid choice: 'xml'"),
        (["--max-turns", "0"], "must be at least 1"),
        (["--no-such-option"], "unrecognized arguments"),
        (["again"], "give the prompt once"),
    ],
)
def test_a_usage_error_exits_with_2(capsys: pytest.CaptureFixture[str], options: list[str], says: str) -> None:
    with pytest.raises(SystemExit) as leaving:
        parse(["-p", "go", *options])
    assert leaving.value.code == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""


async def test_usage_and_configuration_errors_exit_with_2(replayed, exchanges) -> None:
    exchanges.answer("never")
    says = {
        "cwd: '/no/such/place' does not exist": ["-p", "go", "--cwd", "/no/such/place"],
        "permission_mode must be one of plan, default": ["-p", "go", "--permission-mode", "yolo"],
        "unknown provider 'nobody'; the providers are anthropic": ["-p", "go", "--provider", "nobody"],
        "ANTHROPIC_API_KEY": ["-p", "go", "--provider", "anthropic"],
        "unrecognized arguments": ["-p", "go", "--nope"],
        "no prompt": [],
        "no prompt; give one": ["-p", "  "],
    }
    ended = await asyncio.gather(*(replayed(*options) for options in says.values()))
    for said, done in zip(says, ended, strict=True):
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert done.is_quiet()


async def test_a_configuration_error_is_a_record_where_records_are_asked_for(replayed, exchanges) -> None:
    exchanges.answer("never")
    done = await replayed("-p", "go", "--cwd", "/no/such/place", "--output-format", "json")
    record = json.loads(done.out)
    assert (done.code, record["is_error"], record["error_code"]) == (2, True, "INVALID_CONFIGURATION")


async def test_piped_text_is_added_to_the_prompt_or_is_the_prompt(replayed, exchanges) -> None:
    exchanges.answer("ok")
    both, alone = await asyncio.gather(
        replayed("-p", "review", "--output-format", "stream-json", piped=b"the diff\xff\n"),
        replayed("-p", "--output-format", "stream-json", piped=b"from stdin"),
    )
    prompts = [record["content"] for done in (both, alone) for record in of("user_message", done.records)]
    assert prompts == ["review\n\nthe diff\ufffd\n", "from stdin"]


async def test_an_open_silent_pipe_does_not_hold_up_a_run(replayed, exchanges) -> None:
    exchanges.answer("ok")
    reading, writing = os.pipe()
    try:
        done = await finish(await replayed.start("-p", "go", stdin=reading))
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.code, done.out) == (0, "ok\n")


async def test_help_and_version_answer_without_loading_the_heavy_half(replayed) -> None:
    replayed.exchanges = None
    replayed.environment["PYTHONPROFILEIMPORTTIME"] = "1"
    helped, told = await asyncio.gather(replayed("--help"), replayed("--version"))
    assert (helped.code, told.code) == (0, 0)
    assert "exit codes:" in helped.out
    assert told.out.startswith("agentframework 0.")
    for done in (helped, told):
        loaded = {line.rsplit("|", 1)[1].strip() for line in done.err.splitlines()}
        assert not {"asyncio", "agentframework.session", "pydantic", "rich"} & loaded
