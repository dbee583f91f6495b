"""What tests of whole sessions share: a harmless tool, and how a turn ended in a word."""

import asyncio
from typing import Any

from agentframework import InteractiveSession, tool
from agentframework.errors import TurnNotRunError
from agentframework.messages import ToolMessage, ToolResultPart

WAIT_S = 20


class Panic(BaseException):
    """What a library in another language may throw."""


@tool(risk="inspect")
async def look(path: str = "") -> str:
    """Looks."""
    return f"seen {path}"


def results(session: InteractiveSession) -> list[ToolResultPart]:
    """Every tool result of the history, in order."""
    return [part for m in session.get_messages() if isinstance(m, ToolMessage) for part in m.content]


async def settle(handle: Any) -> str:
    """The response, or "interrupted", or why the turn did not run, or the name of its error."""
    async with asyncio.timeout(WAIT_S):
        await handle.wait_settled()
    try:
        result = await handle.completed
    except TurnNotRunError as error:
        return error.reason
    except BaseException as error:
        return type(error).__name__
    return "interrupted" if result.interrupted else result.response
