import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.errors import InvalidInputError
from agentframework.messages import ImagePart, TextPart
from agentframework.permissions import PermissionAnswer
from agentframework.transports import headless_input
from agentframework.transports.headless_input import (
    AbortInput,
    AskInput,
    InputMessage,
    PermissionInput,
    UserInput,
    parse_input,
)

PNG = {"type": "image", "mime_type": "image/png", "data_base64": "aGk="}


def parse(value: Any) -> InputMessage | None:
    return parse_input(json.dumps(value))


def test_each_kind_of_line_is_read() -> None:
    line = json.dumps({"type": "user", "content": "Hello", "driver_id": "me", "else": 1})
    assert parse_input(line) == UserInput("Hello", (), "me", len(line))
    assert parse({"type": "permission_response", "id": "p1", "answer": True}) == PermissionInput("p1", True)
    assert parse({"type": "ask_response", "id": "a1", "response": None}) == AskInput("a1", None)
    assert parse({"type": "abort"}) == AbortInput()
    assert parse_input(b" \r") is None


def test_a_prompt_may_have_parts_and_then_shows_their_texts() -> None:
    prompt = parse({"type": "user", "content": [{"type": "text", "text": "Look:"}, PNG, {"type": "text", "text": "?"}]})
    assert isinstance(prompt, UserInput)
    assert prompt.content == (TextPart("Look:"), ImagePart("image/png", "aGk="), TextPart("?"))
    assert (prompt.display, prompt.driver_id) == ("Look:\n?", "owner")
    assert isinstance(parse({"type": "user", "content": [PNG]}), UserInput)


def test_an_answer_is_a_word_or_the_fields_of_a_full_answer() -> None:
    def answer(value: Any) -> Any:
        read = parse({"type": "permission_response", "id": "p1", "answer": value})
        assert isinstance(read, PermissionInput)
        return read.answer

    assert answer("allow-session") == "allow-session"
    assert answer({"allow": True, "scope": "session", "rule": "Bash(ls:*)"}) == PermissionAnswer(
        True, "session", "Bash(ls:*)"
    )
    # Neither is an answer, and the gate takes what is none for a no.
    assert answer({"allow": True, "for_ever": True}) == {"allow": True, "for_ever": True}
    assert answer({"scope": "session"}) == {"scope": "session"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"hello", "not JSON: Expecting value"),
        (b'{"type": "user", "content": NaN}', "NaN is no number"),
        (b'{"type": "user"', "not JSON"),
        (b"[" * 100_000, "not JSON: nested too deeply"),
        (b'{"n": ' + b"1" * 5_000 + b"}", "not JSON"),
        (b'{"type": "user", "content": "\xff"}', "not UTF-8: invalid start byte at byte 29"),
        (b"[]", "not a JSON object"),
        (b"{}", "unknown type None"),
        (b'{"type": ["user"]}', "unknown type ['user']; known are user, permission_response"),
        (b'{"type": "user"}', "user needs the field 'content'"),
        (b'{"type": "user", "content": 5}', "must be a text or a list of parts"),
        (b'{"type": "user", "content": " \\n"}', "the prompt is blank"),
        (b'{"type": "user", "content": []}', "the prompt is blank"),
        (b'{"type": "user", "content": [{"type": "text", "text": " "}]}', "the prompt is blank"),
        (b'{"type": "user", "content": ["Hello"]}', "a content part must be an object"),
        (b'{"type": "user", "content": [{"type": "film"}]}', "unknown type 'film'"),
        (b'{"type": "user", "content": [{"type": "image"}]}', "needs the text field 'mime_type'"),
        (b'{"type": "user", "content": "x", "driver_id": 7}', "'driver_id' of user must be a text"),
        (b'{"type": "permission_response", "answer": true}', "needs the field 'id'"),
        (b'{"type": "permission_response", "id": "p1"}', "needs the field 'answer'"),
        (b'{"type": "permission_response", "id": 1, "answer": true}', "'id' of permission_response must be a text"),
        (b'{"type": "ask_response", "id": "a1"}', "needs the field 'response'"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_message_is_refused_with_the_reason(line: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_input(line)
    assert problem in caught.value.message


def test_a_line_longer_than_16_mib_is_refused_and_one_as_long_is_not() -> None:
    limit = headless_input.MAX_LINE_BYTES
    assert limit == 16 * 1024 * 1024
    frame = b'{"type": "user", "content": ""}'
    longest = frame[:-2] + b"x" * (limit - len(frame)) + frame[-2:]
    assert isinstance(parse_input(longest), UserInput)
    with pytest.raises(InvalidInputError, match="longer than 16777216 bytes"):
        parse_input(longest + b" ")


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse_input(b'\xef\xbb\xbf{"type": "abort"}') == AbortInput()


_plain = st.none() | st.booleans() | st.floats() | st.text()
_json = _plain | st.lists(st.text() | st.dictionaries(st.text(), st.text()))
_known = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "permission_response", "ask_response", "abort"])},
    optional=dict.fromkeys(("content", "driver_id", "id", "answer", "response"), _json),
)


@given(st.binary() | st.text() | (_json | _known).map(json.dumps))
def test_no_line_does_more_than_being_refused(line: bytes | str) -> None:
    with contextlib.suppress(InvalidInputError):
        message = parse_input(line)
        assert message is None or isinstance(message, InputMessage)
