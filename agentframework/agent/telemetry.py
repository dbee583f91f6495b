"""Spans of runs for OpenTelemetry, by its conventions for generative AI; off unless a host makes this its observer.

The conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/ (spans ``invoke_agent``, ``chat``,
``execute_tool``). A run is a child of the span in whose context it was started.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from agentframework.errors import MissingDependencyError
from agentframework.events import (
    BaseEvent,
    Complete,
    ErrorEvent,
    Interrupted,
    IterationStarted,
    ModelCompleted,
    ToolEnd,
    ToolStart,
    TurnStarted,
)
from agentframework.messages import Usage

_OPERATION = "gen_ai.operation.name"


@dataclass(slots=True)
class _Open:
    """The spans of one run that have not ended."""

    run: Any
    chat: Any = None
    tools: dict[str, Any] = field(default_factory=dict[str, Any])


class OpenTelemetryObserver:
    """An ``observer`` of agents that makes a span of each run, model request and tool call.

    ``tracer_provider`` None is the one that the program has set globally. Arguments and results of tools are left out
    unless ``capture_content``. Raises `MissingDependencyError` without the package ``opentelemetry-api``.
    """

    def __init__(
        self, tracer_provider: Any = None, *, agent_name: str = "assistant", capture_content: bool = False
    ) -> None:
        try:
            from opentelemetry import trace  # noqa: PLC0415 - optional, and only for those who want it
        except ImportError as error:
            raise MissingDependencyError("tracing needs 'pip install opentelemetry-api'") from error
        self._trace = trace
        self._tracer = trace.get_tracer("agentframework", tracer_provider=tracer_provider)
        self._agent_name = agent_name
        self._content = capture_content
        self._open: dict[tuple[str, str | None], _Open] = {}

    def on_event(self, event: BaseEvent) -> None:
        """Begin or end what this event begins or ends."""
        key = event.session_id, event.turn_id
        if isinstance(event, TurnStarted):
            attributes = {"gen_ai.agent.name": self._agent_name, "gen_ai.conversation.id": event.session_id}
            self._open[key] = _Open(
                self._start(f"invoke_agent {self._agent_name}", "invoke_agent", event, None, attributes)
            )
            return
        found = self._open.get(key)
        if found is None:
            return
        match event:
            case IterationStarted():
                _end(found.chat, event)
                found.chat = self._start("chat", "chat", event, found.run, {}, client=True)
            case ModelCompleted():
                self._answered(found, event)
            case ToolStart():
                found.tools[event.tool_use_id] = self._called(found, event)
            case ToolEnd():
                self._returned(found.tools.pop(event.tool_use_id, None), event)
            case Complete() | Interrupted():
                _used(found.run, event.result.usage)
                self._close(key, found, event, "interrupted" if isinstance(event, Interrupted) else None)
            case ErrorEvent():
                self._close(key, found, event, event.error.code)
            case _:
                pass

    def _start(
        self, name: str, operation: str, event: BaseEvent, parent: Any, attributes: dict[str, Any], client: bool = False
    ) -> Any:
        context = None if parent is None else self._trace.set_span_in_context(parent)
        kind = self._trace.SpanKind.CLIENT if client else self._trace.SpanKind.INTERNAL
        values = {_OPERATION: operation, **attributes}
        return self._tracer.start_span(name, context, kind, values, start_time=_nanoseconds(event))

    def _answered(self, found: _Open, event: ModelCompleted) -> None:
        span, found.chat = found.chat, None
        if span is None:
            return
        message = event.message
        span.update_name(f"chat {message.model}")
        span.set_attribute("gen_ai.request.model", message.model)
        span.set_attribute("gen_ai.response.model", message.model)
        span.set_attribute("gen_ai.provider.name", message.origin)
        span.set_attribute("gen_ai.response.finish_reasons", [event.stop_reason or ""])
        _used(span, event.usage)
        _end(span, event)

    def _called(self, found: _Open, event: ToolStart) -> Any:
        attributes: dict[str, Any] = {
            "gen_ai.tool.name": event.tool_name,
            "gen_ai.tool.call.id": event.tool_use_id,
            "gen_ai.tool.type": "extension" if event.tool_name.startswith("mcp__") else "function",
        }
        if self._content:
            attributes["gen_ai.tool.call.arguments"] = json.dumps(event.tool_input, default=str)
        return self._start(f"execute_tool {event.tool_name}", "execute_tool", event, found.run, attributes)

    def _returned(self, span: Any, event: ToolEnd) -> None:
        if span is None:
            return
        if self._content:
            span.set_attribute("gen_ai.tool.call.result", event.result)
        if event.outcome != "success":
            self._failed(span, event.outcome)
        _end(span, event)

    def _failed(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))

    def _close(self, key: tuple[str, str | None], found: _Open, event: BaseEvent, problem: str | None) -> None:
        del self._open[key]
        for span in (*found.tools.values(), found.chat, found.run):
            if span is not None and problem is not None:
                self._failed(span, problem)
            _end(span, event)


def _nanoseconds(event: BaseEvent) -> int:
    return int(event.time * 1_000_000_000)


def _end(span: Any, event: BaseEvent) -> None:
    if span is not None:
        span.end(_nanoseconds(event))


def _used(span: Any, usage: Usage) -> None:
    span.set_attribute("gen_ai.usage.input_tokens", usage.input_tokens)
    span.set_attribute("gen_ai.usage.output_tokens", usage.output_tokens)
