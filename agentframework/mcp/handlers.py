"""What a server may ask of its client: the host's handlers as callbacks of the official client.

A handler is sync or async and returns a dict or a model of the official client. One that fails is answered within the
protocol, as an error; the server decides what that means.
"""

import inspect
from collections.abc import Callable
from typing import Any

from mcp_types import INTERNAL_ERROR, CreateMessageResult, ElicitResult, ErrorData, ListRootsResult
from pydantic import BaseModel

from agentframework.mcp.options import Handler, McpHandlers

LOG_LEVEL = "info"


def client_callbacks(handlers: McpHandlers) -> dict[str, Any]:
    """Arguments for the official client. A callback that is there is declared as a capability."""
    found: dict[str, Any] = {}
    if handlers.sampling is not None:
        found["sampling_callback"] = _answering(handlers.sampling, CreateMessageResult)
    if handlers.elicitation is not None:
        found["elicitation_callback"] = _answering(handlers.elicitation, ElicitResult)
    if handlers.roots is not None:
        found["list_roots_callback"] = _roots(handlers.roots)
    if handlers.logging is not None:
        found["logging_callback"] = _logging(handlers.logging)
        found["log_level"] = LOG_LEVEL  # modern servers send none unless each request says so
    return found


def _answering(handler: Handler, model: type[BaseModel]) -> Callable[..., Any]:
    async def answer(_context: Any, params: Any) -> Any:
        try:
            return _as_model(await _called(handler, params), model)
        except Exception as error:
            return _failed(error)

    return answer


def _roots(handler: Handler) -> Callable[..., Any]:
    async def answer(_context: Any) -> Any:
        try:
            value = await _called(handler)
            return _as_model({"roots": value} if isinstance(value, list) else value, ListRootsResult)
        except Exception as error:
            return _failed(error)

    return answer


def _logging(handler: Handler) -> Callable[..., Any]:
    async def take(params: Any) -> None:
        await _called(handler, params)

    return take


async def _called(handler: Handler, *arguments: Any) -> Any:
    value = handler(*arguments)
    return await value if inspect.isawaitable(value) else value


def _as_model(value: Any, model: type[BaseModel]) -> Any:
    return value if isinstance(value, BaseModel) else model.model_validate(value)


def _failed(error: Exception) -> ErrorData:
    return ErrorData(code=INTERNAL_ERROR, message=f"the handler failed: {type(error).__name__}: {error}")
