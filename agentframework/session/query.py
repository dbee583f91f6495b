"""`create_query`: a conversation as one async function."""

import inspect
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

from agentframework.events import PermissionRequest, TextDelta
from agentframework.permissions import PermissionAnswer
from agentframework.providers.protocol import Provider
from agentframework.session.session import InteractiveSession

Answer = bool | str | PermissionAnswer


class PermissionHandler(Protocol):
    """Decides a call that needs approval; sync or async. Only True or a known answer allows."""

    def __call__(self, tool_name: str, tool_args: dict[str, Any], /) -> Answer | Awaitable[Answer]: ...


class Query:
    """``await query("…")`` gives the reply's text; every call is a turn of the same conversation.

    ``session`` is the session behind it. Leave with ``async with`` or `aclose`.
    """

    def __init__(self, session: InteractiveSession) -> None:
        self.session = session

    async def __call__(self, text: str) -> str:
        """Run a turn. Raises the turn's error; an interrupted turn gives what was said."""
        handle = self.session.submit_nowait(text)
        return (await handle.completed).response

    async def aclose(self) -> None:
        """End the conversation. May be called many times."""
        await self.session.shutdown()

    async def __aenter__(self) -> "Query":
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()


def create_query(
    *,
    provider: Provider,
    cwd: str | Path | None = None,
    permission_handler: PermissionHandler | None = None,
    on_text_delta: Callable[[str], object] | None = None,
    **options: Any,
) -> Query:
    """A function that answers prompts in one conversation. ``cwd`` None means the current directory.

    ``options`` are those of `InteractiveSession`. Without ``permission_handler`` every call that needs
    approval is denied; one that raises denies too. ``on_text_delta`` gets pieces of text.
    """
    session = InteractiveSession(cwd=os.getcwd() if cwd is None else cwd, provider=provider, **options)
    if on_text_delta is not None:
        deliver = on_text_delta

        def text(event: TextDelta) -> None:
            deliver(event.text)

        session.on(TextDelta, text)
    if permission_handler is not None:
        _attach(session, permission_handler)
    return Query(session)


def _attach(session: InteractiveSession, handler: PermissionHandler) -> None:
    async def decide(event: PermissionRequest) -> None:
        answer: Any = False
        try:
            answer = handler(event.tool_name, dict(event.tool_args))
            if inspect.isawaitable(answer):
                answer = await answer
        finally:
            # Also when the handler raised: the request must not hang, and what raised denies.
            session.resolve_permission(event.id, answer if not inspect.isawaitable(answer) else False)

    def start(event: PermissionRequest) -> Any:
        # A coroutine per request, so that one slow answer does not hold up the next request's.
        return decide(event)

    session.on(PermissionRequest, start)
