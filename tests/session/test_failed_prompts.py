from typing import Any

import pytest
from sessionkit import look, results

from agentframework import Limits, LoopGuard, ModelPrice
from agentframework.errors import (
    ConfigurationError,
    ContextOverflowError,
    InvalidInputError,
    InvalidRequestError,
    LimitExceededError,
    OverloadedError,
)
from agentframework.messages import DocumentPart, ImagePart, TextPart, ToolCall, Usage
from agentframework.testing import ScriptedProvider, call, say


def users(session: Any) -> list[tuple[str, str]]:
    return [(m.text, m.state) for m in session.get_messages() if m.role == "user"]


async def test_a_prompt_that_failed_for_good_stays_marked_and_is_not_sent_again(make_session) -> None:
    provider = ScriptedProvider("hello", ContextOverflowError("the conversation is too long"), "short enough")
    session = make_session(provider=provider)
    await session.submit("hi")
    before = session.get_context_state()
    with pytest.raises(ContextOverflowError):
        await (await session.submit("x" * 1_000)).completed
    assert session.get_context_state() == before
    assert (await (await session.submit("again")).completed).response == "short enough"
    assert [m.text for m in provider.requests[2].messages] == ["hi", "hello", "again"]
    assert users(session) == [("hi", "complete"), ("x" * 1_000, "interrupted"), ("again", "complete")]


async def test_a_turn_that_the_api_refused_half_way_is_left_out_as_a_whole_and_the_model_told(make_session) -> None:
    refusal = InvalidRequestError("that image is not one")
    provider = ScriptedProvider(say("Looking. ", call("look")), refusal, "fine")
    session = make_session(provider=provider, default_tools=[look])
    with pytest.raises(InvalidRequestError):
        await (await session.submit("look")).completed
    assert (await (await session.submit("again")).completed).response == "fine"
    (message,) = provider.requests[2].messages
    assert message.text.startswith("[The previous turn failed and was left out")
    assert message.text.endswith("again")
    assert users(session) == [("look", "interrupted"), ("again", "complete")]
    assert len(session.get_messages()) == 6  # all of it can still be read: 2 prompts, 2 replies, results, the error


async def test_a_prompt_that_failed_for_now_is_sent_with_the_next_one(make_session) -> None:
    provider = ScriptedProvider(OverloadedError("busy"), "both")
    session = make_session(provider=provider)
    await session.submit("one")
    assert (await (await session.submit("two")).completed).response == "both"
    assert [m.text for m in provider.requests[1].messages] == ["one", "two"]


async def test_whole_calls_before_a_cut_run_and_the_cut_one_is_told_of_the_limit(make_session) -> None:
    problem = "cut off by the output limit before the arguments were complete"
    cut = ToolCall("call_cut", "look", None, '{"path": "b', problem)
    reply = say("Looking. ", call("look", path="a"), cut, stop_reason="max_tokens")
    provider = ScriptedProvider(reply, "end")
    session = make_session(provider=provider, default_tools=[look], max_output_tokens=50)
    asked: list[Any] = []
    session.on("permission_request", asked.append)
    await session.submit("go")
    ran, failed = results(session)
    assert (ran.content, failed.is_error, asked) == ("seen a", True, [])
    assert problem in failed.content
    assert "[TOOL_ARGUMENTS_INVALID]" in failed.content


# --- options of a session -----------------------------------------------------------------------------------


async def test_effort_is_that_of_the_session_or_of_one_turn(make_session) -> None:
    provider = ScriptedProvider("a", "b", "c")
    session = make_session(provider=provider, effort="low")
    await session.submit("one")
    await session.submit("two", effort="max")
    await session.submit("three")
    assert [request.effort for request in provider.requests] == ["low", "max", "low"]
    with pytest.raises(ConfigurationError, match="effort must be one of"):
        session.submit_nowait("four", effort="most")


async def test_a_session_counts_tokens_cost_and_time_of_each_turn(make_session) -> None:
    big = Usage(input_tokens=1_000, output_tokens=100)
    script = [say(call("look", path=str(n)), usage=big) for n in range(3)]
    prices = {"scripted-model": ModelPrice(input=1, output=10)}
    session = make_session(
        *script, "end", default_tools=[look], prices=prices, limits=Limits(max_total_tokens=2_000, max_cost_usd=1)
    )
    with pytest.raises(LimitExceededError, match="used 2200 of its 2000 tokens"):
        await (await session.submit("go")).completed
    result = await (await session.submit("go on")).completed
    assert result.response == "end"
    assert result.usage.cost_usd == pytest.approx(0.002 + 0.00006)
    costs = [entry.data for entry in session.get_full_history() if entry.type == "usage-summary"]
    assert [(cost["cost_status"], cost["cost_usd"] > 0) for cost in costs] == [("estimated", True)] * 2


async def test_a_session_stops_a_model_that_goes_in_circles(make_session) -> None:
    script = [say("once more", call("look")) for _ in range(9)]
    session = make_session(*script, default_tools=[look])
    found: list[Any] = []
    session.on("loop_detected", found.append)
    result = await (await session.submit("go")).completed
    assert (result.stop_reason, result.interrupted) == ("loop_detected", False)
    assert [(event.tool_name, event.count) for event in found] == [("look", 5)]


async def test_the_guard_of_a_session_can_be_taken_away_or_changed(make_session) -> None:
    for guard in (None, LoopGuard(nudge_at=8, stop_at=10)):
        session = make_session(*[say(call("look"))] * 7, "end", default_tools=[look], loop_guard=guard)
        assert (await (await session.submit("go")).completed).response == "end"


async def test_a_price_has_to_be_one(make_session) -> None:
    with pytest.raises(ConfigurationError, match="prices"):
        make_session(prices={"scripted-model": 3})


PNG = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (TextPart("more"), TextPart("more")),
        ({"type": "text", "text": "more"}, TextPart("more")),
        (ImagePart("image/png", PNG), ImagePart("image/png", PNG)),
        ({"type": "image", "mime_type": "image/png", "data_base64": PNG}, ImagePart("image/png", PNG)),
        ({"type": "image_url", "image_url": f"data:image/png;base64,{PNG}"}, ImagePart("image/png", PNG)),
        ({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}, ImagePart("image/png", PNG)),
        (DocumentPart("application/pdf", "JVBERi0="), DocumentPart("application/pdf", "JVBERi0=")),
        (
            {"type": "document", "mime_type": "application/pdf", "data_base64": "JVBERi0=", "name": "a.pdf"},
            DocumentPart("application/pdf", "JVBERi0=", "a.pdf"),
        ),
    ],
)
async def test_parts_of_a_prompt_come_as_objects_or_as_dicts(make_session, given: Any, part: Any) -> None:
    provider = ScriptedProvider("seen")
    session = make_session(provider=provider)
    await session.submit("What is this?", content=[given])
    assert provider.requests[0].messages[0].content == (TextPart("What is this?"), part)


async def test_a_remote_image_is_refused_with_what_to_do(make_session) -> None:
    with pytest.raises(InvalidInputError, match="fetch remote images first"):
        make_session().submit_nowait("x", content=[{"type": "image_url", "image_url": "https://example.com/a.png"}])
