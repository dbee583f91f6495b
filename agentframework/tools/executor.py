"""Runs one call of one tool: sync functions in threads, any return value to a `ToolResult`, faults to error
results, everything within the size limit."""

import asyncio
import inspect
import traceback
from functools import partial
from typing import cast

from agentframework._base.abort import AbortedError
from agentframework._base.bounded import cut_middle, printable
from agentframework._base.threads import in_daemon_thread
from agentframework.errors import AgentFrameworkError, ErrorCode, InvalidInputError
from agentframework.tools.result import ToolResult, as_tool_result, error_result
from agentframework.tools.spill import Spill
from agentframework.tools.tool import Tool, ToolContext

MAX_RESULT_CHARACTERS = 30_000


async def execute_tool(
    tool: Tool, arguments: dict[str, object], context: ToolContext, spill: Spill | None = None
) -> ToolResult:
    """The result of ``tool.run``; whatever it raises becomes an error result that carries a code.

    A text that is too long for the model is handed to ``spill`` as a whole before it is cut.

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
        result = as_tool_result(value)
        characters = tool.max_result_characters or MAX_RESULT_CHARACTERS
        kept_in = await _spilled(result, characters, spill)
        return bounded_result(result, context.max_result_bytes, characters, kept_in)
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
    def work() -> object:
        value = tool.run(arguments, context)
        # Made to text here, where a large value holds up nobody.
        return value if inspect.isawaitable(value) else as_tool_result(value)

    # A thread cannot be stopped from outside: it sees `context.abort`, and what it still gives back is thrown away.
    return await in_daemon_thread(work)


async def _spilled(result: ToolResult, characters: int, spill: Spill | None) -> str | None:
    """Where all of a text that is too long is kept."""
    if spill is None or result.spill_path is not None or len(result.content) <= characters:
        return None
    return await in_daemon_thread(partial(spill, result.content))


def bounded_result(
    result: ToolResult, max_bytes: int, max_characters: int = MAX_RESULT_CHARACTERS, kept_in: str | None = None
) -> ToolResult:
    """``result`` within the limits: text cut in the middle, anything larger than ``max_bytes`` refused.

    ``kept_in``: the file that has all of a text that is cut here.
    """
    try:
        images = result.images
        whole = result.full_text
    except InvalidInputError as error:
        return _failed(error.message, ErrorCode.TOOL_EXECUTION_FAILED)
    note = "" if kept_in is None else f"\n[all of it is in {kept_in}; Read shows it page by page, Grep searches it]"
    text = printable(cut_middle(whole, max_characters - len(note)) + note)
    size = len(text.encode()) + sum(len(image.data_base64) for image in images)
    if size > max_bytes:
        return _failed(f"the result has {size} bytes, the limit is {max_bytes}", ErrorCode.TOOL_RESULT_TOO_LARGE)
    return ToolResult(
        text,
        result.is_error,
        images,
        result.structured,
        diff=result.diff,
        truncated=result.truncated or len(whole) > max_characters,
        spill_path=result.spill_path or kept_in,
    )


def _bounded_text(text: str) -> str:
    return printable(cut_middle(text, MAX_RESULT_CHARACTERS))


def _failed(problem: str, code: ErrorCode) -> ToolResult:
    return error_result(f"{_bounded_text(problem)} [{code}]")


def _described(error: BaseException) -> str:
    """Class and message; of a group also what it holds, since its own message says nothing."""
    line = "".join(traceback.format_exception_only(error)).strip()
    if not isinstance(error, BaseExceptionGroup):
        return line
    group = cast("BaseExceptionGroup[BaseException]", error)
    held = ("".join(traceback.format_exception_only(one)).strip() for one in group.exceptions[:5])
    return f"{line}: {'; '.join(held)}"
