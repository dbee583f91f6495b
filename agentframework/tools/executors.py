"""Tools that somebody else keeps and runs: the port for hosts, and several of them as one.

`tools_of` turns what an executor lists into ordinary tools, so that gate, hooks, limits and events are the same for
them as for every other tool.
"""

import inspect
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Protocol, cast

from agentframework._base.abort import AbortedError
from agentframework.errors import AgentFrameworkError, ErrorCode, ToolExecutionError
from agentframework.tools.catalog import name_conflict
from agentframework.tools.definitions import ToolDefinition, spec_of
from agentframework.tools.info import CUSTOM, ToolInfo
from agentframework.tools.result import ToolResult, as_tool_result
from agentframework.tools.tool import Tool, ToolContext


class ToolExecutor(Protocol):
    """A source of tools.

    May also have ``get_tool_info(tool_name) -> ToolInfo | None`` (what policies see), and async ``initialize()`` and
    ``close()``, called by whoever owns it before the first use and after the last.
    """

    def list_tools(self) -> Iterable[ToolDefinition] | Awaitable[Iterable[ToolDefinition]]:
        """What there is now. May also be a coroutine function."""
        ...

    async def execute(self, tool_name: str, tool_input: dict[str, Any], context: ToolContext, /) -> Any:
        """The result of one call: text, a `ToolResult`, ``{"content", "is_error"}`` or other JSON data."""
        ...


async def listed_by(executor: ToolExecutor) -> Sequence[ToolDefinition]:
    """What the executor lists, whether it does so at once or later."""
    listed: Any = executor.list_tools()
    return list(await listed if inspect.isawaitable(listed) else listed)


async def run_by(
    executor: ToolExecutor, tool_name: str, tool_input: dict[str, Any], context: ToolContext
) -> ToolResult:
    """One call. Raises `ToolExecutionError` with code ``TOOL_EXECUTION_FAILED`` for whatever the executor raises."""
    try:
        value: Any = executor.execute(tool_name, tool_input, context)
        return result_of(await value if inspect.isawaitable(value) else value)
    except (AgentFrameworkError, AbortedError):
        raise
    except Exception as error:
        raise ToolExecutionError(
            f"{type(error).__name__}: {error}", code=ErrorCode.TOOL_EXECUTION_FAILED, details={"tool": tool_name}
        ) from error


def result_of(value: Any) -> ToolResult:
    """What an executor answered, as a `ToolResult`.

    Like a tool's own value; a dict with text under ``content`` and nothing but the fields of a result is one.
    """
    if isinstance(value, Mapping):
        given = cast("Mapping[Any, Any]", value)
        fields: dict[str, Any] = {_RESULT_FIELDS.get(str(key), ""): item for key, item in given.items()}
        if "" not in fields and isinstance(fields.get("content"), str):
            fields["content_blocks"] = tuple(fields.get("content_blocks") or ())
            return ToolResult(**fields)
    return as_tool_result(value)


_RESULT_FIELDS = {
    "content": "content",
    "is_error": "is_error",
    "isError": "is_error",
    "content_blocks": "content_blocks",
    "contentBlocks": "content_blocks",
    "structured": "structured",
}


def info_by(executor: ToolExecutor, tool_name: str) -> ToolInfo:
    """What the executor tells about a tool, or that it is a custom one."""
    ask: Any = getattr(executor, "get_tool_info", None)
    told = cast("ToolInfo | None", ask(tool_name)) if ask is not None else None
    return told or CUSTOM


async def initialize(executor: ToolExecutor) -> None:
    """Call its ``initialize`` if it has one."""
    await _call(executor, "initialize")


async def close(executor: ToolExecutor) -> None:
    """Call its ``close`` if it has one."""
    await _call(executor, "close")


async def _call(executor: ToolExecutor, name: str) -> None:
    method = getattr(executor, name, None)
    if callable(method):
        made: Any = method()
        if inspect.isawaitable(made):
            await made


async def tools_of(executor: ToolExecutor) -> tuple[Tool, ...]:
    """The tools it lists, as a catalogue takes them. Raises `ConfigurationError` for a definition that is none."""
    return tuple(_as_tool(executor, definition) for definition in await listed_by(executor))


def _as_tool(executor: ToolExecutor, definition: ToolDefinition) -> Tool:
    spec = spec_of(definition)

    async def run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return await run_by(executor, spec.name, arguments, context)

    declared = definition if isinstance(definition, Tool) else None
    return Tool(
        spec.name,
        spec.description,
        spec.input_schema,
        run,
        None if declared is None else declared.risk,
        None if declared is None else declared.permission_key,
        info=info_by(executor, spec.name),
    )


class CompositeToolExecutor:
    """Several executors as one: each call goes to the one that lists the tool.

    ``initialize`` and ``close`` reach all of them; if one cannot be initialised, those before it are closed again.
    """

    def __init__(self, executors: Iterable[ToolExecutor]) -> None:
        self._executors = tuple(executors)
        self._routes: dict[str, ToolExecutor] | None = None

    async def list_tools(self) -> list[ToolDefinition]:
        """All tools, in the order of the executors. Raises `ToolExecutionError` ``TOOL_NAME_CONFLICT``."""
        routes: dict[str, ToolExecutor] = {}
        every: list[ToolDefinition] = []
        for executor in self._executors:
            for definition in await listed_by(executor):
                name = spec_of(definition).name
                if name in routes:
                    raise name_conflict(name)
                routes[name] = executor
                every.append(definition)
        self._routes = routes
        return every

    async def execute(self, tool_name: str, tool_input: dict[str, Any], context: ToolContext) -> ToolResult:
        """Run it where it is listed. Raises `ToolExecutionError`: ``TOOL_NOT_FOUND`` or ``TOOL_EXECUTION_FAILED``."""
        if self._routes is None or tool_name not in self._routes:
            await self.list_tools()
        executor = (self._routes or {}).get(tool_name)
        if executor is None:
            raise ToolExecutionError(
                f"no executor has a tool named {tool_name!r}",
                code=ErrorCode.TOOL_NOT_FOUND,
                details={"tool": tool_name},
            )
        return await run_by(executor, tool_name, tool_input, context)

    def get_tool_info(self, tool_name: str) -> ToolInfo | None:
        """What its executor tells about a tool; None before the tools were listed, or if it is unknown."""
        executor = (self._routes or {}).get(tool_name)
        return None if executor is None else info_by(executor, tool_name)

    async def initialize(self) -> None:
        """Initialise all, in order."""
        async with AsyncExitStack() as begun:
            for executor in self._executors:
                await initialize(executor)
                begun.push_async_callback(close, executor)
            begun.pop_all()

    async def close(self) -> None:
        """Close all, in reverse order. One that fails keeps no other open; its error is raised in the end."""
        async with AsyncExitStack() as begun:
            for executor in self._executors:
                begun.push_async_callback(close, executor)
