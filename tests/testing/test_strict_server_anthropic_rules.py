"""The rules of Anthropic Messages, one body per rule."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from agentframework.testing.strict_server import Issued, check_request

Body = dict[str, Any]

USER: Body = {"role": "user", "content": "hi"}
OBJECT: Body = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOL: Body = {"name": "Read", "input_schema": OBJECT}
MARK: Body = {"type": "ephemeral"}


def body(**changes: Any) -> Body:
    made = {"model": "claude-test", "max_tokens": 4096, "messages": [USER], **changes}
    return {name: value for name, value in made.items() if value is not ...}


def says(*blocks: Any, role: str = "user") -> Body:
    """A request with one message of `role` at its end."""
    first = [] if role == "user" else [USER]
    return body(messages=[*first, {"role": role, "content": list(blocks)}])


def use(call_id: Any = "toolu_1", **changes: Any) -> Body:
    return {"type": "tool_use", "id": call_id, "name": "Read", "input": {}, **changes}


def result(call_id: str = "toolu_1", **changes: Any) -> Body:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "x", **changes}


def words(text: str, **more: Any) -> Body:
    return {"type": "text", "text": text, **more}


def turns(*pairs: tuple[list[Body], list[Body]], **changes: Any) -> Body:
    """Assistant blocks, each with the blocks of the user message after it."""
    messages = [USER]
    for said, answered in pairs:
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": answered}]
    return body(messages=messages, tools=[TOOL], **changes)


def picture(kind: str = "PNG", size: tuple[int, int] = (2, 2), media_type: str = "", cut: int = 0) -> Body:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, kind)
    raw = buffer.getvalue()
    data = base64.b64encode(raw[: len(raw) - cut]).decode()
    source = {"type": "base64", "media_type": media_type or f"image/{kind.lower()}", "data": data}
    return {"type": "image", "source": source}


def source(**changes: Any) -> Body:
    image = picture()
    return {**image, "source": {**image["source"], **changes}}


THOUGHT: Body = {"type": "thinking", "thinking": "plan", "signature": "sig"}
THINK: Body = {"type": "enabled", "budget_tokens": 1024}

REFUSED: dict[str, tuple[Body, str]] = {
    "no model": (body(model=...), "model: Field required"),
    "no max_tokens": (body(max_tokens=...), "max_tokens: Field required"),
    "max_tokens 0": (body(max_tokens=0), "max_tokens"),
    "max_tokens true": (body(max_tokens=True), "max_tokens"),
    "no messages": (body(messages=...), "messages: Field required"),
    "empty messages": (body(messages=[]), "at least one message"),
    "unknown field": (body(foo=1), "foo: Extra inputs are not permitted"),
    "beta field without header": (body(mcp_servers=[]), "mcp_servers: Extra inputs are not permitted"),
    "assistant first": (body(messages=[{"role": "assistant", "content": "a"}]), "first message must use"),
    "unknown role": (body(messages=[{"role": "tool", "content": "a"}]), "messages.0.role"),
    "unknown message field": (body(messages=[{**USER, "id": 1}]), "messages.0.id: Extra inputs"),
    "system first": (body(messages=[{"role": "system", "content": "a"}, USER]), "first message must use"),
    "system before user": (body(messages=[USER, {"role": "system", "content": "a"}, USER]), "must precede"),
    "system after assistant": (
        body(messages=[USER, {"role": "assistant", "content": "a"}, {"role": "system", "content": "a"}]),
        "must follow a 'user' message",
    ),
    "empty content": (body(messages=[{"role": "user", "content": ""}]), "non-empty content"),
    "empty block list": (says(), "non-empty content"),
    "blank string": (body(messages=[{"role": "user", "content": " \n"}]), "non-whitespace"),
    "empty text block": (says(words("")), "text content blocks must be non-empty"),
    "blank text block": (says(words("\n ")), "non-whitespace"),
    "empty system block": (body(system=[words("")]), "text content blocks must be non-empty"),
    "system of another type": (body(system=[picture()]), "system.0.type"),
    "unknown block": (says({"type": "foo"}), "unknown"),
    "unknown block field": (says(words("a", foo=1)), "foo: Extra inputs are not permitted"),
    "trailing white space": (
        body(messages=[USER, {"role": "assistant", "content": "a "}]),
        "cannot end with trailing whitespace",
    ),
    "lone surrogate": (body(messages=[{"role": "user", "content": "a\ud83d"}]), "no low surrogate"),
    # tool calls and results
    "unanswered call at the end": (says(use(), role="assistant"), "without `tool_result` blocks immediately"),
    "unanswered call": (turns(([use()], [words("go on")])), "toolu_1"),
    "half answered": (turns(([use("a"), use("b")], [result("a")])), "immediately after: b"),
    "answered twice": (turns(([use()], [result(), result()])), "must have a single result"),
    "answer to nothing": (turns(([words("a")], [result()])), "unexpected `tool_use_id`"),
    "answer one turn late": (
        turns(([use()], [result()]), ([words("a")], [result()])),
        "unexpected `tool_use_id`",
    ),
    "text before result": (turns(([use()], [words("a"), result()])), "before any other content"),
    "id used again": (turns(([use()], [result()]), ([use()], [result()])), "ids must be unique"),
    "id pattern": (turns(([use("a.b")], [result("a.b")])), "tool_use.id: String should match pattern"),
    "call in user turn": (says(use()), "can only be in `assistant`"),
    "result in assistant turn": (says(result(), role="assistant"), "can only be in `user`"),
    "call input is a string": (turns(([use(input="{}")], [result()])), "tool_use.input: Input should be an"),
    "call name pattern": (turns(([use(name="a b")], [result()])), "tool_use.name"),
    "empty text in result": (turns(([use()], [result(content=[words("")])])), "must be non-empty"),
    "image in error result": (turns(([use()], [result(content=[picture()], is_error=True)])), "is_error"),
    "is_error is text": (turns(([use()], [result(is_error="yes")])), "is_error"),
    # tools
    "tool without schema": (body(tools=[{"name": "a"}]), "input_schema: Field required"),
    "tool name pattern": (body(tools=[{**TOOL, "name": "a.b"}]), "tools.0.custom.name"),
    "tool name too long": (body(tools=[{**TOOL, "name": "a" * 129}]), "tools.0.custom.name"),
    "tool twice": (body(tools=[TOOL, TOOL]), "Tool names must be unique"),
    "schema of no object": (body(tools=[{**TOOL, "input_schema": {"type": "string"}}]), "should be 'object'"),
    "schema with anyOf": (
        body(tools=[{**TOOL, "input_schema": {**OBJECT, "anyOf": []}}]),
        "does not support",
    ),
    "schema with odd property": (
        body(tools=[{**TOOL, "input_schema": {"type": "object", "properties": {"a b": {}}}}]),
        "Property keys should match pattern",
    ),
    "unknown tool field": (body(tools=[{**TOOL, "foo": 1}]), "foo: Extra inputs"),
    "unknown tool type": (body(tools=[{"type": "nonsense", "name": "a"}]), "nonsense"),
    "strict tool is open": (body(tools=[{**TOOL, "strict": True}]), "additionalProperties"),
    "choice without tools": (body(tool_choice={"type": "auto"}), "only be specified while providing tools"),
    "choice of unknown type": (body(tools=[TOOL], tool_choice={"type": "required"}), "tool_choice.type"),
    "choice as text": (body(tools=[TOOL], tool_choice="auto"), "tool_choice: Input should be an object"),
    "choice of missing tool": (body(tools=[TOOL], tool_choice={"type": "tool", "name": "b"}), "not found"),
    "choice with stray name": (body(tools=[TOOL], tool_choice={"type": "auto", "name": "b"}), "Extra inputs"),
    # cache marks
    "five marks": (
        body(system=[words("a", cache_control=MARK)] * 4, cache_control=MARK),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "unknown mark": (says(words("a", cache_control={"type": "forever"})), "ephemeral"),
    "unknown life": (says(words("a", cache_control={**MARK, "ttl": "2h"})), "ttl"),
    "long mark after short": (
        body(tools=[{**TOOL, "cache_control": MARK}], cache_control={**MARK, "ttl": "1h"}),
        "must not come after",
    ),
    # thinking
    "budget too small": (body(thinking={**THINK, "budget_tokens": 1000}), "greater than or equal to 1024"),
    "budget over max_tokens": (body(thinking={**THINK, "budget_tokens": 4096}), "must be greater than"),
    "no budget": (body(thinking={"type": "enabled"}), "budget_tokens"),
    "stray budget": (body(thinking={**THINK, "type": "adaptive"}), "Extra inputs"),
    "unknown thinking": (body(thinking={"type": "deep"}), "thinking.type"),
    "temperature with thinking": (body(thinking=THINK, temperature=0.5), "may only be set to 1"),
    "top_k with thinking": (body(thinking=THINK, top_k=4), "`top_k` must be unset"),
    "forced tool with thinking": (
        body(thinking=THINK, tools=[TOOL], tool_choice={"type": "any"}),
        "Thinking may not be enabled",
    ),
    "prefill with thinking": (
        body(thinking=THINK, messages=[USER, {"role": "assistant", "content": "a"}]),
        "prefill",
    ),
    "tool turn without its thinking": (
        turns(([use()], [result()]), thinking=THINK),
        "must start with a thinking",
    ),
    "unsigned thinking": (turns(([{**THOUGHT, "signature": ""}, use()], [result()])), "Invalid `signature`"),
    "thinking without signature": (
        turns(([{"type": "thinking", "thinking": "a"}, use()], [result()])),
        "signature: Field required",
    ),
    "thinking after call": (turns(([use(), THOUGHT], [result()])), "must precede"),
    "thinking in user turn": (says(THOUGHT), "can only be in `assistant`"),
    "marked thinking": (turns(([{**THOUGHT, "cache_control": MARK}], [words("a")])), "Extra inputs"),
    # sampling and output
    "temperature 1.5": (body(temperature=1.5), "temperature"),
    "top_p 2": (body(top_p=2), "top_p"),
    "blank stop sequence": (body(stop_sequences=[" "]), "stop_sequences"),
    "metadata": (body(metadata={"session": "a"}), "metadata.session: Extra inputs"),
    "stream is text": (body(stream="yes"), "stream"),
    "effort": (body(output_config={"effort": "huge"}), "effort"),
    "format type": (body(output_config={"format": {"type": "json"}}), "output_config.format.type"),
    "format without schema": (body(output_config={"format": {"type": "json_schema"}}), "format.schema"),
    "open format schema": (
        body(output_config={"format": {"type": "json_schema", "schema": OBJECT}}),
        "additionalProperties",
    ),
    # pictures and documents
    "type of another picture": (says(picture("PNG", media_type="image/jpeg")), "appears to be a image/png"),
    "bmp": (says(picture("BMP")), "media_type"),
    "bmp as png": (says(picture("BMP", media_type="image/png")), "Could not process image"),
    "no base64": (says(source(data="%%%")), "invalid base64"),
    "empty picture": (says(source(data="")), "Could not process image"),
    "cut png": (says(picture(cut=5)), "Could not process image"),
    "cut jpeg": (says(picture("JPEG", cut=2)), "Could not process image"),
    "cut gif": (says(picture("GIF", cut=1)), "Could not process image"),
    "cut webp": (says(picture("WEBP", cut=2)), "Could not process image"),
    "too many bytes": (says(source(data="iVBORw0KGgo=" * 500_000)), "exceeds 5 MB maximum"),
    "too wide": (says(picture(size=(9000, 1))), "8000 pixels"),
    "wide jpeg": (says(picture("JPEG", size=(8001, 1))), "8000 pixels"),
    "wide gif": (says(picture("GIF", size=(8001, 1))), "8000 pixels"),
    "wide webp": (says(picture("WEBP", size=(8001, 1))), "8000 pixels"),
    "many large pictures": (says(*[picture(size=(2001, 1))] * 21), "many-image"),
    "101 pictures": (says(*[picture()] * 101), "Too many images"),
    "picture in assistant turn": (says(picture(), role="assistant"), "can only be in `user`"),
    "bad picture in result": (turns(([use()], [result(content=[source(data="")])])), "Could not process"),
    "file url": (says({"type": "image", "source": {"type": "url", "url": "file:///a"}}), "HTTP"),
    "no pdf": (
        says({"type": "document", "source": {**source()["source"], "media_type": "application/pdf"}}),
        "not valid",
    ),
}

ACCEPTED: dict[str, Body] = {
    "text": body(),
    "everything": body(
        system=[words("a", cache_control={**MARK, "ttl": "1h"})],
        tools=[{**TOOL, "cache_control": {**MARK, "ttl": "1h"}}, {"type": "bash_20250124", "name": "bash"}],
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        thinking={"type": "adaptive", "display": "summarized"},
        output_config={"effort": "high"},
        stop_sequences=["END"],
        metadata={"user_id": "u"},
        cache_control=MARK,
        stream=True,
    ),
    "tool loop": turns(([words("a"), use("a"), use("b")], [result("b"), result("a"), words("and")])),
    "loop with thinking": turns(([THOUGHT, use()], [result()]), thinking=THINK),
    "old loop without thinking": turns(([use()], [result()]), ([words("a")], [words("b")]), thinking=THINK),
    "empty result": turns(([use()], [result(content="")])),
    "result without content": turns(([use()], [{"type": "tool_result", "tool_use_id": "toolu_1"}])),
    "picture in result": turns(([use()], [result(content=[words("a"), picture()])])),
    "pictures": says(picture(), picture("JPEG"), picture("GIF"), picture("WEBP"), picture(size=(8000, 1))),
    "prefill": body(messages=[USER, {"role": "assistant", "content": "a"}]),
    "two user messages": body(messages=[USER, USER]),
    "system last": body(messages=[USER, {"role": "system", "content": "a"}]),
    "closed format": body(
        output_config={"format": {"type": "json_schema", "schema": {**OBJECT, "additionalProperties": False}}}
    ),
    "server tool blocks": turns(
        ([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}], [words("a")])
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_body_that_breaks_a_rule_is_refused_for_that_rule(name: str) -> None:
    refused, expected = REFUSED[name]
    message = check_request("anthropic", refused)
    assert message is not None
    assert expected in message


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_body_within_the_rules_is_accepted(name: str) -> None:
    assert check_request("anthropic", ACCEPTED[name]) is None


def test_thinking_has_to_be_known_to_the_server_that_is_asked() -> None:
    issued = Issued(thinking={"sig": "plan"})
    loop = turns(([THOUGHT, use()], [result()]), thinking=THINK)
    assert check_request("anthropic", loop, issued) is None
    assert "Invalid `signature`" in str(check_request("anthropic", loop, Issued()))
    issued.thinking["sig"] = "other"
    assert "cannot be modified" in str(check_request("anthropic", loop, issued))


def test_redacted_thinking_has_to_be_known_too() -> None:
    block = {"type": "redacted_thinking", "data": "xyz"}
    loop = turns(([block, use()], [result()]))
    assert check_request("anthropic", loop, Issued(redacted={"xyz"})) is None
    assert "Invalid `data`" in str(check_request("anthropic", loop, Issued()))


def test_interleaved_thinking_may_have_a_budget_over_max_tokens() -> None:
    asked = body(thinking={**THINK, "budget_tokens": 10_000})
    assert check_request("anthropic", asked, betas=["interleaved-thinking-2025-05-14"]) is None
