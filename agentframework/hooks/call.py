"""Hooks that are functions of the host: they get the input as a dict and return None or what a command would print."""

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework.hooks.model import CallAction, HookAnswer, HookFailedError, HookRequest
from agentframework.hooks.output import read_object

CANCEL_GRACE_S = 1.0
Abandon = Callable[[asyncio.Task[Any]], object]


async def call_function(action: CallAction, request: HookRequest, abandon: Abandon) -> HookAnswer:
    """Call it, a sync function in a thread. Each gets its own copy of the input.

    One that does not stop when it is cancelled is left to ``abandon``; a thread cannot be stopped, its result is
    thrown away. Raises `HookFailedError` for an answer that is neither None nor a dict, and whatever it raises.
    """
    answer = await run_abortable(_answer(action, request), AbortSignal(), grace_s=CANCEL_GRACE_S, abandon=abandon)
    if answer is None:
        return HookAnswer()
    if not isinstance(answer, dict):
        raise HookFailedError(f"it must return None or a dict, not {type(answer).__name__}")
    return read_object(request.event, answer)


async def _answer(action: CallAction, request: HookRequest) -> object:
    function, event = action.function, json.loads(request.body)
    call = type(function).__call__ if not inspect.isroutine(function) else function
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call):
        return await function(event)
    from anyio import to_thread  # noqa: PLC0415 - keeps the package import light

    answer = await to_thread.run_sync(function, event, abandon_on_cancel=True)
    return await answer if inspect.isawaitable(answer) else answer
