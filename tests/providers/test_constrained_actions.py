import contextlib
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.errors import ModelResponseInvalidError
from agentframework.messages import AssistantMessage, TextPart, ToolCall, Usage
from agentframework.providers.constrained import ActionDecoder
from agentframework.providers.constrained.decode import ReplyKind
from agentframework.providers.protocol import Chunk, ModelReply, TextChunk, ToolCallChunk

ARGUMENTS = st.dictionaries(
    st.text(max_size=6), st.text(max_size=12) | st.integers() | st.lists(st.booleans(), max_size=2), max_size=3
)


def run(
    parts: Iterable[str], reply: ReplyKind = "string", *, cut: bool = False
) -> tuple[list[Chunk], AssistantMessage]:
    decoder = ActionDecoder(reply, model="m", origin="o")
    chunks = [chunk for part in parts for chunk in decoder.feed(part)]
    chunks += decoder.finish(cut=cut, usage=Usage(3, 4))
    *shown, last = chunks
    assert isinstance(last, ModelReply)
    assert not any(isinstance(chunk, ModelReply) for chunk in shown)
    return shown, last.message


def text_of(chunks: list[Chunk]) -> str:
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


@given(st.text(), st.sampled_from([None, 2]), st.integers(1, 7))
def test_an_answer_streams_as_its_text(answer: str, indent: int | None, size: int) -> None:
    text = json.dumps({"answer": answer}, indent=indent)
    shown, message = run(text[i : i + size] for i in range(0, len(text), size))
    assert text_of(shown) == message.text == answer
    assert (message.stop_reason, message.usage, message.model, message.origin) == ("end_turn", Usage(3, 4), "m", "o")


@given(ARGUMENTS, st.booleans(), st.integers(1, 7))
def test_a_call_arrives_in_pieces_and_whole_at_the_end(arguments: dict[str, Any], tool_first: bool, size: int) -> None:
    action = {"tool": "Read", "arguments": arguments} if tool_first else {"arguments": arguments, "tool": "Read"}
    text = json.dumps(action)
    shown, message = run(text[i : i + size] for i in range(0, len(text), size))
    [call] = message.tool_calls
    assert (call.name, call.arguments, call.problem, message.stop_reason) == ("Read", arguments, None, "tool_use")
    pieces = [chunk for chunk in shown if isinstance(chunk, ToolCallChunk)]
    assert len(pieces) == len(shown)
    assert {(piece.tool_use_id, piece.name) for piece in pieces} == {(call.id, "Read")}
    assert "".join(piece.partial_json for piece in pieces) == call.arguments_json
    assert json.loads(call.arguments_json) == arguments


@given(st.text(), st.data())
def test_an_answer_that_is_cut_off_keeps_what_was_shown(answer: str, data: st.DataObject) -> None:
    text = json.dumps({"answer": answer})
    shown, message = run([text[: data.draw(st.integers(0, len(text) - 1))]])
    assert message.text == text_of(shown)
    assert message.stop_reason == "max_tokens"
    assert answer.startswith(message.text.rstrip("�"))


@given(ARGUMENTS.filter(bool), st.data())
def test_a_call_that_is_cut_off_never_has_arguments(arguments: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps({"tool": "Write", "arguments": arguments})
    begun = text.index("{", 1)
    _, message = run([text[: data.draw(st.integers(begun, len(text) - 1))]], cut=True)
    [call] = message.tool_calls
    assert call.arguments is None
    assert call.problem is not None
    assert "output limit" in call.problem
    assert message.stop_reason == "max_tokens"


def test_a_call_without_arguments_has_an_empty_object() -> None:
    _, message = run(['{"tool": "Now"}'])
    [call] = message.tool_calls
    assert call.arguments == {}


def test_arguments_that_are_no_object_are_a_problem_of_the_call() -> None:
    _, message = run(['{"tool": "Read", "arguments": "README.md"}'])
    [call] = message.tool_calls
    assert call.arguments is None
    assert call.problem is not None


def test_lone_surrogates_in_arguments_become_replacements() -> None:
    _, message = run(['{"tool": "Read", "arguments": {"p": "a\\ud83d"}}'])
    assert message.tool_calls[0].arguments == {"p": "a�"}


def test_two_replies_have_different_call_ids() -> None:
    calls = [run(['{"tool": "Now", "arguments": {}}'])[1].tool_calls[0] for _ in range(2)]
    assert calls[0].id != calls[1].id


def test_an_empty_answer_is_an_empty_message() -> None:
    shown, message = run(['{"answer": ""}'])
    assert shown == []
    assert message.is_empty


@given(st.dictionaries(st.text(max_size=4), st.integers() | st.text(max_size=4), max_size=3), st.integers(1, 5))
def test_a_structured_answer_streams_as_the_json_it_is(value: dict[str, Any], size: int) -> None:
    text = json.dumps({"answer": value})
    shown, message = run((text[i : i + size] for i in range(0, len(text), size)), "json")
    assert json.loads(message.text) == value
    assert text_of(shown) == message.text


def test_a_structured_answer_may_be_a_string() -> None:
    assert run(['{"answer": "a\\"b"', "}"], "json")[1].text == '"a\\"b"'


@given(st.text(), st.integers(1, 5))
def test_plain_text_passes_as_it_is(text: str, size: int) -> None:
    shown, message = run((text[i : i + size] for i in range(0, len(text), size)), "text")
    assert text_of(shown) == text
    assert message.content == ((TextPart(text),) if text else ())


def test_plain_text_has_no_lone_surrogates_even_when_a_pair_is_cut() -> None:
    shown, message = run(["a\ud83d", "\ude00b\ud83d"], "text")
    assert message.text == text_of(shown) == "a😀b�"


@pytest.mark.parametrize("text", ["The title is X.", "```json\n{}\n```", "[1]"])
def test_a_reply_that_ignores_the_schema_is_an_error_that_says_what_the_server_needs(text: str) -> None:
    with pytest.raises(ModelResponseInvalidError, match="response_format json_schema"):
        run([text])


@pytest.mark.parametrize("text", ["{}", '{"thought": "hm"}'])
def test_an_object_without_tool_and_answer_is_an_error(text: str) -> None:
    with pytest.raises(ModelResponseInvalidError):
        run([text])


def test_members_that_nobody_asked_for_are_passed_over() -> None:
    _, message = run(['{"thought": {"a": ["}"]}, "tool": "Now", "why": "x", "arguments": {}} trailing'])
    assert isinstance(message.content[0], ToolCall)
    assert message.stop_reason == "tool_use"


@given(st.text(max_size=30), st.integers(1, 5))
def test_whatever_a_server_sends_ends_in_a_reply_or_in_the_one_error(noise: str, size: int) -> None:
    text = '{"' + noise
    with contextlib.suppress(ModelResponseInvalidError):
        run(text[i : i + size] for i in range(0, len(text), size))
