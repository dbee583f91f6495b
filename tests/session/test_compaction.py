"""Sessions that are longer than the window of their model."""

import asyncio
from typing import Any

import pytest
from sessionkit import WAIT_S, look, settle

from agentframework import ContextOptions, tool
from agentframework.context.compact import CLEARED_NOTE, SUMMARY_NOTE
from agentframework.errors import CompactionError, ContextOverflowError, InvalidInputError, SessionBusyError
from agentframework.messages import ToolMessage, Usage
from agentframework.providers.protocol import ModelRequest
from agentframework.testing import ScriptedProvider, call, say
from agentframework.testing.scripted_provider import Say

FULL = Usage(input_tokens=90_000, output_tokens=10)
SMALL = ContextOptions(max_tokens=100_000)


class Asked:
    """A step of a script that tells when it is reached."""

    def __init__(self, answer: Say) -> None:
        self.answer = answer
        self.event = asyncio.Event()

    def __call__(self, _request: ModelRequest) -> Say:
        self.event.set()
        return self.answer


@tool(risk="inspect")
async def much() -> str:
    """Says a lot."""
    return "x" * 10_000


def texts(provider: ScriptedProvider, number: int) -> list[str]:
    return [m.text for m in provider.requests[number].messages]


def heard(session: Any, *names: str) -> list[Any]:
    events: list[Any] = []
    for name in names:
        session.on(name, events.append)
    return events


# --- by itself ----------------------------------------------------------------------------------------------


async def test_a_prompt_that_finds_the_window_full_goes_on_from_a_summary_and_the_last_turn(make_session) -> None:
    provider = ScriptedProvider("one", say("two", usage=FULL), "They counted.", "three")
    session = make_session(provider=provider, context=SMALL)
    events = heard(session, "compact", "context_update", "text_delta")
    await session.submit("first")
    await session.submit("second")
    events.clear()
    result = await (await session.submit("third")).completed
    assert result.response == "three"
    assert texts(provider, 3) == [f"{SUMMARY_NOTE}\nThey counted.", "second", "two", "third"]
    (asked,) = provider.requests[2].messages
    assert "user: first\nassistant: one" in asked.text
    assert "third" not in asked.text
    assert (provider.requests[2].tools, provider.requests[2].system) == ((), "")
    assert [event.type for event in events] == ["compact", "context_update", "text_delta", "context_update"]
    compact, update = events[:2]
    assert compact.trigger == "auto"
    assert compact.before.used_tokens > 90_000 > 100 > compact.after.used_tokens
    assert (compact.before.max_tokens, update.state) == (100_000, compact.after)


async def test_the_usage_of_a_summary_counts_and_the_timeline_says_what_happened(make_session) -> None:
    provider = ScriptedProvider(say("one", usage=FULL), say("sum", usage=Usage(700, 70)), say("two", usage=Usage(5, 1)))
    session = make_session(provider=provider, context=SMALL)
    await session.submit("first")
    result = await (await session.submit("second")).completed
    assert (result.usage.input_tokens, result.usage.output_tokens) == (705, 71)
    assert any("compacted" in m.text for m in session.get_messages() if m.role == "system")
    assert [m.text for m in session.get_messages() if m.role == "user"] == ["first", "second"]


