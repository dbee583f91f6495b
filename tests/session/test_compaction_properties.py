"""Whatever a conversation holds and wherever it is cut, what is left can be sent."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentframework.context.compact import SUMMARY_NOTE, clear_old_results, is_summary, plan, summary_message
from agentframework.context.estimate import estimate_message_bytes
from agentframework.loop import Conversation
from agentframework.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    user_text,
)
from agentframework.providers.pairing import paired

_SIZES = st.integers(1, 2_000)


@st.composite
def _round(draw: st.DrawFn, number: int) -> list[Message]:
    calls = [ToolCall(f"c{number}-{n}", "look", {}, "{}") for n in range(draw(st.integers(1, 3)))]
    results = [ToolResultPart(one.id, "look", "r" * draw(_SIZES)) for one in calls]
    said = [TextPart("t" * draw(_SIZES))] if draw(st.booleans()) else []
    return [AssistantMessage((*said, *calls)), ToolMessage(tuple(results))]


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Turns of prompts, steered and told things, rounds and answers; the last may be unfinished."""
    messages: list[Message] = []
    for turn in range(draw(st.integers(0, 5))):
        messages += [user_text("p" * draw(_SIZES)) for _ in range(draw(st.integers(1, 2)))]
        if draw(st.booleans()):
            messages.insert(draw(st.sampled_from([0, len(messages) - 1])), summary_message("earlier"))
        for number in range(draw(st.integers(0, 7))):
            messages += draw(_round(turn * 10 + number))
            if draw(st.booleans()) and draw(st.booleans()):
                messages.append(user_text("steered"))
        if draw(st.booleans()):
            messages.append(AssistantMessage((TextPart("a" * draw(_SIZES)),)))
    return messages


def _valid(messages: Any) -> None:
    Conversation(messages)  # raises if calls and results are parted
    assert paired(messages) is messages
    assert not messages or messages[0].role == "user"


@given(histories(), st.integers(0, 4), st.integers(0, 20_000), st.booleans(), st.data())
def test_any_history_is_shortened_to_one_that_can_be_sent(
    messages: list[Message], keep: int, room: int, all_of_it: bool, data: st.DataObject
) -> None:
    prompts = [m.id for m in messages if m.role == "user" and not is_summary(m)]
    pinned = data.draw(st.none() | st.sampled_from(prompts)) if prompts else None
    made = plan(messages, keep_turns=keep, fits=lambda _n, size: size <= room, pinned=pinned, all_of_it=all_of_it)
    if made is None:
        return
    shortened = made.shortened("sum")
    _valid(shortened)
    assert shortened[0].text == f"{SUMMARY_NOTE}\nsum"
    assert not any(map(is_summary, shortened[1:]))
    assert {id(m) for m in (*made.left_out, *made.kept)} == {id(m) for m in messages}
    assert len(made.left_out) + len(made.kept) == len(messages)
    assert not all(map(is_summary, made.left_out))
    if pinned is not None and not all_of_it:
        assert any(message.id == pinned for message in made.kept)
    if not all_of_it and messages[-1].role != "assistant":
        assert made.kept[-1] is messages[-1]
    _valid(made.kept)


@given(histories())
def test_clearing_old_results_leaves_calls_and_the_last_rounds_as_they_are(messages: list[Message]) -> None:
    cleared = clear_old_results(messages)
    if cleared is None:
        return
    assert paired(cleared) is cleared or paired(messages) is not messages
    assert [m.id for m in cleared] == [m.id for m in messages]
    assert sum(map(estimate_message_bytes, cleared)) < sum(map(estimate_message_bytes, messages))
    last = [m for m in messages if m.role == "tool"][-5:]
    assert [m for m in cleared if m.role == "tool"][-5:] == last
