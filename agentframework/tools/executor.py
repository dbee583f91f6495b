"""Runs one call of one tool: sync functions in threads, any return value to a `ToolResult`, faults to error
results, everything within the size limit."""

import inspect
import traceback

from agentframework._base.abort import AbortedError
from agentframework._base.bounded import cut_middle, printable
from agentframework.errors import AgentFrameworkError, ErrorCode, InvalidInputError
from agentframework.tools.result import ToolResult, as_tool_result, error_result
from agentframework.tools.tool import Tool, ToolContext

MAX_RESULT_CHARACTERS = 30_000


async def execute_tool(tool: Tool, arguments: dict[str, object], context: ToolContext) -> ToolResult:
    """The result of ``tool.run``; an exception becomes an error result with code ``TOOL_EXECUTION_FAILED``.

    ``CancelledError`` and `AbortedError` pass through: they mean "stop", not "failed".
    """
    try:
        if inspect.iscoroutinefunction(tool.run):
            value = await tool.run(arguments, context)
        else:
            value = await _in_thread(tool, arguments, context)
            if inspect.isawaitable(value):
                value = await value
        return bounded_result(as_tool_result(value), context.max_result_bytes)
    except AbortedError:
        raise
    except AgentFrameworkError as error:
        return error_result(f"{error.message} [{error.code}]")
    except Exception as error:
        return error_result(f"{_one_line(error)} [{ErrorCode.TOOL_EXECUTION_FAILED}]")


async def _in_thread(tool: Tool, arguments: dict[str, object], context: ToolContext) -> object:
    from anyio import to_thread  # noqa: PLC0415 - keeps the package import light

    # abandon_on_cancel: a thread cannot be stopped from outside; it sees `context.abort` and its result is
    # thrown away.
    return await to_thread.run_sync(tool.run, arguments, context, abandon_on_cancel=True)


def bounded_result(result: ToolResult, max_bytes: int) -> ToolResult:
    """``result`` within the limits: text cut in the middle, images over the byte limit refused."""
    try:
        images = result.images
    except InvalidInputError as error:
        return error_result(error.message)
    text = printable(cut_middle(result.full_text, MAX_RESULT_CHARACTERS))
    size = len(text.encode()) + sum(len(image.data_base64) for image in images)
    if size > max_bytes:
        return error_result(
            f"the result has {size} bytes, the limit is {max_bytes} [{ErrorCode.TOOL_RESULT_TOO_LARGE}]"
        )
    return ToolResult(text, result.is_error, images, result.structured, diff=result.diff)


def _one_line(error: Exception) -> str:
    return "".join(traceback.format_exception_only(error)).strip()
