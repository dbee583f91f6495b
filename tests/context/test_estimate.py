import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework import estimate_message_bytes, estimate_message_tokens
from agentframework.context.estimate import IMAGE_BYTES, MESSAGE_BYTES
from agentframework.loop import Conversation
from agentframework.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    Usage,
    UserMessage,
    user_text,
)

PICTURE = ImagePart("image/png", "A" * 100_000)


@pytest.mark.parametrize(
    ("message", "content_bytes"),
    [
        (user_text("abcd"), 4),
        (user_text("äöü"), 6),
        (user_text("\ud800x"), 4),
        (user_text(""), 0),
        (UserMessage((TextPart("ab"), PICTURE)), 2 + IMAGE_BYTES),
        (UserMessage((DocumentPart("application/pdf", "A" * 400),)), 300),
        (AssistantMessage((ThinkingPart("abc", "sig", {"a": 1}), TextPart("de"))), 3 + 3 + 8 + 2),
        (AssistantMessage((ToolCall("id", "name", {"a": 1}, '{"a": 1}'),)), 2 + 4 + 8),
        (AssistantMessage((OpaquePart({"type": "x"}),)), len(json.dumps({"type": "x"}))),
        (ToolMessage((ToolResultPart("id", "name", "result", images=(PICTURE,)),)), 2 + 6 + IMAGE_BYTES),
    ],
)
def test_a_message_counts_what_its_content_would_take(message: Message, content_bytes: int) -> None:
    assert estimate_message_bytes(message) == MESSAGE_BYTES + content_bytes


def test_a_picture_counts_the_same_whatever_its_size() -> None:
    small = UserMessage((ImagePart("image/png", "A"),))
    assert estimate_message_tokens(small) == estimate_message_tokens(UserMessage((PICTURE,)))
    assert 1_600 <= estimate_message_tokens(small) < 1_610


texts = st.text(max_size=300)
parts = st.one_of(
    st.builds(TextPart, texts),
    st.builds(ThinkingPart, texts, st.none() | texts, st.none() | st.dictionaries(texts, texts, max_size=2)),
    st.builds(ToolCall, texts, texts, st.none(), texts),
)


@given(st.lists(parts, max_size=5))
def test_four_bytes_are_a_token_rounded_up_and_always_the_same(content: list[TextPart]) -> None:
    message = AssistantMessage(tuple(content))
    size, tokens = estimate_message_bytes(message), estimate_message_tokens(message)
    assert size / 4 <= tokens < size / 4 + 1
    again = AssistantMessage(tuple(content), model="another", usage=Usage(1, 1))
    assert (estimate_message_bytes(again), estimate_message_tokens(again)) == (size, tokens)


@given(st.lists(texts, max_size=8))
def test_a_conversation_without_counts_of_the_provider_is_the_sum_of_its_messages(said: list[str]) -> None:
    messages = [user_text(text) for text in said]
    state = Conversation(messages).context_state(1_000)
    assert state.bytes == sum(map(estimate_message_bytes, messages))
    assert state.used_tokens == -(-state.bytes // 4)
    assert state.messages == len(messages)
    assert 0 <= state.used_percentage <= 100
    assert round(state.used_percentage + state.remaining_percentage, 2) == 100
