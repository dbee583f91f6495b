"""What every provider has to do, as checks that run against any backend: a scripted server, a real one, a model.

    from agentframework.testing.conformance import PROVIDER_CHECKS, Subject

    @pytest.mark.parametrize("check", PROVIDER_CHECKS, ids=lambda check: check.__name__)
    async def test_my_provider(check):
        async with my_backend() as address:
            await check(Subject(MyProvider(address)))

A check takes a `Subject` and raises ``AssertionError`` that says what is wrong, or ``unittest.SkipTest`` (which
pytest understands) for what the subject says it cannot do. Nothing is assumed of what the model answers, so the
backend may be a real model; a slow one needs more ``patience_s``.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from unittest import SkipTest

from agentframework.errors import AuthenticationError, ContextOverflowError, ProviderError
from agentframework.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    user_text,
)
from agentframework.providers.protocol import (
    Chunk,
    ModelReply,
    ModelRequest,
    Provider,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)

_STOP_REASONS = {"end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """What to say to the model so that it does what a check needs; None: it cannot.

    ``long`` asks for a reply of many chunks, ``tool`` for a call of ``tool_spec``, ``overflow`` is too long for the
    model's window.
    """

    hello: str = "Say hello."
    long: str = "Count from one to two hundred, in words."
    tool: str | None = None
    tool_spec: ToolSpec | None = None
    overflow: str | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """The provider under test. ``refused`` is one whose backend refuses its key."""

    provider: Provider
    prompts: Prompts = Prompts()
    model: str | None = None
    max_output_tokens: int = 32
    refused: Provider | None = None
    patience_s: float = 60.0

    def request(self, messages: str | Sequence[Message], **fields: Any) -> ModelRequest:
        """A request to the model under test."""
        history = [user_text(messages)] if isinstance(messages, str) else messages
        model = self.model or self.provider.default_model
        limit = fields.pop("max_output_tokens", self.max_output_tokens)
        return ModelRequest(model, history, max_output_tokens=limit, **fields)

    async def chunks(self, messages: str | Sequence[Message], **fields: Any) -> list[Chunk]:
        """All chunks of one answer."""
        async with asyncio.timeout(self.patience_s):
            return [chunk async for chunk in self.provider.stream(self.request(messages, **fields))]

    async def reply(self, messages: str | Sequence[Message], **fields: Any) -> AssistantMessage:
        """The reply to a request."""
        last = (await self.chunks(messages, **fields))[-1]
        assert isinstance(last, ModelReply), f"the last chunk is a {type(last).__name__}, not the ModelReply"
        return last.message


ProviderCheck = Callable[[Subject], Awaitable[None]]


async def says_who_it_is(subject: Subject) -> None:
    """Names, limits and aliases can be asked before anything is started."""
    provider = subject.provider
    assert isinstance(provider, Provider), "a member of the Provider protocol is missing"
    assert provider.name, "name is empty"
    assert provider.default_model, "default_model is empty"
    for model in (provider.default_model, "opus", "sonnet", "haiku", "inherit", "a-model-of-the-future"):
        resolved = provider.resolve_model(model)
        assert provider.resolve_model(resolved) == resolved, f"resolve_model({model!r}) has to be resolved again"
        limits = provider.limits(resolved)
        assert limits.context_window > 0, f"{resolved}: no context window"
        assert limits.max_output_tokens is None or limits.max_output_tokens > 0, f"{resolved}: no output limit"


async def answers_in_pieces_and_whole_at_the_end(subject: Subject) -> None:
    """The reply is the last chunk, there is one of it, and it holds what the pieces said."""
    chunks = await subject.chunks(subject.prompts.hello)
    replies = [chunk for chunk in chunks if isinstance(chunk, ModelReply)]
    assert len(replies) == 1, f"{len(replies)} ModelReply chunks in one answer"
    assert chunks[-1] is replies[0], "something came after the ModelReply"
    message = replies[0].message
    text = "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
    assert text == message.text, f"the pieces say {text!r}, the reply {message.text!r}"
    if message.thinking:
        thought = "".join(chunk.text for chunk in chunks if isinstance(chunk, ThinkingChunk))
        assert thought == message.thinking, f"the pieces think {thought!r}, the reply {message.thinking!r}"
    assert all(isinstance(chunk, ModelReply) or chunk != TextChunk("") for chunk in chunks), "an empty piece"
    assert text.encode(), "the reply is empty"


async def marks_its_reply(subject: Subject) -> None:
    """Who answered, why it stopped and what it cost are part of the reply."""
    message = await subject.reply(subject.prompts.hello)
    assert message.origin, "origin is empty"
    assert message.model, "model is empty"
    assert message.stop_reason in _STOP_REASONS, f"unknown stop reason {message.stop_reason!r}"
    usage = message.usage
    assert usage is not None, "there is no usage"
    assert usage.input_tokens > 0, "no input tokens were counted"
    assert usage.output_tokens > 0, "no output tokens were counted"
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    assert cached <= usage.input_tokens, "the input has to include cached tokens"


async def keeps_to_the_output_limit(subject: Subject) -> None:
    """A reply that is cut by ``max_output_tokens`` says so."""
    message = await subject.reply(subject.prompts.long, max_output_tokens=16)
    assert message.stop_reason == "max_tokens", f"stop reason {message.stop_reason!r} for a reply that was cut"


async def goes_on_with_a_conversation(subject: Subject) -> None:
    """Its own reply can be sent back."""
    first = user_text(subject.prompts.hello)
    reply = await subject.reply([first])
    assert (await subject.reply([first, reply, user_text(subject.prompts.hello)])).content


async def takes_any_history(subject: Subject) -> None:
    """What interrupted turns, other providers and broken files leave behind does no harm."""
    call = ToolCall("call.1 of/another", "Read me!", {"path": "a\ud800"}, extra={"index": 3})
    lost = ToolCall("call_2", "Read", None, '{"path": "b', "not valid JSON")
    history: list[Message] = [
        AssistantMessage((TextPart("I begin."),), "other", "elsewhere"),
        user_text("one \ud83d two"),
        AssistantMessage((call, lost), "other", "elsewhere"),
        ToolMessage((ToolResultPart("call.1 of/another", "Read me!", ""),)),
        user_text(" \n"),
        AssistantMessage((TextPart(" "),), "other", "elsewhere", state="interrupted"),
        AssistantMessage((TextPart("half a sent"),), "other", "elsewhere", "interrupted", state="interrupted"),
        user_text(subject.prompts.hello),
    ]
    assert (await subject.reply(history)).content


async def stops_when_its_reader_leaves(subject: Subject) -> None:
    """Closing the stream early ends the answer, and the next request is served."""
    async with asyncio.timeout(subject.patience_s):
        async with aclosing(_closable(subject, subject.prompts.long)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    break
    assert (await subject.reply(subject.prompts.hello)).content


async def stops_when_it_is_cancelled(subject: Subject) -> None:
    """Cancelling reaches the answer at once, and the next request is served."""
    begun = asyncio.Event()

    async def read() -> None:
        async with aclosing(_closable(subject, subject.prompts.long)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    begun.set()
                    await asyncio.sleep(0)

    task = asyncio.create_task(read())
    task.add_done_callback(lambda _: begun.set())
    try:
        async with asyncio.timeout(subject.patience_s):
            await begun.wait()
            task.cancel()
            await asyncio.wait({task})
    finally:
        task.cancel()
    assert task.cancelled() or task.exception() is None, f"cancelling ended in {task.exception()!r}"
    assert (await subject.reply(subject.prompts.hello)).content


async def serves_several_at_once(subject: Subject) -> None:
    """One provider object has any number of users."""
    replies = await asyncio.gather(*(subject.reply(subject.prompts.hello) for _ in range(3)))
    assert all(reply.content for reply in replies)


async def can_be_closed_and_used_again(subject: Subject) -> None:
    """Starting and closing may be repeated, and closing is not for ever."""
    provider = subject.provider
    async with asyncio.timeout(subject.patience_s):
        await provider.start()
        await provider.start()
        await provider.aclose()
        await provider.aclose()
    assert (await subject.reply(subject.prompts.hello)).content


async def calls_tools(subject: Subject) -> None:
    """Calls arrive whole in the reply, under ids of their own, and their results are taken."""
    prompts = subject.prompts
    if prompts.tool is None or prompts.tool_spec is None:
        raise SkipTest("no prompt that makes the model call a tool")
    history: list[Message] = [user_text(prompts.tool)]
    chunks = await subject.chunks(history, tools=(prompts.tool_spec,))
    last = chunks[-1]
    assert isinstance(last, ModelReply), f"the last chunk is a {type(last).__name__}, not the ModelReply"
    calls = last.message.tool_calls
    assert calls, f"no call, but {last.message.text!r}"
    assert last.message.stop_reason == "tool_use", f"stop reason {last.message.stop_reason!r} for a reply with calls"
    assert len({call.id for call in calls}) == len(calls), "two calls have one id"
    for call in calls:
        assert call.name == prompts.tool_spec.name, f"a call of {call.name!r}, which was not offered"
        assert call.arguments is not None, f"arguments that cannot be used: {call.problem}"
        shown = {chunk.name for chunk in chunks if isinstance(chunk, ToolCallChunk) and chunk.tool_use_id == call.id}
        assert shown == {call.name}, "the call was not shown under its id while it arrived"
    results = ToolMessage(tuple(ToolResultPart(call.id, call.name, "It is sunny.") for call in calls))
    history += [last.message, results]
    again = await subject.reply(history, tools=(prompts.tool_spec,))
    assert not {call.id for call in again.tool_calls} & {call.id for call in calls}, "an id was used a second time"


async def tells_when_the_conversation_is_too_long(subject: Subject) -> None:
    """A context overflow is told apart from other bad requests, and is not tried again."""
    if subject.prompts.overflow is None:
        raise SkipTest("no prompt that is too long")
    error = await _failure(subject, subject.prompts.overflow)
    assert isinstance(error, ContextOverflowError), f"{type(error).__name__}: {error}"
    assert not error.retryable, "a conversation that is too long stays so"


async def tells_when_its_key_is_refused(subject: Subject) -> None:
    """A refused key is an `AuthenticationError`, and is not tried again."""
    if subject.refused is None:
        raise SkipTest("no provider whose key is refused")
    error = await _failure(Subject(subject.refused, subject.prompts, subject.model), subject.prompts.hello)
    assert isinstance(error, AuthenticationError), f"{type(error).__name__}: {error}"
    assert not error.retryable, "a refused key stays refused"


PROVIDER_CHECKS: tuple[ProviderCheck, ...] = (
    says_who_it_is,
    answers_in_pieces_and_whole_at_the_end,
    marks_its_reply,
    keeps_to_the_output_limit,
    goes_on_with_a_conversation,
    takes_any_history,
    stops_when_its_reader_leaves,
    stops_when_it_is_cancelled,
    serves_several_at_once,
    can_be_closed_and_used_again,
    calls_tools,
    tells_when_the_conversation_is_too_long,
    tells_when_its_key_is_refused,
)


async def _closable(subject: Subject, prompt: str) -> AsyncGenerator[Chunk]:
    """The answer as a generator, whatever kind of iterator the provider gives."""
    chunks: Any = subject.provider.stream(subject.request(prompt, max_output_tokens=4 * subject.max_output_tokens))
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        if (close := getattr(chunks, "aclose", None)) is not None:
            await close()


async def _failure(subject: Subject, prompt: str) -> ProviderError:
    try:
        message = await subject.reply(prompt)
    except ProviderError as error:
        return error
    raise AssertionError(f"there was no error, but {message.text[:80]!r}")
