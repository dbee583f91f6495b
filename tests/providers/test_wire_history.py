"""Any history makes a request that the APIs accept, and every message keeps its bytes."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from apikit import APIS, ORIGINS, PIXEL, READ
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agentframework.messages import (
    AssistantMessage,
    AssistantPart,
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    UserMessage,
    user_text,
)
from agentframework.providers import anthropic_wire, openai_chat, openai_responses
from agentframework.providers.pairing import NO_RESULT, call_ids, paired
from agentframework.providers.protocol import ModelRequest
from agentframework.testing.strict_server import check_request

ENCODERS: dict[str, Callable[[ModelRequest], bytes]] = {
    "anthropic": anthropic_wire.encode_request,
    "responses": openai_responses.encode_request,
    "chat": partial(openai_chat.encode_request, official=False),
}

EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)

anything = st.text(max_size=8) | st.sampled_from(["", " ", "\n", "\ud800", "x" * 100, "call_1", "a.b:c", "é\0"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | anything,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(anything, inner, max_size=2),
    max_leaves=4,
)
images = st.builds(
    ImagePart, st.sampled_from(["image/png", "image/jpeg", "image/tiff"]), st.sampled_from([PIXEL, "AAAA", "%%", ""])
)
documents = st.builds(
    DocumentPart,
    st.sampled_from(["application/pdf", "text/plain", "application/zip"]),
    st.just("JVBERi0xLjQK"),
    st.none() | st.just("a.pdf"),
)
texts = st.builds(TextPart, anything)
calls = st.builds(
    ToolCall,
    anything,
    anything,
    st.none() | st.dictionaries(anything, json_values, max_size=2),
    anything,
    st.none() | anything,
)
thoughts = st.builds(ThinkingPart, anything, st.none() | st.just("sig"))
opaque = st.builds(OpaquePart, st.just({"type": "compaction", "content": "…"}))
users = st.lists(texts | images | documents, max_size=3).map(lambda parts: UserMessage(tuple(parts)))
assistants = st.builds(
    AssistantMessage,
    st.lists(texts | thoughts | opaque, max_size=3).flatmap(
        lambda parts: st.lists(calls, max_size=3).map(lambda made: tuple(parts + made))
    ),
    st.sampled_from(["model-a", "model-b"]),
    st.sampled_from(["", "elsewhere", *ORIGINS.values()]),
    state=st.sampled_from(["complete", "interrupted"]),
)
results = st.builds(
    ToolResultPart, anything, anything, anything, st.booleans(), st.lists(images, max_size=2).map(tuple)
)
tool_messages = st.lists(results, max_size=3).map(lambda parts: ToolMessage(tuple(parts)))
histories = st.lists(users | assistants | tool_messages, max_size=6).map(lambda rest: [*rest, user_text("go on")])


@pytest.mark.parametrize("api", APIS)
@EXAMPLES
@given(history=histories, system=anything)
def test_every_history_is_acceptable(api: str, history: list[Message], system: str) -> None:
    request = ModelRequest("model-a", history, system, (READ,))
    first = ENCODERS[api](request)
    assert ENCODERS[api](request) == first
    assert check_request(api, json.loads(first)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("api", APIS)
@EXAMPLES
@given(histories)
def test_the_model_asked_in_between_does_not_change_what_was_sent(api: str, history: list[Message]) -> None:
    encode = ENCODERS[api]
    first = encode(ModelRequest("model-a", history))
    encode(ModelRequest("model-b", history))
    assert encode(ModelRequest("model-a", history)) == first


@EXAMPLES
@given(histories)
def test_pairing_is_stable_and_loses_no_call(history: list[Message]) -> None:
    mended = paired(history)
    assert paired(mended) is mended
    made = [part for message in history if isinstance(message, AssistantMessage) for part in message.tool_calls]
    kept = [part for message in mended if isinstance(message, AssistantMessage) for part in message.tool_calls]
    assert [part.name for part in kept] == [part.name for part in made]
    assert call_ids(mended) == {part.id for part in kept}


def test_a_valid_history_is_left_alone() -> None:
    reply = AssistantMessage((ToolCall("c1", "Read", {}), ToolCall("c2", "Read", {})))
    answered = ToolMessage((ToolResultPart("c1", "Read", "1"), ToolResultPart("c2", "Read", "2")))
    history = [user_text("a"), reply, answered, user_text("b")]
    assert paired(history) is history


def test_calls_without_results_are_answered_in_place_and_in_order() -> None:
    reply = AssistantMessage((ToolCall("c1", "Read", {}), ToolCall("c2", "Bash", {}), ToolCall("c3", "Read", {})))
    late = ToolMessage((ToolResultPart("c3", "Read", "3"), ToolResultPart("c0", "Read", "?")))
    mended = paired([reply, late, user_text("next")])
    assert isinstance(mended[1], ToolMessage)
    assert [(part.tool_use_id, part.content) for part in mended[1].content] == [
        ("c1", NO_RESULT),
        ("c2", NO_RESULT),
        ("c3", "3"),
    ]
    assert mended[1].content[0].is_error
    assert paired([reply])[1] != late


def test_an_id_that_was_used_before_gets_a_number_on_both_sides() -> None:
    def turn(content: str) -> list[Message]:
        reply = AssistantMessage((ToolCall("call_0", "Read", {}),))
        return [user_text("q"), reply, ToolMessage((ToolResultPart("call_0", "Read", content),))]

    mended = paired([*turn("first"), *turn("second")])
    ids = [part.id for message in mended if isinstance(message, AssistantMessage) for part in message.tool_calls]
    assert ids == ["call_0", "call_0_2"]
    assert isinstance(mended[5], ToolMessage)
    assert mended[5].content[0].tool_use_id == "call_0_2"


@pytest.mark.parametrize("api", APIS)
def test_a_message_is_encoded_once(api: str) -> None:
    message = user_text("hello")
    ENCODERS[api](ModelRequest("model-a", [message], tools=(READ,)))
    kept = dict(message._wire)
    ENCODERS[api](ModelRequest("model-b", [message, user_text("more")], tools=(READ,)))
    assert all(message._wire[key] is value for key, value in kept.items())


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_a_failed_result_says_so_where_the_api_has_no_flag(api: str) -> None:
    reply = AssistantMessage((ToolCall("c1", "Read", {}), ToolCall("c2", "Read", {}), ToolCall("c3", "Read", {})))
    answered = ToolMessage(
        (
            ToolResultPart("c1", "Read", "no such file", is_error=True),
            ToolResultPart("c2", "Read", "error: no such file", is_error=True),
            ToolResultPart("c3", "Read", "fine"),
        )
    )
    body = json.loads(ENCODERS[api](ModelRequest("m", [user_text("q"), reply, answered])))
    items = body["messages" if api == "chat" else "input"][-3:]
    texts_sent = [item["content" if api == "chat" else "output"] for item in items]
    assert texts_sent == ["Error: no such file", "error: no such file", "fine"]


@pytest.mark.parametrize("api", APIS)
def test_a_schema_without_properties_and_a_tool_without_description_are_sent(api: str) -> None:
    specs = (ToolSpec("a", "", {"type": "object"}), ToolSpec("b", "d", {"type": "object", "properties": {}}))
    body = json.loads(ENCODERS[api](ModelRequest("m", [user_text("q")], tools=specs)))
    assert check_request(api, body) is None  # type: ignore[arg-type]
    assert len(body["tools"]) == 2


@pytest.mark.parametrize(("official", "name"), [(True, "max_completion_tokens"), (False, "max_tokens")])
def test_the_output_limit_has_the_name_that_the_server_knows(official: bool, name: str) -> None:
    request = ModelRequest("m", [user_text("q")], max_output_tokens=7, session_id="s")
    body = json.loads(openai_chat.encode_request(request, official=official))
    assert body[name] == 7
    assert ("prompt_cache_key" in body) is official


def test_models_without_reasoning_are_not_asked_for_it() -> None:
    old = json.loads(openai_responses.encode_request(ModelRequest("gpt-4o-mini", [user_text("q")])))
    new = json.loads(openai_responses.encode_request(ModelRequest("gpt-6.2-sol", [user_text("q")])))
    assert "include" not in old
    assert new["include"] == ["reasoning.encrypted_content"]
    assert new["store"] is False


def test_claude_thinks_when_an_effort_is_asked_for_and_can_be_told_not_to() -> None:
    def fields(model: str, effort: str, temperature: float | None = None) -> dict[str, object]:
        request = ModelRequest(model, [user_text("q")], effort=effort, temperature=temperature)
        return json.loads(anthropic_wire.encode_request(request))

    thinks = fields("claude-opus-5-5", "max")
    assert thinks["output_config"] == {"effort": "max"}
    assert thinks["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert thinks["max_tokens"] == 64_000
    assert fields("claude-opus-5-5", "none")["thinking"] == {"type": "disabled"}
    assert "thinking" not in fields("claude-opus-5-5", "high", 0.2)
    assert not {"thinking", "output_config"} & fields("claude-3-5-haiku-20241022", "high").keys()
    assert "thinking" not in fields("claude-3-5-haiku-20241022", "none")
    assert fields("unknown", "minimal")["output_config"] == {"effort": "low"}


def test_older_claude_models_think_within_a_budget_that_leaves_room_for_the_answer() -> None:
    def body(model: str, **fields: Any) -> dict[str, Any]:
        history = fields.pop("history", [user_text("q")])
        found = json.loads(anthropic_wire.encode_request(ModelRequest(model, history, **fields)))
        assert check_request("anthropic", found) is None
        return found

    assert body("claude-opus-4-5", effort="high")["output_config"] == {"effort": "high"}
    plain = body("claude-sonnet-4-5", effort="high")
    assert "output_config" not in plain
    assert plain["thinking"] == {"type": "enabled", "budget_tokens": 16_384}
    assert body("claude-sonnet-4-5", effort="max", max_output_tokens=4_096)["thinking"]["budget_tokens"] == 3_072
    assert "thinking" not in body("claude-sonnet-4-5", effort="max", max_output_tokens=1_500)


def test_a_budget_is_left_out_where_a_tool_round_began_without_thinking() -> None:
    result = ToolMessage((ToolResultPart("c1", "Read", "x"),))

    def thinks(*parts: AssistantPart, model: str = "claude-sonnet-4-5") -> bool:
        reply = AssistantMessage((*parts, ToolCall("c1", "Read", {})), model, "anthropic")
        request = ModelRequest("claude-sonnet-4-5", [user_text("q"), reply, result], effort="low", tools=(READ,))
        found = json.loads(anthropic_wire.encode_request(request))
        assert check_request("anthropic", found) is None
        return "thinking" in found

    assert thinks(ThinkingPart("hm", "sig"))
    assert not thinks(ThinkingPart("hm", "sig"), model="claude-opus-5-5")
    assert not thinks(ThinkingPart("never signed"))
    assert not thinks(TextPart("let me see"))


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_an_effort_is_named_only_where_the_model_has_one(api: str) -> None:
    def names_it(model: str) -> bool:
        return b'"effort":"low"' in body_of(model) or b'"reasoning_effort":"low"' in body_of(model)

    def body_of(model: str) -> bytes:
        return ENCODERS[api](ModelRequest(model, [user_text("q")], effort="low"))

    assert names_it("gpt-6.2-sol")
    assert names_it("a-model-of-somebody-else")
    assert not names_it("gpt-4o-mini")


def test_fields_of_a_call_that_we_do_not_know_go_back_to_where_they_came_from() -> None:
    extra = {"caller": {"type": "direct"}}
    reply = AssistantMessage((ToolCall("c1", "Read", {}, extra=extra),), "m", "anthropic")
    answered = ToolMessage((ToolResultPart("c1", "Read", "x"),))
    history = [user_text("q"), reply, answered]
    own = anthropic_wire.encode_request(ModelRequest("m", history))
    other = ENCODERS["chat"](ModelRequest("m", history))
    assert b'"caller":{"type":"direct"}' in own
    assert b"caller" not in other
