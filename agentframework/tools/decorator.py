"""``@tool``: a typed function becomes a tool."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, overload

from agentframework.tools.schema import FunctionSchema, summary_of
from agentframework.tools.tool import RiskClass, Tool, ToolContext


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    risk: RiskClass | str | None = None,
    permission_key: str | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    risk: RiskClass | str | None = None,
    permission_key: str | None = None,
) -> Any:
    """Make a `Tool` of a typed sync or async function, with or without arguments of the decorator.

    The schema comes from the annotations, the description from the docstring (parameters from its ``Args:``
    section). A parameter annotated `ToolContext` receives the context. The tool can still be called like the
    function. Raises `ConfigurationError`.
    """
    if function is None:
        return partial(_make, name=name, description=description, risk=risk, permission_key=permission_key)
    return _make(function, name=name, description=description, risk=risk, permission_key=permission_key)


def _make(
    function: Callable[..., Any],
    *,
    name: str | None,
    description: str | None,
    risk: RiskClass | str | None,
    permission_key: str | None,
) -> Tool:
    schema = FunctionSchema(function)

    def call(arguments: dict[str, Any], context: ToolContext) -> Any:
        contexts = dict.fromkeys(schema.context_parameters, context)
        return function(**schema.call_arguments(arguments), **contexts)

    async def run_async(arguments: dict[str, Any], context: ToolContext) -> Any:
        return await call(arguments, context)

    return Tool(
        name or getattr(function, "__name__", ""),
        summary_of(inspect.getdoc(function) or "") if description is None else description,
        schema.schema,
        run_async if inspect.iscoroutinefunction(function) else call,
        risk,
        permission_key,
        function,
    )
