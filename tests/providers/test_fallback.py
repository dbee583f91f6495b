"""Several providers that stand in for each other."""

import asyncio
from pathlib import Path

import pytest
from apikit import talk

from agentframework import (
    AuthenticationError,
    ConfigurationError,
    FallbackProvider,
    InteractiveSession,
    InvalidRequestError,
    ModelLimits,
    OverloadedError,
    Provider,
    ProviderError,
    RateLimitError,
    StreamInterruptedError,
    TextChunk,
)
from agentframework.events import Event, Retry
from agentframework.messages import user_text
from agentframework.providers.protocol import Chunk, ModelReply, ModelRequest, RetryChunk
from agentframework.testing import ScriptedProvider, call, say
from agentframework.testing.strict_server import error, text


class Named(ScriptedProvider):
    """A scripted provider with a name and a model of its own."""

    def __init__(self, name: str, *steps: object, context_window: int = 200_000) -> None:
        super().__init__(*steps, context_window=context_window)  # type: ignore[arg-type]
        self.name, self.default_model = name, f"{name}-1"  # type: ignore[misc]
        self.closed = 0

    def resolve_model(self, model: str) -> str:
        return f"{self.name}-large" if model == "opus" else model

    async def aclose(self) -> None:
        self.closed += 1


async def chunks_of(provider: Provider, model: str = "one-1") -> list[Chunk]:
    return [chunk async for chunk in provider.stream(ModelRequest(model, [user_text("hi")]))]


async def ask(session: InteractiveSession, prompt: str) -> str:
    return (await (await session.submit(prompt)).completed).response


async def test_the_next_provider_answers_and_the_event_names_it(tmp_path: Path) -> None:
    one, two = Named("one", OverloadedError("busy."), "one again"), Named("two", "from two")
    events: list[Event] = []
    async with InteractiveSession(cwd=tmp_path, provider=FallbackProvider([one, two])) as session:
        session.on("retry", events.append)
        assert await ask(session, "hi") == "from two"
        assert await ask(session, "and now?") == "one again"
    (retry,) = events
    assert isinstance(retry, Retry)
    assert (retry.attempt, retry.reason) == (2, "busy. Going over to two, model two-1.")
    assert [request.model for request in two.requests] == ["two-1"]


async def test_a_turn_stays_with_whoever_answered_and_the_next_begins_anew(tmp_path: Path) -> None:
    one = Named("one", RateLimitError("slow down"), "back")
    two = Named("two", say(call("Glob", pattern="*")), "done")
    async with InteractiveSession(cwd=tmp_path, provider=FallbackProvider([one, two])) as session:
        assert await ask(session, "list") == "done"
        assert len(one.requests) == 1
        assert await ask(session, "again") == "back"


@pytest.mark.parametrize(
    "fault",
    [AuthenticationError("who?"), InvalidRequestError("bad"), RateLimitError("pay first", retryable=False)],
)
async def test_what_will_not_pass_is_raised_and_not_hidden(fault: ProviderError) -> None:
    two = Named("two", "never")
    with pytest.raises(type(fault)) as raised:
        await chunks_of(FallbackProvider([Named("one", fault), two]))
    assert raised.value is fault
    assert two.requests == []


async def test_nothing_is_asked_again_once_something_was_shown() -> None:
    one, two = Named("one", say("half a ", StreamInterruptedError("cut"))), Named("two", "never")
    stream = FallbackProvider([one, two]).stream(ModelRequest("one-1", [user_text("hi")]))
    assert await anext(stream) == TextChunk("half a ")
    with pytest.raises(StreamInterruptedError):
        await anext(stream)
    assert two.requests == []


async def test_when_nobody_can_answer_the_last_error_tells_of_the_others() -> None:
    both = FallbackProvider([Named("one", OverloadedError("busy")), Named("two", AuthenticationError("no key"))])
    with pytest.raises(AuthenticationError, match="no key") as raised:
        await chunks_of(both)
    assert raised.value.details["fallback_from"] == ["busy"]


@pytest.mark.parametrize(
    ("asked", "got"), [("one-1", "two-1"), ("opus", "two-large"), ("one-special", "two-1"), ("inherit", "two-1")]
)
async def test_each_provider_is_asked_for_a_model_of_its_own(asked: str, got: str) -> None:
    one, two = Named("one", OverloadedError("busy")), Named("two", "x")
    both = FallbackProvider([one, two])
    await chunks_of(both, both.resolve_model(asked))
    assert [request.model for request in two.requests] == [got]


async def test_a_second_place_of_the_same_api_keeps_the_model_and_an_entry_may_name_one() -> None:
    here, there, other = Named("one", OverloadedError("busy")), Named("one", OverloadedError("busy")), Named("two", "x")
    await chunks_of(FallbackProvider([here, there, (other, "special")]), "one-special")
    asked = [provider.requests[0].model for provider in (here, there, other)]
    assert asked == ["one-special", "one-special", "special"]


async def test_retries_of_each_provider_come_first_and_are_counted_on() -> None:
    async with talk("anthropic") as first, talk("chat") as second:
        first.server.reply(error(529, "Overloaded", retry_after=0))
        second.server.reply(text("there"))
        seen = await chunks_of(FallbackProvider([first.provider, second.provider]), "model-a")
    retries = [chunk for chunk in seen if isinstance(chunk, RetryChunk)]
    assert [retry.attempt for retry in retries] == [2]
    assert "Overloaded" in retries[0].reason
    assert isinstance(seen[-1], ModelReply)
    assert seen[-1].message.origin == "openai-chat"


async def test_cancelling_reaches_the_provider_that_is_asked() -> None:
    never = asyncio.Event()
    two = Named("two", say("x", never))
    stream = FallbackProvider([Named("one", OverloadedError("busy")), two]).stream(
        ModelRequest("one-1", [user_text("hi")])
    )
    begun = asyncio.Event()

    async def read() -> None:
        async for chunk in stream:
            if isinstance(chunk, TextChunk):
                begun.set()

    task = asyncio.create_task(read())
    await asyncio.wait_for(begun.wait(), 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert two.interrupted == 1


async def test_a_conversation_has_to_fit_whoever_answers_and_all_are_closed() -> None:
    one, two = Named("one", context_window=50_000), Named("two", context_window=8_000)
    both = FallbackProvider([one, two])
    assert (both.name, both.default_model) == ("one", "one-1")
    assert both.limits("one-1") == ModelLimits(8_000)
    await both.start()
    await both.aclose()
    assert (one.closed, two.closed) == (1, 1)


def test_one_provider_is_no_fallback() -> None:
    with pytest.raises(ConfigurationError, match="two providers or more"):
        FallbackProvider([Named("one")])
