import base64
import pickle

import pytest

from agentframework import errors
from agentframework.errors import AgentFrameworkError, InvalidInputError, TurnNotRunError, is_turn_not_run_error
from agentframework.messages import (
    AssistantMessage,
    ContextState,
    DocumentPart,
    HistoryEntry,
    ImagePart,
    SystemNote,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    Usage,
    UserMessage,
    part_from_dict,
    user_text,
)
from agentframework.messages.codec import entry_from_json, message_from_json, to_json

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()


@pytest.mark.parametrize(
    "message",
    [
        user_text("hi"),
        UserMessage((TextPart("a"), ImagePart("image/png", PNG), DocumentPart("application/pdf", "AAAA", "x.pdf"))),
        AssistantMessage(
            (ThinkingPart("hm", "sig"), TextPart("b"), ToolCall("1", "Read", {"file_path": "x"}, "{}")),
            "model", "anthropic", "tool_use", Usage(1, 2), state="interrupted",
        ),
        AssistantMessage((ToolCall("1", "Read", None, "{", "no object", {"provider_field": [1]}),)),
        ToolMessage((ToolResultPart("1", "Read", "text", True, (ImagePart("image/png", PNG),)),)),
    ],
)  # fmt: skip
def test_messages_and_entries_survive_json(message: UserMessage | AssistantMessage | ToolMessage) -> None:
    message.wire("api", lambda _message: b"cached bytes are not part of a message")
    assert message_from_json(to_json(message)) == message
    entry = HistoryEntry("chat", message.role, message)
    assert entry_from_json(to_json(entry)) == entry


def test_notes_and_event_entries_survive_json() -> None:
    for entry in (HistoryEntry("chat", "system", SystemNote("x", "error")), HistoryEntry("event", "span", {"a": 1})):
        assert entry_from_json(to_json(entry)) == entry


def test_a_message_is_encoded_once_per_api() -> None:
    calls: list[str] = []

    def encode(message: UserMessage) -> bytes:
        calls.append(message.text)
        return message.text.encode()

    message = user_text("hi")
    assert [message.wire("a", encode), message.wire("a", encode), message.wire("b", encode)] == [b"hi"] * 3
    assert calls == ["hi", "hi"]


def test_an_image_is_known_by_its_bytes(tmp_path) -> None:
    (tmp_path / "x.jpg").write_bytes(base64.b64decode(PNG))
    assert ImagePart.from_path(tmp_path / "x.jpg").mime_type == "image/png"
    (tmp_path / "y.png").write_text("no image")
    with pytest.raises(InvalidInputError, match="not a PNG"):
        ImagePart.from_path(tmp_path / "y.png")
    with pytest.raises(InvalidInputError, match="cannot read"):
        ImagePart.from_path(tmp_path / "missing.png")


def test_parts_come_from_dicts_in_both_image_forms() -> None:
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}", "detail": "auto"}}
    assert part_from_dict(url) == ImagePart("image/png", PNG)
    plain = {"type": "image", "mime_type": "image/png", "data_base64": PNG}
    assert part_from_dict(plain) == ImagePart("image/png", PNG)
    assert part_from_dict({"type": "text", "text": "x"}) == TextPart("x")


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ({"type": "video"}, "unknown type 'video'"),
        ({"type": "text"}, "needs the text field 'text'"),
        ({"type": "image", "mime_type": 5, "data_base64": ""}, "'mime_type'"),
        ({"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}, "base64 data: URL"),
        ({"type": "image_url", "image_url": {}}, "'url'"),
    ],
)
def test_a_bad_part_names_its_field(value: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match):
        part_from_dict(value)


def test_usage_adds_up_and_an_unknown_cost_stays_unknown() -> None:
    total = Usage(10, 5, 3, 2, 1) + Usage(1, 1, cost_usd=0.5, estimated=True)
    assert total == Usage(11, 6, 3, 2, 1, 0.5, True)
    assert total.total_tokens == 17
    assert (Usage() + Usage()).cost_usd is None


def test_percentages_have_two_decimals_and_stop_at_a_hundred() -> None:
    assert ContextState(3, 1, 1, 1).used_percentage == 33.33
    assert ContextState(3, 1, 1, 1).remaining_percentage == 66.67
    assert ContextState(3, 30, 1, 1).used_percentage == 100.0
    assert ContextState(3, 30, 1, 1).tokens == 30


def test_every_error_class_has_a_code_a_docstring_and_can_be_pickled() -> None:
    classes = [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, AgentFrameworkError)
    ]
    assert len(classes) > 20
    for cls in classes:
        error = cls("turn_1", "dropped") if cls is TurnNotRunError else cls("what to do", details={"a": 1})
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.code, str(copy), copy.details) == (cls, error.code, str(error), error.details)
        assert cls.__doc__
        assert cls.__name__ in (errors.__doc__ or "")


def test_only_a_turn_not_run_error_is_one() -> None:
    assert is_turn_not_run_error(TurnNotRunError("t", "coalesced"))
    assert not is_turn_not_run_error(ValueError("coalesced"))
    assert TurnNotRunError("t", "coalesced").reason == "coalesced"
