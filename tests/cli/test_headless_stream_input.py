import asyncio
import json
import os
import signal

import pytest
from headlesskit import WAIT_S, Command, Exchanges, finish, of, records, until
from hypothesis import given, settings
from hypothesis import strategies as st

from agentframework.cli.arguments import parse
from agentframework.cli.stdin_lines import input_lines

STREAM = ("--input-format", "stream-json", "--output-format", "stream-json")


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


async def test_prompts_and_answers_go_in_while_events_come_out(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("Hello.")
    for name in ("yes.txt", "no.txt"):
        exchanges.answer("", ("Write", {"file_path": name, "content": "x"}))
    exchanges.answer("Done.")
    process = await replayed.start(*STREAM, stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    assert (await until(process, "session_started"))[0]["seq"] == 1
    process.stdin.write(line(type="user", content="first") + line(type="user", content="second", driver_id="me"))
    for answer in (True, {"allow": False, "message": "Not that one."}):
        request = (await until(process, "permission_request"))[-1]
        process.stdin.write(line(type="permission_response", id=request["id"], answer=answer))
    await until(process, "complete")
    done = await finish(process, line(type="user", content="third"))
    assert (done.code, [record["type"] for record in done.records][-1]) == (1, "result")
    assert done.last["error_code"] == "REPLAY_MISMATCH"
    assert done.last["num_turns"] == 5
    assert sorted(path.name for path in replayed.cwd.glob("*.txt")) == ["yes.txt"]


async def test_a_file_of_prompts_runs_to_its_end_whatever_else_is_in_it(
    replayed: Command, exchanges: Exchanges
) -> None:
    exchanges.answer("One.").answer("Two.", ("Write", {"file_path": "x.txt", "content": "x"})).answer("No.")
    too_long = b'{"type": "user", "content": "' + b"x" * 17_000_000 + b'"}\n'
    given = replayed.cwd / "prompts.jsonl"
    given.write_bytes(
        line(type="user", content="1") + b"nonsense\n\n" + too_long + line(type="user", content="zwei \u2028 ü")[:-1]
    )
    with given.open("rb") as stdin:
        stream = await finish(await replayed.start(*STREAM, stdin=stdin.fileno()))
    with given.open("rb") as stdin:
        both = ("--input-format", "stream-json", "--output-format", "json")
        alone = await finish(await replayed.start(*both, stdin=stdin.fileno()))
    for done in (stream, alone):
        assert (done.code, done.last["result"], done.last["num_turns"]) == (0, "No.", 3)
    assert [record["content"] for record in of("user_message", stream.records)] == ["1", "zwei \u2028 ü"]
    warnings = [record["message"] for record in of("warning", stream.records)]
    assert [warning.split(":")[0] for warning in warnings] == [f"input line {n} was left out" for n in (2, 4)]
    assert [record["outcome"] for record in of("tool_end", stream.records)] == ["denied"]
    assert alone.err == "".join(f"agentframework: {warning}\n" for warning in warnings)
    assert (stream.err, len(alone.records)) == ("", 1)


async def test_an_input_without_a_prompt_is_a_usage_error(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("never")
    empty, closed = await asyncio.gather(
        replayed(*STREAM), replayed.shell(f"AF {' '.join(STREAM)} <&-")
    )
    for done in (empty, closed):
        assert (done.code, done.last["is_error"], done.last["error_code"]) == (2, True, "INVALID_INPUT")
        assert "no prompt came" in done.err


async def test_a_signal_ends_a_conversation_that_waits_for_input(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("Hello.")
    process = await replayed.start(*STREAM, stdin=asyncio.subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line(type="user", content="hi"))
    await until(process, "complete")
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(WAIT_S):
        last = records((await process.stdout.read()).decode())[-1]
        assert await process.wait() == 143
    assert (last["type"], last["subtype"], last["num_turns"]) == ("result", "interrupted", 1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["-p", "hello"], "leave the text out"),
        (["hello"], "leave the text out"),
        (["--output-format", "text"], "could not be told apart"),
    ],
)
def test_what_makes_no_sense_together_is_a_usage_error(
    capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as leaving:
        parse([*STREAM, *options])
    assert leaving.value.code == 2
    assert says in capsys.readouterr().err


def test_print_without_a_text_may_be_said() -> None:
    arguments = parse(["-p", *STREAM])
    assert arguments is not None
    assert (arguments.once, arguments.input_format, arguments.output_format) == (True, "stream-json", "stream-json")


def read_lines(data: bytes, longest: int) -> list[bytes]:
    async def read() -> list[bytes]:
        async with asyncio.timeout(WAIT_S):
            return [line async for line in input_lines(reading, longest)]

    reading, writing = os.pipe()
    try:
        os.write(writing, data)
        os.close(writing)
        return asyncio.run(read())
    finally:
        os.close(reading)


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=30)), st.integers(1, 20))
def test_lines_arrive_as_they_were_sent_but_cut_when_too_long(pieces: list[bytes], longest: int) -> None:
    data = b"\n".join(pieces)
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert read_lines(data, longest) == [line[: longest + 1] for line in expected]
