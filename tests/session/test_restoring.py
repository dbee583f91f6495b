from hypothesis import given
from hypothesis import strategies as st

from agentframework.loop import Conversation
from agentframework.messages import (
    AssistantMessage,
    HistoryEntry,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    user_text,
)
from agentframework.stores.restoring import LOST_TEXT, close_calls


def calls(*names: str) -> AssistantMessage:
    return AssistantMessage(tuple(ToolCall(name, "Look", {}) for name in names))


def results(*names: str) -> ToolMessage:
    return ToolMessage(tuple(ToolResultPart(name, "Look", f"result of {name}") for name in names))


def ended(name: str, result: str = "success") -> HistoryEntry:
    data = {"tool_use_id": name, "tool_name": "Look", "result": result, "tool_result_data": f"kept of {name}"}
    return HistoryEntry("event", "tool-end", data)


def said(text: str) -> AssistantMessage:
    return AssistantMessage((TextPart(text),))


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


def test_a_whole_conversation_is_left_as_it_is() -> None:
    messages = [user_text("hi"), calls("a", "b"), results("a", "b"), said("done")]
    closed = close_calls(messages, [])
    assert list(closed.messages) == messages
    assert (closed.added, closed.repairs) == (None, 0)


def test_a_call_that_had_ended_keeps_its_result_and_the_others_are_interrupted() -> None:
    closed = close_calls([user_text("hi"), calls("a", "b", "c")], [ended("a"), ended("b", "error")])
    assert closed.added is not None
    assert [(part.content, part.is_error) for part in closed.added.content] == [
        ("kept of a", False),
        ("kept of b", True),
        (LOST_TEXT, True),
    ]
    assert closed.messages[-1] is closed.added


def test_a_lost_line_costs_one_result_and_nothing_behind_it() -> None:
    closed = close_calls([user_text("hi"), calls("a"), said("done"), user_text("more"), said("yes")], [])
    assert texts(closed.messages) == ["hi", "", LOST_TEXT, "done", "more", "yes"]
    assert (closed.added, closed.repairs) == (None, 1)


def test_results_without_their_calls_are_left_out() -> None:
    closed = close_calls([user_text("hi"), results("a"), said("done")], [])
    assert texts(closed.messages) == ["hi", "done"]
    assert closed.repairs == 1


def test_results_of_other_calls_are_put_in_order() -> None:
    closed = close_calls([calls("a", "b"), results("b", "x")], [])
    assert texts(closed.messages) == ["", f"{LOST_TEXT}\nresult of b"]


NAMES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)
MESSAGES = st.one_of(
    st.just(0).map(lambda _: user_text("hi")),
    st.just(0).map(lambda _: said("yes")),
    NAMES.map(lambda names: calls(*names)),
    NAMES.map(lambda names: results(*names)),
)


@given(messages=st.lists(MESSAGES, max_size=12), known=st.lists(st.sampled_from("abcd")))
def test_whatever_is_left_of_a_conversation_can_go_on(messages: list[Message], known: list[str]) -> None:
    closed = close_calls(messages, [ended(name) for name in known])
    conversation = Conversation(closed.messages)
    assert conversation.open_calls == ()
    kept = [message for message in closed.messages if not isinstance(message, ToolMessage)]
    assert kept == [message for message in messages if not isinstance(message, ToolMessage)]
    assert close_calls(closed.messages, []).repairs == 0
