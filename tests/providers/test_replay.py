import asyncio
import json
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework._base.jsonl import BadLine, dump_line, read_lines
from agentframework.errors import (
    ConfigurationError,
    ErrorCode,
    MissingCredentialsError,
    ProviderError,
    RateLimitError,
    ReplayMismatchError,
)
from agentframework.messages import (
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    ToolResultPart,
    Usage,
    UserMessage,
    user_text,
)
from agentframework.providers.protocol import (
    Chunk,
    ModelLimits,
    ModelReply,
    ModelRequest,
    Provider,
    RawChunk,
    RetryChunk,
    TextChunk,
)
from agentframework.providers.recording import RecordingProvider
from agentframework.providers.replay import ReplayProvider
from agentframework.testing import ScriptedProvider, bad_call, call, say, think


def ask(*messages: Message | str, model: str = "some-model", raw: bool = False) -> ModelRequest:
    made = [user_text(message) if isinstance(message, str) else message for message in messages]
    return ModelRequest(model=model, messages=made, raw_events=raw)


def results(*ids: str, text: str = "done") -> ToolMessage:
    return ToolMessage(tuple(ToolResultPart(id, "Read", text) for id in ids))


async def answer(provider: Provider, request: ModelRequest) -> list[Chunk]:
    async with asyncio.timeout(10):
        return [chunk async for chunk in provider.stream(request)]


def without_identity(chunks: Sequence[Chunk]) -> list[Chunk]:
    return [
        ModelReply(replace(chunk.message, id="", timestamp=0.0)) if isinstance(chunk, ModelReply) else chunk
        for chunk in chunks
    ]


def exchange(text: str = "Hello", **request: Any) -> dict[str, Any]:
    return {
        "event": "model_exchange",
        "request": request,
        "chunks": [{"text": text}],
        "reply": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    }


def said(chunks: Sequence[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


class Failing(ScriptedProvider):
    """Says something and then fails in a way of its own."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        yield RetryChunk(1, 0.5, "busy")
        yield TextChunk("so far")
        raise self.error


class Silent(ScriptedProvider):
    """Ends without a reply."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        yield TextChunk("and")


# --- round trip -----------------------------------------------------------------------------------------------


async def test_a_recording_replays_chunk_for_chunk(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    scripted = ScriptedProvider(
        say(think("hm", "signature"), "Let me ", "look.", call("Read", file_path="a.txt")),
        say("Zwölf \u2028 \ud800.", bad_call("Read", '{"x'), usage=Usage(1, 2, cost_usd=0.25)),
        context_window=5_000,
    )
    recorder = RecordingProvider(scripted, path)
    first = await answer(recorder, ask("Look", model="m1"))
    second = await answer(recorder, ask("Look", results("c1"), model="m1"))

    replay = ReplayProvider(path, strict=True)
    assert replay.default_model == "m1"
    assert replay.limits("m1") == ModelLimits(5_000)
    assert replay.limits("another") == ModelLimits()
    assert without_identity(await answer(replay, ask("Look", model="m1"))) == without_identity(first)
    again = without_identity(await answer(replay, ask("Look", results("c1"), model="m1")))
    assert [type(chunk) for chunk in again] == [type(chunk) for chunk in second]
    assert again[0] == TextChunk("Zwölf \u2028 \ufffd.")
    assert again[1:-1] == second[1:-1]
    assert replay.remaining == 0


async def test_the_recorder_is_the_provider_to_everybody(tmp_path: Path) -> None:
    scripted = ScriptedProvider("hello", context_window=7)
    recorder = RecordingProvider(scripted, tmp_path / "a.jsonl")
    await recorder.start()
    assert isinstance(recorder, Provider)
    assert (recorder.name, recorder.default_model) == ("scripted", "scripted-model")
    assert recorder.resolve_model("opus") == "opus"
    assert recorder.limits("x") == ModelLimits(7)
    assert said(await answer(recorder, ask("Hi"))) == "hello"
    assert [list(request.messages)[0].text for request in scripted.requests] == ["Hi"]
    await recorder.aclose()


async def test_vendor_events_replay_only_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("hello"), path), ask("Hi", raw=True))
    assert RawChunk({"part": "str"}) in await answer(ReplayProvider(path), ask("Hi", raw=True))
    assert not any(isinstance(chunk, RawChunk) for chunk in await answer(ReplayProvider(path), ask("Hi")))


async def test_each_replayed_reply_is_a_message_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    original = await answer(RecordingProvider(ScriptedProvider("hello"), path), ask("Hi"))
    replies = [(await answer(ReplayProvider(path), ask("Hi")))[-1] for _ in range(2)]
    ids = {chunk.message.id for chunk in (*replies, original[-1]) if isinstance(chunk, ModelReply)}
    assert len(ids) == 3


async def test_a_failure_is_recorded_and_fails_again_in_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    error = RateLimitError("slow down", status=429, retry_after_s=2.5, details={"type": "tokens"}, retryable=False)
    with pytest.raises(RateLimitError):
        await answer(RecordingProvider(Failing(error), path), ask("Hi"))
    seen: list[Chunk] = []

    async def read() -> None:
        async for chunk in ReplayProvider(path).stream(ask("Hi")):
            seen.append(chunk)

    with pytest.raises(RateLimitError) as caught:
        await read()
    assert seen == [RetryChunk(1, 0.5, "busy"), TextChunk("so far")]
    assert caught.value.info == error.info
    assert (caught.value.status, caught.value.retry_after_s, caught.value.retryable) == (429, 2.5, False)


class OurOwnError(RateLimitError):
    """A class that only one program knows."""


@pytest.mark.parametrize(
    ("error", "expected", "code"),
    [
        (OurOwnError("x"), RateLimitError, ErrorCode.MODEL_RATE_LIMITED),
        (MissingCredentialsError("set it"), MissingCredentialsError, ErrorCode.MISSING_CREDENTIALS),
        (KeyError("choices"), ProviderError, ErrorCode.INTERNAL_ERROR),
        (ProviderError("x", details={"body": object()}), ProviderError, ErrorCode.MODEL_REQUEST_FAILED),
    ],
)
async def test_an_error_of_any_class_replays_as_the_nearest_of_ours(
    tmp_path: Path, error: Exception, expected: type[Exception], code: ErrorCode
) -> None:
    path = tmp_path / "a.jsonl"
    with pytest.raises(type(error)):
        await answer(RecordingProvider(Failing(error), path), ask("Hi"))
    with pytest.raises(expected) as caught:
        await answer(ReplayProvider(path), ask("Hi"))
    assert type(caught.value) is expected
    assert caught.value.code == code  # type: ignore[attr-defined]


async def test_an_answer_without_a_reply_replays_without_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(Silent(), path), ask("Hi"))
    assert await answer(ReplayProvider(path), ask("Hi")) == [TextChunk("and")]


