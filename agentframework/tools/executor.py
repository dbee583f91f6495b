"""Runs one call of one tool: sync functions in threads, any return value to a `ToolResult`, faults to error
results, everything within the size limit."""

import asyncio
import inspect
import traceback

from agentframework._base.abort import AbortedError
from agentframework._base.bounded import cut_middle, printable
from agentframework.errors import AgentFrameworkError, ErrorCode, InvalidInputError
from agentframework.tools.result import ToolResult, as_tool_result, error_result
from agentframework.tools.tool import Tool, ToolContext

MAX_RESULT_CHARACTERS = 30_000


async def execute_tool(tool: Tool, arguments: dict[str, object], context: ToolContext) -> ToolResult:
    """The result of ``tool.run``; whatever it raises becomes an error result that carries a code.

    Only what means "stop" passes: ``KeyboardInterrupt``, `AbortedError`, and the cancellation of the running
    task. A ``SystemExit`` or a ``CancelledError`` that the tool made up is its own failure and ends nothing else.
    """
    try:
        if inspect.iscoroutinefunction(tool.run):
            value = await tool.run(arguments, context)
        else:
            value = await _in_thread(tool, arguments, context)
            if inspect.isawaitable(value):
                value = await value
        characters = tool.max_result_characters or MAX_RESULT_CHARACTERS
        return bounded_result(as_tool_result(value), context.max_result_bytes, characters)
    except (AbortedError, KeyboardInterrupt, GeneratorExit):
        raise
    except AgentFrameworkError as error:
        return _failed(error.message, error.code)
    except BaseException as error:
        if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
            raise
        return _failed(_described(error), ErrorCode.TOOL_EXECUTION_FAILED)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _in_thread(tool: Tool, arguments: dict[str, object], context: ToolContext) -> object:
    from anyio import to_thread  # noqa: PLC0415 - keeps the package import light

    def work() -> object:
        value = tool.run(arguments, context)
        # Made to text here, where a large value holds up nobody.
        return value if inspect.isawaitable(value) else as_tool_result(value)

    # abandon_on_cancel: a thread cannot be stopped from outside; it sees `context.abort` and its result is
    # thrown away.
    return await to_thread.run_sync(work, abandon_on_cancel=True)


def bounded_result(
    result: ToolResult, max_bytes: int, max_characters: int = MAX_RESULT_CHARACTERS
) -> ToolResult:
    """``result`` within the limits: text cut in the middle, anything larger than ``max_bytes`` refused."""
    try:
        images = result.images
        text = _bounded_text(result.full_text, max_characters)
    except InvalidInputError as error:
        return _failed(error.message, ErrorCode.TOOL_EXECUTION_FAILED)
    size = len(text.encode()) + sum(len(image.data_base64) for image in images)
    if size > max_bytes:
        return _failed(f"the result has {size} bytes, the limit is {max_bytes}", ErrorCode.TOOL_RESULT_TOO_LARGE)
    return ToolResult(text, result.is_error, images, result.structured, diff=result.diff)


def _bounded_text(text: str, limit: int = MAX_RESULT_CHARACTERS) -> str:
    return printable(cut_middle(text, limit))


def _failed(problem: str, code: ErrorCode) -> ToolResult:
    return error_result(f"{_bounded_text(problem)} [{code}]")


def _described(error: BaseException) -> str:
    """Class and message; of a group also what it holds, since its own message says nothing."""
    line = "".join(traceback.format_exception_only(error)).strip()
    if not isinstance(error, BaseExceptionGroup):
        return line
    held = ("".join(traceback.format_exception_only(one)).strip() for one in error.exceptions[:5])
    return f"{line}: {'; '.join(held)}"
