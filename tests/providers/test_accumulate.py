"""The fold of a reply: pieces in, one message out."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.messages import OpaquePart, TextPart, ThinkingPart, ToolCall, Usage
from agentframework.providers.accumulate import OpaqueSlot, ReplyBuilder, TextSlot, ThinkingSlot
from agentframework.providers.wire_json import encode, parse_arguments

json_objects = st.dictionaries(
    st.text(max_size=4),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


def cut(text: str, places: list[int]) -> list[str]:
    places = sorted({place % (len(text) + 1) for place in places})
    return [text[start:stop] for start, stop in zip([0, *places], [*places, len(text)], strict=True)]


@given(st.text(), st.lists(st.integers(0, 1000), max_size=6))
def test_text_is_the_sum_of_its_pieces(text: str, places: list[int]) -> None:
    slot = TextSlot()
    shown = "".join(slot.add(piece) for piece in cut(text, places))
    assert slot.text == shown == text


@given(st.text(st.characters(categories=["So", "Cs", "Ll"])), st.lists(st.integers(0, 1000), max_size=6))
def test_what_is_shown_can_always_be_printed(text: str, places: list[int]) -> None:
    slot = TextSlot()
    for piece in cut(text, places):
        slot.add(piece).encode()
    slot.text.encode()


def test_a_pair_of_surrogates_in_two_pieces_is_one_character() -> None:
    slot = TextSlot()
    assert [slot.add("a\ud83d"), slot.add("\ude42b")] == ["a", "🙂b"]
    assert slot.text == "a🙂b"
    broken = TextSlot()
    broken.add("a\ud83d")
    assert broken.text == "a\ufffd"


@given(json_objects, st.lists(st.integers(0, 1000), max_size=6), st.booleans())
def test_arguments_are_what_their_pieces_say(value: dict[str, Any], places: list[int], ascii_only: bool) -> None:
    builder = ReplyBuilder(set)
    slot = builder.call(0, "c1", "Read")
    slot.pieces += cut(json.dumps(value, ensure_ascii=ascii_only), places)
    call = builder.message("a", "m", "tool_use", Usage()).tool_calls[0]
    assert (call.arguments, call.problem) == (value, None)


@pytest.mark.parametrize("text", ["", "  ", "null", "{}", " {} \n"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert parse_arguments(text) == ({}, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1', "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1} {"a": 2}', "not valid JSON"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "b": 2, "a": 3}', "the key 'a' occurs twice with different values"),
        ('{"a": {"b": 1, "b": null}}', "the key 'b' occurs twice"),
        ('["a"]', "a JSON array, not an object"),
        ('"a"', "a JSON string, not an object"),
        ("7", "a JSON number, not an object"),
        ("true", "a JSON boolean, not an object"),
        ('{"a": ' * 100_000, "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_arguments_that_are_no_object_name_the_problem(text: str, problem: str) -> None:
    arguments, said = parse_arguments(text)
    assert arguments is None
    assert problem in (said or "")
    assert len(said or "") < 300


def test_a_key_that_says_the_same_twice_is_taken() -> None:
    assert parse_arguments('{"a": [1], "a": [1]}') == ({"a": [1]}, None)


def test_lone_surrogates_in_arguments_are_mended() -> None:
    assert parse_arguments('{"a\\ud800": ["\\ud83d\\ude42 \\udc00"]}') == ({"a\ufffd": ["🙂 \ufffd"]}, None)


def test_ids_are_new_to_the_conversation_and_to_the_reply() -> None:
    builder = ReplyBuilder(lambda: {"call_0"})
    slots = [builder.call(n, identity, "Read") for n, identity in enumerate(["call_0", "call_0", None, ""])]
    assert [slot.id for slot in slots[:2]] == ["call_0_2", "call_0_3"]
    assert len({slot.id for slot in slots}) == 4
    assert all(slot.id.startswith("call_") for slot in slots)


def test_the_conversation_is_not_asked_for_ids_unless_there_is_a_call() -> None:
    def never() -> set[str]:
        raise AssertionError("asked")

    builder = ReplyBuilder(never)
    builder.text("t").add("x")
    assert builder.message("a", "m", "end_turn", Usage()).content == (TextPart("x"),)


def test_parts_keep_the_order_of_their_opening_and_empty_ones_vanish() -> None:
    builder = ReplyBuilder(set)
    builder.open(0, ThinkingSlot())
    builder.thinking(1).add("hm")
    builder.text(2).add("one")
    builder.open(3, OpaqueSlot({"type": "new"}))
    builder.open(4, TextSlot())
    builder.text(5).add("two")
    builder.call(6, None, "  ")
    content = builder.message("a", "m", "end_turn", Usage()).content
    assert content == (ThinkingPart("hm"), TextPart("one"), OpaquePart({"type": "new"}), TextPart("two"))


@pytest.mark.parametrize(
    ("said", "with_call", "reason"),
    [
        ("end_turn", True, "tool_use"),
        ("tool_use", False, "end_turn"),
        ("max_tokens", True, "max_tokens"),
        ("stop_sequence", False, "stop_sequence"),
        ("something_new", False, "something_new"),
    ],
)
def test_calls_decide_whether_the_turn_goes_on(said: str, with_call: bool, reason: str) -> None:
    builder = ReplyBuilder(set)
    if with_call:
        builder.call(0, "c1", "Read").pieces.append("{}")
    assert builder.message("a", "m", said, Usage()).stop_reason == reason


def test_only_the_last_call_can_be_cut_off_by_the_output_limit() -> None:
    builder = ReplyBuilder(set)
    builder.call(0, "c1", "Read")
    builder.call(1, "c2", "Read").pieces.append('{"path": "a')
    first, last = builder.message("a", "m", "max_tokens", Usage()).tool_calls
    assert (first.arguments, first.problem) == ({}, None)
    assert last.arguments is None
    assert "output limit" in (last.problem or "")


def test_a_block_that_nobody_knows_grows_by_its_deltas() -> None:
    slot = OpaqueSlot({"type": "new", "text": "a", "list": [1], "n": 1})
    for delta in (
        {"type": "d", "text": "b", "list": [2], "n": 2, "more": None},
        {"type": "d", "partial_json": '{"q"'},
        {"type": "d", "partial_json": ": 1}"},
    ):
        slot.merge(delta)
    wanted = {"type": "new", "text": "ab", "list": [1, 2], "n": 2, "more": None, "input": {"q": 1}}
    assert slot.part() == OpaquePart(wanted)


@given(
    st.recursive(
        st.none() | st.floats() | st.text(st.characters(categories=["Cs", "L", "P"])),
        lambda i: st.lists(i) | st.dictionaries(st.text(st.characters(categories=["Cs", "L", "P"])), i),
    )
)
def test_everything_can_be_written_as_json(value: Any) -> None:
    json.loads(encode(value).decode("utf-8"))


def test_a_message_is_marked_with_its_origin() -> None:
    builder = ReplyBuilder(set)
    builder.call(0, "c1", "Read").extra["x"] = 1
    message = builder.message("api", "model", "tool_use", Usage(1, 2))
    assert (message.origin, message.model, message.usage) == ("api", "model", Usage(1, 2))
    assert message.content == (ToolCall("c1", "Read", {}, "", None, {"x": 1}),)


@pytest.mark.parametrize("letter", ["x", "é"])
@pytest.mark.parametrize("depth", [600, 5_000])
def test_arguments_nested_very_deep_are_refused_and_not_walked(letter: str, depth: int) -> None:
    arguments, said = parse_arguments('{"a":' * depth + f'"{letter}"' + "}" * depth)
    assert arguments is None
    assert said is not None
    assert "nested" in said


def test_arguments_of_an_ordinary_depth_and_any_width_are_taken() -> None:
    deep = '{"a":' * 90 + "1" + "}" * 90
    wide = '{"a": [' + ",".join(["{}"] * 500) + "]}"
    assert parse_arguments(deep)[1] is None
    assert parse_arguments(wide)[1] is None