async def _read_until_silence(provider: Provider, request: ModelRequest) -> str:
    """What arrives until the stream holds; the reader is cancelled then."""
    text: list[str] = []
    arrived = asyncio.Event()

    async def read() -> None:
        async with aclosing(provider.stream(request)) as stream:  # type: ignore[type-var]
            async for chunk in stream:
                assert isinstance(chunk, TextChunk)
                text.append(chunk.text)
                if len(text) == 2:
                    arrived.set()

    task = asyncio.create_task(read())
    async with asyncio.timeout(10):
        await arrived.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    return "".join(text)


async def test_an_interrupted_answer_holds_where_it_was_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(ScriptedProvider(say("one ", "two ", asyncio.Event(), "three")), path)
    assert await _read_until_silence(recorder, ask("Count")) == "one two "
    assert await _read_until_silence(ReplayProvider(path), ask("Count")) == "one two "


async def test_an_answer_whose_reader_left_is_recorded_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(ScriptedProvider(say("one ", "two ", "three")), path)
    async with aclosing(recorder.stream(ask("Count"))) as stream:  # type: ignore[type-var]
        async for chunk in stream:
            assert chunk == TextChunk("one ")
            break
    (record,) = read_lines(path.read_bytes())
    assert isinstance(record, dict)
    assert record["chunks"] == [{"text": "one "}, {"hold": "interrupt"}]
    assert "reply" not in record