async def test_a_long_turn_is_shortened_between_its_rounds(make_session) -> None:
    rounds = [say(f"look {n}", call("look", path=str(n))) for n in range(5)]
    full = say("look 5", call("look", path="5"), usage=FULL)
    provider = ScriptedProvider(*rounds, full, "The files were looked at.", "end")
    context = ContextOptions(max_tokens=100_000, max_bytes=600)
    session = make_session(provider=provider, default_tools=[look], context=context)
    assert await settle(await session.submit("look at everything")) == "end"
    sent = provider.requests[-1].messages
    assert sent[0].text.startswith(SUMMARY_NOTE)
    assert sent[1].text == "look at everything"
    assert isinstance(sent[-1], ToolMessage)
    assert [m.role for m in sent[2:]] == ["assistant", "tool"] * ((len(sent) - 2) // 2)


@pytest.mark.parametrize("bad", ["", "  \n", "long " * 300, ContextOverflowError("no")])
async def test_a_summary_of_no_use_changes_nothing_and_the_turn_goes_on(make_session, bad: Any) -> None:
    answers = [bad, bad] if isinstance(bad, Exception) else [bad]
    provider = ScriptedProvider(say("one", usage=FULL), *answers, "two")
    session = make_session(provider=provider, context=SMALL)
    events = heard(session, "compact", "warning")
    await session.submit("first")
    assert await settle(await session.submit("second")) == "two"
    assert texts(provider, -1) == ["first", "one", "second"]
    assert [event.type for event in events] == ["warning"]
    assert "could not be shortened" in events[0].message


async def test_it_is_given_up_after_three_attempts_and_taken_up_again_when_there_was_room(make_session) -> None:
    full = say("x", usage=FULL)
    room = say("room", usage=Usage(10, 1))
    provider = ScriptedProvider(full, "", full, "", full, "", full, full, room, full, "sum", "end")
    session = make_session(provider=provider, context=SMALL)
    events = heard(session, "warning", "compact")
    for n in range(8):
        assert await settle(await session.submit(f"prompt {n}")) in ("x", "room", "end")
    provider.assert_finished()
    assert [event.type for event in events] == ["warning"] * 3 + ["compact"]
    assert "not tried again" in events[2].message


@pytest.mark.parametrize("options", [ContextOptions(auto_compact=False, max_tokens=100_000), ContextOptions()])
async def test_below_the_threshold_or_switched_off_nothing_is_shortened(make_session, options: ContextOptions) -> None:
    provider = ScriptedProvider(say("one", usage=FULL), "two")
    session = make_session(provider=provider, context=options)
    await session.submit("first")
    assert await settle(await session.submit("second")) == "two"
    assert len(provider.requests[1].messages) == 3


async def test_too_many_messages_are_a_reason_as_well(make_session) -> None:
    provider = ScriptedProvider("one", "two", "sum", "three")
    session = make_session(provider=provider, context=ContextOptions(max_messages=4, keep_recent_turns=1))
    for prompt in ("first", "second", "third"):
        await session.submit(prompt)
    assert texts(provider, 3) == [f"{SUMMARY_NOTE}\nsum", "third"]


async def test_old_results_are_cleared_before_anything_is_summed_up(make_session) -> None:
    provider = ScriptedProvider(*[say(call("much")) for _ in range(11)], "end")
    context = ContextOptions(max_bytes=100_000)
    session = make_session(provider=provider, default_tools=[much], loop_guard=None, context=context)
    events = heard(session, "compact")
    assert await settle(await session.submit("go")) == "end"
    provider.assert_finished()  # nobody was asked for a summary
    sent = [m for m in provider.requests[-1].messages if isinstance(m, ToolMessage)]
    assert [m.content[0].content == CLEARED_NOTE for m in sent] == [True] * 5 + [False] * 6
    assert [(event.trigger, event.after.bytes < event.before.bytes) for event in events] == [("auto", True)]
    assert [m.content[0].content for m in session.get_messages() if isinstance(m, ToolMessage)] == ["x" * 10_000] * 11


# --- an overflow --------------------------------------------------------------------------------------------


async def test_a_conversation_that_the_provider_finds_too_long_is_shortened_and_sent_again(make_session) -> None:
    provider = ScriptedProvider("one " * 50, "two", ContextOverflowError("too long"), "sum", "three")
    session = make_session(provider=provider)
    events = heard(session, "compact", "iteration_started", "error")
    await session.submit("first " * 50)
    await session.submit("second")
    events.clear()
    assert await settle(await session.submit("third")) == "three"
    assert texts(provider, 4) == [f"{SUMMARY_NOTE}\nsum", "second", "two", "third"]
    assert [event.type for event in events] == ["iteration_started", "compact"]


async def test_a_second_overflow_fails_the_turn(make_session) -> None:
    provider = ScriptedProvider("one " * 50, ContextOverflowError("a"), "sum", ContextOverflowError("b"), "three")
    session = make_session(provider=provider)
    await session.submit("first " * 50)
    with pytest.raises(ContextOverflowError, match="b"):
        await (await session.submit("second")).completed
    assert await settle(await session.submit("third")) == "three"
    assert texts(provider, 4) == [f"{SUMMARY_NOTE}\nsum", "third"]


# --- on request ---------------------------------------------------------------------------------------------


async def test_on_request_all_may_go_and_the_summary_minds_what_is_asked(make_session) -> None:
    provider = ScriptedProvider("one", "sum", "two")
    instructions = "# Notes\n\n## Compact  Instructions\nKeep the port numbers.\n\n## Other\nNothing."
    session = make_session(
        provider=provider, append_system_prompt=instructions, context=ContextOptions(instructions="Keep dates.")
    )
    events = heard(session, "compact", "context_update")
    await session.submit("first")
    events.clear()
    assert await session.compact_context("Focus on the API.") is True
    assert [(event.type, getattr(event, "trigger", None)) for event in events] == [
        ("compact", "manual"),
        ("context_update", None),
    ]
    prompt = texts(provider, 1)[0]
    assert "Additional focus:\nFocus on the API.\nKeep dates.\nKeep the port numbers.\n\n" in prompt
    await session.submit("second")
    assert texts(provider, 2) == [f"{SUMMARY_NOTE}\nsum", "second"]


async def test_nothing_to_compact_is_no_error_and_says_nothing(make_session) -> None:
    session = make_session()
    events = heard(session, "compact", "context_update")
    assert await session.compact_context() is False
    assert events == []
    with pytest.raises(InvalidInputError):
        await session.compact_context(7)


@pytest.mark.parametrize("bad", ["", "long " * 300, RuntimeError("gone")])
async def test_on_request_a_bad_summary_raises_and_changes_nothing(make_session, bad: Any) -> None:
    provider = ScriptedProvider("one", bad, "two")
    session = make_session(provider=provider)
    await session.submit("first")
    before = session.get_context_state()
    with pytest.raises(RuntimeError if isinstance(bad, Exception) else CompactionError):
        await session.compact_context()
    assert session.get_context_state() == before
    await session.submit("second")
    assert texts(provider, 2) == ["first", "one", "second"]


async def test_an_abort_leaves_the_conversation_as_it_was_and_prompts_wait_meanwhile(make_session) -> None:
    gate = asyncio.Event()
    first, second = Asked(say("su", gate, "m")), Asked(say("su", gate, "m"))
    provider = ScriptedProvider("one", first, "two", second, "three")
    session = make_session(provider=provider)
    await session.submit("first")
    work = asyncio.create_task(session.compact_context())
    async with asyncio.timeout(WAIT_S):
        await first.event.wait()
        assert session.is_executing()
        with pytest.raises(SessionBusyError):
            await session.compact_context()
        session.abort()
        with pytest.raises(CompactionError, match="aborted"):
            await work
        await session.submit("second")
        assert texts(provider, 2) == ["first", "one", "second"]
        work = asyncio.create_task(session.compact_context())
        await second.event.wait()
        handle = session.submit_nowait("third")
        gate.set()
        assert await work is True
        assert (await handle.completed).response == "three"
    assert texts(provider, 4) == [f"{SUMMARY_NOTE}\nsum", "second", "two", "third"]


async def test_an_abort_during_automatic_compaction_ends_the_turn_and_changes_nothing(make_session) -> None:
    asked = Asked(say("su", asyncio.Event()))
    provider = ScriptedProvider(say("one", usage=FULL), asked, "sum", "three")
    session = make_session(provider=provider, context=SMALL)
    await session.submit("first")
    handle = session.submit_nowait("second")
    async with asyncio.timeout(WAIT_S):
        await asked.event.wait()
        session.abort()
        assert (await handle.completed).interrupted
    assert [m.text for m in session._conversation.messages] == ["first", "one", "second"]
    assert await settle(await session.submit("third")) == "three"


# --- hooks and functions of the host --------------------------------------------------------------------------


async def test_hooks_hear_of_it_add_to_the_request_and_may_object(make_session) -> None:
    heard_of: list[dict[str, Any]] = []

    def before(event: dict[str, Any]) -> dict[str, Any] | None:
        heard_of.append(event)
        if event["custom_instructions"] == "no":
            return {"decision": "block", "reason": "not now"}
        return {"hookSpecificOutput": {"hookEventName": "PreCompact", "additionalContext": "Mind the hook."}}

    hooks = {
        "PreCompact": [{"matcher": "manual", "hooks": [{"type": "callable", "callable": before}]}],
        "PostCompact": [{"hooks": [{"type": "callable", "callable": heard_of.append}]}],
    }
    provider = ScriptedProvider("one", "sum")
    session = make_session(provider=provider, hooks=hooks)
    await session.submit("first")
    with pytest.raises(CompactionError, match="not now"):
        await session.compact_context("no")
    await session.compact_context("yes")
    assert "Additional focus:\nyes\nMind the hook.\n" in texts(provider, 1)[0]
    await session.shutdown()
    assert [(e["hook_event_name"], e["trigger"]) for e in heard_of] == [
        ("PreCompact", "manual"),
        ("PreCompact", "manual"),
        ("PostCompact", "manual"),
    ]
    assert heard_of[-1]["compact_summary"] == "sum"


async def test_a_function_of_the_host_makes_the_summary_and_without_one_the_oldest_is_left_out(make_session) -> None:
    answers = iter(["mine", ""])

    async def summarize(messages: Any, abort: Any) -> str:
        assert not abort.aborted
        return next(answers)

    context = ContextOptions(max_tokens=100_000, strategy="summarize", summarize=summarize, keep_recent_turns=1)
    provider = ScriptedProvider(say("one", usage=FULL), say("two", usage=FULL), "three")
    session = make_session(provider=provider, context=context)
    for prompt in ("first", "second", "third"):
        await session.submit(prompt)
    assert texts(provider, 1) == [f"{SUMMARY_NOTE}\nmine", "second"]
    assert texts(provider, 2) == ["third"]
