"""A provider that says what a test tells it to: scripts in, requests recorded, leftovers fail.

Example::

    provider = ScriptedProvider(
        say("Let me look.", call("Read", file_path="README.md")),
        say("It is a README."),
    )

Each step answers one model request. A step is a `Say`, a string, an exception to raise, or a function of the
request that returns one of these.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from agentframework.errors import ProviderError
from agentframework.messages import (
    AssistantMessage,
    AssistantPart,
    TextPart,
    ThinkingPart,
    ToolCall,
    Usage,
)
from agentframework.providers.protocol import (
    Chunk,
    ModelLimits,
    ModelReply,
    ModelRequest,
    RawChunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)


class UnexpectedModelCallError(ProviderError):
    """The script is over, and the model was asked again."""


class UnconsumedStepsError(AssertionError):
    """The script holds steps that no request asked for."""


ScriptPart = str | ThinkingPart | ToolCall | asyncio.Event | BaseException | TextPart


@dataclass(frozen=True, slots=True)
class Say:
    """One reply: its parts in order. An `asyncio.Event` holds the stream until it is set; an exception ends it."""

    parts: tuple[ScriptPart, ...]
    stop_reason: str | None = None
    usage: Usage = Usage(input_tokens=10, output_tokens=5)


Step = Say | str | BaseException | Callable[[ModelRequest], "Say | str | BaseException"]

_call_ids = count(1)


def say(*parts: ScriptPart, stop_reason: str | None = None, usage: Usage | None = None) -> Say:
    """A reply. Each string is one text delta; neighbouring strings make one text part."""
    said = Say(parts, stop_reason)
    return said if usage is None else replace(said, usage=usage)


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call with a fresh id."""
    return ToolCall(f"call_{next(_call_ids)}", name, arguments, json.dumps(arguments))


def bad_call(name: str, arguments_json: str) -> ToolCall:
    """A tool call whose arguments are not a JSON object."""
    return ToolCall(f"call_{next(_call_ids)}", name, None, arguments_json, "the arguments are not a JSON object")


def think(text: str, signature: str | None = None) -> ThinkingPart:
    """A piece of reasoning."""
    return ThinkingPart(text, signature)


class ScriptedProvider:
    """Answers with its steps, one a request. ``requests`` holds what was asked.

    As a context manager it fails on leaving if steps are left over (`assert_finished`).
    """

    name = "scripted"
    default_model = "scripted-model"

    def __init__(self, *steps: Step, context_window: int = 200_000) -> None:
        self._steps = list(steps)
        self._limits = ModelLimits(context_window)
        self.requests: list[ModelRequest] = []
        self.interrupted = 0

    def add(self, *steps: Step) -> None:
        """Append steps to the script."""
        self._steps.extend(steps)

    def resolve_model(self, model: str) -> str:
        """Any name stands for itself."""
        return model

    def limits(self, model: str) -> ModelLimits:
        """The window given at construction."""
        return self._limits

    async def start(self) -> None:
        """Nothing to prepare."""

    async def aclose(self) -> None:
        """Nothing to give up."""

    def assert_finished(self) -> None:
        """Raise `UnconsumedStepsError` if the script is not over."""
        if self._steps:
            raise UnconsumedStepsError(f"{len(self._steps)} steps of the script were never asked for")

    def __enter__(self) -> "ScriptedProvider":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is None:
            self.assert_finished()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Play the next step. Raises `UnexpectedModelCallError` when there is none."""
        self.requests.append(replace(request, messages=tuple(request.messages)))
        if not self._steps:
            raise UnexpectedModelCallError(f"request {len(self.requests)} came after the end of the script")
        step = self._steps.pop(0)
        if callable(step):
            step = step(request)
        if isinstance(step, BaseException):
            raise step
        said = Say((step,)) if isinstance(step, str) else step
        try:
            async for chunk in self._play(said, request):
                yield chunk
        except asyncio.CancelledError:
            self.interrupted += 1
            raise

    async def _play(self, said: Say, request: ModelRequest) -> AsyncIterator[Chunk]:
        content: list[AssistantPart] = []
        for part in said.parts:
            if isinstance(part, asyncio.Event):
                await part.wait()
                continue
            if isinstance(part, BaseException):
                raise part
            if request.raw_events:
                yield RawChunk({"part": type(part).__name__})
            if isinstance(part, ToolCall):
                content.append(part)
                yield ToolCallChunk(part.id, part.name, part.arguments_json)
            elif isinstance(part, ThinkingPart):
                content.append(part)
                yield ThinkingChunk(part.text)
            else:
                text = part if isinstance(part, str) else part.text
                _append_text(content, text)
                yield TextChunk(text)
        calls = any(isinstance(part, ToolCall) for part in content)
        stop_reason = said.stop_reason or ("tool_use" if calls else "end_turn")
        yield ModelReply(
            AssistantMessage(tuple(content), request.model, self.name, stop_reason, said.usage)
        )


def _append_text(content: list[AssistantPart], text: str) -> None:
    last: Sequence[AssistantPart] = content[-1:]
    if last and isinstance(last[0], TextPart):
        content[-1] = TextPart(last[0].text + text)
    else:
        content.append(TextPart(text))