async def test_the_pace_is_kept(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await answer(ReplayProvider([exchange()], pace_s=0.05), ask("Hi"))
    assert loop.time() - began >= 0.05


# --- misses ---------------------------------------------------------------------------------------------------


async def _miss(replay: ReplayProvider, request: ModelRequest) -> str:
    with pytest.raises(ReplayMismatchError) as caught:
        await answer(replay, request)
    assert caught.value.code == ErrorCode.REPLAY_MISMATCH
    return caught.value.message


async def test_another_question_misses_and_shows_where_it_differs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(ScriptedProvider("a", "b"), path)
    await answer(recorder, ask("Please fix the bug in the parser"))
    await answer(recorder, ask("Thanks"))
    replay = ReplayProvider(path)
    message = await _miss(replay, ask("Please fix the bag in the parser"))
    assert f"{path}:1" in message
    assert "from character 17 on" in message
    assert "bug in the parser'" in message
    assert "bag in the parser'" in message
    assert f"it would fit {path}:2" in await _miss(replay, ask("Thanks"))
    assert said(await answer(replay, ask("Please fix the bug in the parser"))) == "a"


async def test_a_miss_shows_the_recorded_request_that_comes_nearest(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(ScriptedProvider("a", "b", "c"), path)
    for prompt in ("Hello", "Please fix the bug in the parser", "Thanks"):
        await answer(recorder, ask(prompt))
    message = await _miss(ReplayProvider(path), ask("Please fix the bag in the parser"))
    assert f"does not fit {path}:1" in message
    assert f"nearest is {path}:2: the text of the last message from character 17 on" in message
    assert "nearest" not in await _miss(ReplayProvider(path), ask("Hallo"))


async def test_a_message_of_another_kind_misses(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("a"), path), ask("Hi"))
    message = await _miss(ReplayProvider(path), ask("Hi", results("c1")))
    assert "role" in message
    assert "'user'" in message
    assert "'tool'" in message


async def test_an_image_more_misses(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("a"), path), ask("Hi"))
    picture = UserMessage((TextPart("Hi"), ImagePart("image/png", "AAAA")))
    assert "attachments" in await _miss(ReplayProvider(path), ask(picture))


async def test_results_are_compared_by_the_calls_they_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("a"), path), ask("Hi", results("c1", text="in /tmp/one")))
    elsewhere = ask("Hi", results("c1", text="in /tmp/two"), model="another")
    assert said(await answer(ReplayProvider(path), elsewhere)) == "a"
    assert "Read (c2)" in await _miss(ReplayProvider(path), ask("Hi", results("c2")))
    strictly = await _miss(ReplayProvider(path, strict=True), elsewhere)
    assert "the result of c1 from character 9 on" in strictly


@pytest.mark.parametrize(
    ("asked", "name"),
    [(ask("Hi", model="other"), "the model"), (ask("Before", "Hi", model="m"), "the number of messages")],
)
async def test_strict_also_compares_model_and_length(tmp_path: Path, asked: ModelRequest, name: str) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("a"), path), ask("Hi", model="m"))
    assert name in await _miss(ReplayProvider(path, strict=True), asked)
    assert said(await answer(ReplayProvider(path), asked)) == "a"


async def test_long_texts_that_differ_at_their_end_miss(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("a"), path), ask("x" * 100_000 + "a"))
    assert path.stat().st_size < 10_000
    await _miss(ReplayProvider(path), ask("x" * 100_000 + "b"))
    assert said(await answer(ReplayProvider(path), ask("x" * 100_000 + "a"))) == "a"


async def test_a_request_after_the_end_misses() -> None:
    replay = ReplayProvider([exchange()])
    await answer(replay, ask("Hi"))
    assert "after the end of the recording, which holds 1 exchange" in await _miss(replay, ask("Hi"))


async def test_what_the_recording_does_not_hold_is_not_compared() -> None:
    replay = ReplayProvider([exchange(), exchange(last={"role": "tool"})], strict=True)
    assert said(await answer(replay, ask("anything"))) == "Hello"
    assert said(await answer(replay, ask("anything", results("c1")))) == "Hello"


async def test_sessions_side_by_side_get_an_exchange_each() -> None:
    replay = ReplayProvider([exchange("a"), exchange("b")])
    both = await asyncio.gather(answer(replay, ask("x")), answer(replay, ask("y")))
    assert sorted(said(chunks) for chunks in both) == ["a", "b"]


# --- files ----------------------------------------------------------------------------------------------------


async def test_other_records_of_a_log_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(dump_line({"event": "session_init"}) + b"\n" + dump_line(exchange()) + dump_line({"x": 1}))
    assert said(await answer(ReplayProvider(path), ask("Hi"))) == "Hello"


