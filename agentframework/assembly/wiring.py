"""Tools that show a plan or ask a small model, wired to a conversation."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentframework.assembly.asking import whole_answer
from agentframework.events import PlanEvent
from agentframework.events.sink import EventSink
from agentframework.messages import TextPart, UserMessage
from agentframework.providers.protocol import ModelRequest, Provider
from agentframework.tools import Tool
from agentframework.tools.wiring import CanAskModel, CanShowPlan

_MAX_OUTPUT_TOKENS = 2_000


def with_plans(tools: Iterable[Tool], sink: EventSink) -> list[Tool]:
    """``tools``, with those that keep a plan telling of it in events."""

    def show(kind: str, data: Mapping[str, Any]) -> None:
        sink.emit(PlanEvent, kind, data)

    return [tool.with_plan(show) if isinstance(tool, CanShowPlan) else tool for tool in tools]


def with_small_model(tools: Iterable[Tool], model: str, provider: Callable[[], Provider]) -> list[Tool]:
    """``tools``, with those that can use a model asking ``model`` of the provider that the session has then."""

    async def ask(system: str, prompt: str) -> str:
        now = provider()
        await now.start()
        request = ModelRequest(
            model=now.resolve_model(model),
            messages=(UserMessage((TextPart(prompt),)),),
            system=system,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        return await whole_answer(now, request)

    return [tool.with_model(ask) if isinstance(tool, CanAskModel) else tool for tool in tools]
