import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.context import estimate_message_bytes
from agentframework.loop import Conversation
from agentframework.messages import (
    AssistantMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    Usage,
    user_text,
)


def asking(*ids: str, usage: Usage | None = None) -> AssistantMessage:
    return AssistantMessage(tuple(ToolCall(identity, "t", {}, "{}") for identity in ids), usage=usage)


def answering(*ids: str) -> ToolMessage:
    return ToolMessage(tuple(ToolResultPart(identity, "t", "r") for identity in ids))


def test_calls_wait_for_their_results_and_nothing_else_fits() -> None:
    conversation = Conversation([user_text("go"), asking("a", "b")])
    assert [call.id for call in conversation.open_calls] == ["a", "b"]
    for message in (user_text("x"), AssistantMessage((TextPart("x"),)), asking("c")):
        with pytest.raises(ValueError, match="while calls wait for their results"):
            conversation.append(message)
    for wrong in (answering("a"), answering("b", "a"), answering("a", "b", "c"), answering()):
        with pytest.raises(ValueError, match="do not answer the open calls"):
            conversation.append(wrong)
    assert conversation.context_state(100).messages == 2
    conversation.append(answering("a", "b"))
    assert conversation.open_calls == ()


def test_results_without_calls_are_refused() -> None:
    for conversation in (Conversation(), Conversation([user_text("x")])):
        with pytest.raises(ValueError, match="do not answer"):
            conversation.append(answering())


def test_the_count_of_the_provider_holds_until_something_is_added() -> None:
    conversation = Conversation([user_text("x" * 400)])
    assert conversation.context_state(1_000).used_tokens == 104
    conversation.append(AssistantMessage((TextPart("y"),), usage=Usage(50, 7)))
    assert conversation.context_state(1_000).used_tokens == 57
    conversation.append(user_text("z"))
    state = conversation.context_state(1_000)
    assert state.used_tokens == -(-state.bytes // 4)
    conversation.append(AssistantMessage((TextPart("y"),), usage=Usage(500, 7, estimated=True)))
    assert conversation.context_state(1_000).used_tokens < 200
    conversation.append(AssistantMessage((TextPart("y"),), usage=Usage(900, 7)))
    conversation.append(user_text("z"))
    assert conversation.context_state(1_000).used_tokens == 907 + 5  # 17 bytes came since


def test_a_cleared_conversation_is_like_a_new_one() -> None:
    conversation = Conversation([user_text("x"), asking("a", usage=Usage(10, 10))])
    conversation.clear()
    assert conversation.context_state(100) == Conversation().context_state(100)
    conversation.append(user_text("again"))
    assert len(conversation.messages) == 1


moves = st.lists(st.sampled_from(["user", "text", "calls", "results", "wrong", "clear"]), max_size=30)


@given(moves)
def test_whatever_is_tried_the_messages_stay_paired_and_their_size_is_known(steps: list[str]) -> None:
    conversation = Conversation()
    for number, step in enumerate(steps):
        message = {
            "user": user_text("u"),
            "text": AssistantMessage((TextPart("t"),)),
            "calls": asking(f"{number}a", f"{number}b"),
            "results": answering(*[call.id for call in conversation.open_calls]),
            "wrong": answering("nobody"),
        }.get(step)
        before = list(conversation.messages)
        try:
            conversation.clear() if message is None else conversation.append(message)
        except ValueError:
            assert list(conversation.messages) == before
    waiting: list[str] = []
    for message in conversation.messages:
        if isinstance(message, ToolMessage):
            assert [part.tool_use_id for part in message.content] == waiting != []
            waiting = []
        else:
            assert waiting == []
            waiting = [call.id for call in message.tool_calls] if isinstance(message, AssistantMessage) else []
    assert waiting == [call.id for call in conversation.open_calls]
    assert conversation.context_state(100).bytes == sum(map(estimate_message_bytes, conversation.messages))
