from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework import ConfigurationError, ContextManager, ContextOptions, estimate_message_bytes
from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.context.compact import SUMMARY_NOTE
from agentframework.context.rounds import WHOLE, cut_at, cut_places
from agentframework.context.truncate import Bounds, cut_to_fit
from agentframework.loop import Conversation
from agentframework.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    user_text,
)


def reply(text: str) -> AssistantMessage:
    return AssistantMessage((TextPart(text),))


def tool_round(number: int, text: str = "result") -> list[Message]:
    call = ToolCall(f"call_{number}", "look", {}, "{}")
    return [AssistantMessage((call,)), ToolMessage((ToolResultPart(call.id, "look", text),))]


def turn(number: int, rounds: int = 0, text: str = "") -> list[Message]:
    parts = [user_text(f"question {number} {text}")]
    return [*parts, *(m for n in range(rounds) for m in tool_round(number * 100 + n)), reply(f"answer {number}")]


def turns(count: int, rounds: int = 0, text: str = "") -> list[Message]:
    return [message for number in range(count) for message in turn(number, rounds, text)]


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text.strip() for message in messages]


async def test_32000_tokens_and_100_messages_are_sent_unless_told_otherwise() -> None:
    manager = ContextManager()
    assert (manager.bounds.tokens, manager.bounds.messages) == (32_000, 100)
    assert not (await manager.fit(turns(50))).compacted
    fitted = await manager.fit([*turns(50), user_text("one more")])
    assert fitted.before.messages == 101
    assert fitted.after.messages == 59
    large = await manager.fit([*turns(3, text="x" * 60_000), user_text("now")])
    assert large.before.tokens > 32_000
    assert large.after.tokens <= 0.8 * 32_000


async def test_whole_turns_are_left_out_the_oldest_first_and_the_latest_stay() -> None:
    fitted = await ContextManager(max_messages=6).fit([*turns(5), user_text("last")])
    assert texts(fitted.messages) == ["question 4", "answer 4", "last"]
    assert fitted.cut.left_out([*turns(5)])[0].text == "question 0 "


async def test_a_turn_that_is_too_long_keeps_its_prompt_and_its_latest_rounds() -> None:
    messages = [user_text("old"), reply("done"), user_text("the task"), *(m for n in range(9) for m in tool_round(n))]
    fitted = await ContextManager(max_messages=10).fit(messages)
    assert fitted.messages[0].text == "the task"
    assert Conversation(fitted.messages).open_calls == ()
    assert fitted.after.messages <= 10
    assert fitted.messages[-1] is messages[-1]


async def test_bytes_can_be_bounded_too() -> None:
    fitted = await ContextManager(max_bytes=2_000).fit([*turns(20, text="x" * 100), user_text("now")])
    assert fitted.before.bytes > 2_000
    assert fitted.after.bytes <= 1_600


async def test_the_beginning_stays_the_same_until_the_next_step() -> None:
    manager = ContextManager(max_messages=10, keep_recent_turns=0)
    whole: list[Message] = []
    sent: list[Message] = []
    beginnings: list[str] = []
    for number in range(40):
        whole.append(user_text(f"question {number}"))
        sent = [*(await manager.fit([*sent, whole[-1]])).messages]
        assert sent == list((await manager.fit(whole)).messages), "cut while it grew, or all at once"
        beginnings.append(sent[0].id)
        whole.append(reply(f"answer {number}"))
        sent.append(whole[-1])
    assert len(set(beginnings)) <= 14


async def test_the_host_can_summarise_what_is_left_out() -> None:
    asked: list[Any] = []

    async def summarize(messages: Sequence[Message], abort: AbortSignal) -> str:
        asked.append((texts(messages), abort.aborted))
        return "They talked."

    manager = ContextManager(max_messages=6, strategy="summarize", summarize=summarize)
    fitted = await manager.fit([*turns(5), user_text("last")])
    assert texts(fitted.messages) == [f"{SUMMARY_NOTE}\nThey talked.", "question 4", "answer 4", "last"]
    assert asked == [([t for n in range(4) for t in (f"question {n}", f"answer {n}")], False)]
    assert fitted.after.messages == 4


async def test_a_summary_function_may_be_sync_and_take_the_messages_only() -> None:
    manager = ContextManager(max_messages=4, strategy="summarize", summarize=lambda messages: f"{len(messages)} left")
    fitted = await manager.fit([*turns(4), user_text("last")])
    assert fitted.summary == "6 left"


@pytest.mark.parametrize("answer", ["", "  ", None, 7, ValueError("no")])
async def test_a_summary_that_fails_is_a_truncation(answer: Any) -> None:
    def summarize(_messages: Sequence[Message], _abort: AbortSignal) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    options = ContextOptions(max_messages=4, strategy="summarize", summarize=summarize)
    fitted = await ContextManager(options).fit([*turns(4), user_text("last")])
    assert texts(fitted.messages) == ["question 3", "answer 3", "last"]
    assert fitted.summary is None
    assert fitted.problem is not None


async def test_a_summary_can_be_aborted() -> None:
    abort = AbortSignal()

    async def summarize(_messages: Sequence[Message], signal: AbortSignal) -> str:
        abort.abort("enough")
        await signal.wait()
        return "late"

    manager = ContextManager(max_messages=4, strategy="summarize", summarize=summarize)
    with pytest.raises(AbortedError):
        await manager.fit([*turns(4), user_text("last")], abort=abort)


def test_a_cut_can_be_found_again_by_its_message() -> None:
    messages = turns(3, rounds=2)
    for cut in cut_places(messages):
        assert cut_at(messages, messages[cut.start].id) == cut
    assert cut_at(messages, "nothing") is None
    assert cut_at(messages, messages[2].id) is None, "results are no place for a cut"


@pytest.mark.parametrize(
    ("choices", "named"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_messages": True}, "max_messages"),
        ({"strategy": "forget"}, "strategy"),
        ({"summarize": "yes"}, "summarize"),
        ({"auto_compact": 2}, "auto_compact"),
        ({"keep_recent_turns": -1}, "keep_recent_turns"),
        ({"max_token": 1}, "max_token"),
    ],
)
def test_bounds_that_cannot_work_are_refused_by_name(choices: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        ContextManager(**choices)


shapes = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(0, 300)), max_size=12)


@given(shapes, st.integers(1, 30), st.integers(10, 500), st.integers(0, 3))
def test_whatever_is_left_is_a_conversation_that_begins_with_a_user(
    shape: list[tuple[int, int, int]], most: int, tokens: int, keep: int
) -> None:
    messages: list[Message] = []
    for number, (said, rounds, size) in enumerate(shape):
        messages += [user_text("x" * size)] * (said - 1)
        messages += turn(number, rounds, "y" * size)
    messages.append(user_text("last"))
    bounds = Bounds(tokens, most)
    cut = cut_to_fit(messages, bounds, keep)
    kept = cut.kept(messages)
    assert Conversation(kept).open_calls == ()
    assert isinstance(kept[0], UserMessage)
    assert kept[-1] is messages[-1]
    assert len(kept) + len(cut.left_out(messages)) == len(messages)
    if bounds.hold(len(messages), sum(map(estimate_message_bytes, messages))):
        assert cut == WHOLE
