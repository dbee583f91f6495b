"""A summary that a function of the host makes."""

import inspect
from collections.abc import Sequence
from typing import Any

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework.context.options import Summarize
from agentframework.messages import Message


async def host_summary(summarize: Summarize, messages: Sequence[Message], abort: AbortSignal) -> str:
    """What ``summarize`` says of ``messages``, stripped and not blank.

    Raises `AbortedError`, ``ValueError`` if it says nothing, and whatever it raises.
    """

    async def ask() -> Any:
        said = summarize(messages, abort) if _takes_two(summarize) else summarize(messages)
        return await said if inspect.isawaitable(said) else said

    text: Any = await run_abortable(ask(), abort)
    if not isinstance(text, str):
        raise ValueError(f"the summary is no text: {text!r:.100}")
    if not text.strip():
        raise ValueError("the summary is empty")
    return text.strip()


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # nothing is known of its parameters
        return True
    return True