@pytest.mark.parametrize(
    "bad",
    [
        b'{"event":"model_ex',
        b"[1]",
        b"\0\0\0",
        b"\xff\xfe",
        dump_line({"event": "model_exchange"}).strip(),
        dump_line({"event": "model_exchange", "chunks": [{"video": 1}], "reply": None}).strip(),
        dump_line({"event": "model_exchange", "chunks": {"text": "a"}, "reply": None}).strip(),
        dump_line({"event": "model_exchange", "reply": {"role": "assistant"}}).strip(),
        dump_line({"event": "model_exchange", "error": {"class": "NoSuchError"}}).strip(),
        dump_line({"event": "model_exchange", "error": {"code": "NO_SUCH_CODE"}}).strip(),
        dump_line({"event": "model_exchange", "error": "broken"}).strip(),
        dump_line({"event": "model_exchange", "request": 7, "reply": None}).strip(),
        dump_line({"event": "model_exchange", "request": {"last": {"results": [1]}}, "reply": None}).strip(),
        dump_line({"event": "model_exchange", "request": {"last": {"attached": "x"}}, "reply": None}).strip(),
    ],
)
def test_a_damaged_line_is_named_by_file_and_line(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(dump_line(exchange()) + b"\n" + bad + b"\n" + dump_line(exchange()))
    with pytest.raises(ConfigurationError) as caught:
        ReplayProvider(path)
    assert f"{path}:3" in caught.value.message


def test_a_bad_record_in_memory_is_named_by_its_number() -> None:
    with pytest.raises(ConfigurationError, match="record 2"):
        ReplayProvider([exchange(), {"event": "model_exchange"}])


def test_a_recording_that_is_not_there_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.jsonl"):
        ReplayProvider(tmp_path / "none.jsonl")


def test_a_recording_without_exchanges_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"hello")
    with pytest.raises(ConfigurationError, match="no model exchange"):
        ReplayProvider(tmp_path / "a.jsonl")


async def test_a_crash_at_any_byte_loses_only_the_exchange_that_was_being_written(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorder = RecordingProvider(ScriptedProvider("one", "twö"), path)
    await answer(recorder, ask("1"))
    whole = len(path.read_bytes())
    await answer(recorder, ask("2"))
    data = path.read_bytes()
    assert whole < len(data)
    for cut in range(whole, len(data) + 1):
        path.write_bytes(data[:cut])
        assert ReplayProvider(path).remaining == 1 + (cut >= len(data) - 1)
    for cut in (whole, whole + 1, whole + 12, whole + 40, len(data) - 2, len(data) - 1, len(data)):
        path.write_bytes(data[:cut])
        await answer(RecordingProvider(ScriptedProvider("three"), path), ask("3"))
        lines = path.read_bytes().splitlines()
        texts = [json.loads(line)["request"]["last"]["text"] for line in lines]
        assert texts == (["1", "2", "3"] if cut >= len(data) - 1 else ["1", "3"])
        assert path.read_bytes().startswith(data[:whole])


async def test_a_replay_past_a_half_line_says_that_it_was_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(dump_line(exchange()) + b'{"event":"model_exch')
    replay = ReplayProvider(path)
    await answer(replay, ask("Hi"))
    assert "line 2 is incomplete" in await _miss(replay, ask("Hi"))


async def test_a_file_of_somebody_else_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"first\nsecond")
    scripted = ScriptedProvider("hello")
    with pytest.raises(ConfigurationError, match="no recording"):
        await answer(RecordingProvider(scripted, path), ask("Hi"))
    assert path.read_bytes() == b"first\nsecond"
    assert scripted.requests == []


async def test_a_recording_that_cannot_be_written_fails_before_anything_is_asked(tmp_path: Path) -> None:
    scripted = ScriptedProvider("hello")
    with pytest.raises(ConfigurationError, match="cannot write the recording"):
        await answer(RecordingProvider(scripted, tmp_path / "no" / "a.jsonl"), ask("Hi"))
    assert scripted.requests == []


async def test_a_recording_is_private(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await answer(RecordingProvider(ScriptedProvider("hello"), path), ask("Hi"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@given(st.binary(max_size=200))
def test_no_bytes_are_too_strange_to_be_refused_in_words(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.jsonl"
    path.write_bytes(dump_line(exchange()) + data + b"\n")
    lines = list(read_lines(path.read_bytes()))
    refused = pytest.raises(ConfigurationError, match=r"a\.jsonl:\d+: not a line of a recording")
    with refused if any(isinstance(line, BadLine) for line in lines) else nullcontext():
        assert ReplayProvider(path).remaining == 1


@given(st.text(), st.text(), st.booleans())
async def test_a_request_fits_exactly_its_own_recording(recorded: str, asked: str, strict: bool) -> None:
    record = exchange(last={"role": "user", "text": recorded, "attached": []})
    replay = ReplayProvider([record], strict=strict)
    if recorded == asked:
        assert said(await answer(replay, ask(asked))) == "Hello"
    else:
        await _miss(replay, ask(asked))


async def test_a_reply_needs_only_role_and_content() -> None:
    last = (await answer(ReplayProvider([exchange()]), ask("Hi")))[-1]
    assert isinstance(last, ModelReply)
    assert last.message.content == (TextPart("Hello"),)
