"""Hooks around turns: at the start of a conversation, before a prompt is taken, after a turn that failed, at the end.

What hooks hear within a turn is `agentframework.loop.hooking`. Both faces use this; it knows neither.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework._base.owner import TaskOwner
from agentframework.errors import ErrorInfo, PromptBlockedError
from agentframework.hooks import HookEngine, HookEvent, HookOutcome
from agentframework.hooks.reminder import reminder
from agentframework.messages import TextPart, UserMessage

# A session that ends waits no longer than this for the hooks of its end, and for what still runs in the background.
END_S = 5.0
UNATTENDED_S = 2.0


class ConversationHooks:
    """The hooks around the turns of one conversation.

    ``owner`` keeps what runs at the start; ``model`` names the model that answers.
    """

    __slots__ = ("_began", "_engine", "_greeting", "_model", "_owner", "_starting")

    def __init__(self, engine: HookEngine, owner: TaskOwner, model: Callable[[], str]) -> None:
        self._engine = engine
        self._owner = owner
        self._model = model
        self._starting: asyncio.Task[Any] | None = None
        self._greeting: tuple[str, ...] = ()
        self._began = False

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the configuration."""
        return self._engine.problems

    def begin(self, source: str) -> None:
        """Run the ``SessionStart`` hooks; ``source`` is ``startup``, ``resume``, ``clear`` or ``compact``."""
        self._began = True
        self._greeting = ()
        if self._engine.has(HookEvent.SESSION_START):
            self._starting = self._owner.start(self._begin(source, self._starting), f"SessionStart hooks ({source})")

    def begin_again(self) -> None:
        """The conversation was cleared: what was said at its start is to be said once more."""
        if self._began:
            self.begin("clear")

    async def _begin(self, source: str, earlier: asyncio.Task[Any] | None) -> None:
        if earlier is not None:
            await asyncio.wait({earlier})
        outcome = await self._engine.run(HookEvent.SESSION_START, {"source": source, "model": self._model()})
        self._greeting = outcome.context

    async def ready(self) -> None:
        """Return when the ``SessionStart`` hooks have run."""
        if self._starting is not None:
            await asyncio.wait({self._starting})

    async def admit(self, message: UserMessage, typed: str, abort: AbortSignal) -> UserMessage:
        """The prompt as the model gets it, with what hooks say in front. ``typed`` is what somebody has written.

        Raises `PromptBlockedError` if one of them blocks it, `AbortedError`.
        """
        if self._starting is not None and not self._starting.done():
            await run_abortable(self.ready(), abort)
        outcome = HookOutcome()
        if self._engine.has(HookEvent.USER_PROMPT_SUBMIT):
            fields = {"prompt": typed, "user_message": message.text}
            work = self._engine.run(HookEvent.USER_PROMPT_SUBMIT, fields)
            outcome = await run_abortable(work, abort, abandon=self._owner.adopt)
        if outcome.blocked:
            raise PromptBlockedError(f"a hook blocked the prompt: {outcome.reason}", details={"reason": outcome.reason})
        notes = [(str(HookEvent.SESSION_START), text) for text in self._greeting]
        notes += [(str(HookEvent.USER_PROMPT_SUBMIT), text) for text in outcome.context]
        self._greeting = ()
        if not notes:
            return message
        return UserMessage((TextPart(reminder(notes) + "\n\n"), *message.content), message.id, message.timestamp)

    def failed(self, error: ErrorInfo) -> None:
        """Tell that a turn has failed or was interrupted."""
        fields = {"reason": error.message, "error": str(error.code), "error_details": error.message}
        self._engine.fire(HookEvent.STOP_FAILURE, fields)

    async def end(self, reason: str) -> None:
        """Run the ``SessionEnd`` hooks, if the session ever started, and end everything that still runs."""
        async with asyncio.TaskGroup() as group:
            if self._began:
                group.create_task(self._engine.run(HookEvent.SESSION_END, {"reason": reason}, limit_s=END_S))
            group.create_task(self._engine.close(UNATTENDED_S))
