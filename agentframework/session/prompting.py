"""A session's side of prompts: submitting them, stopping them."""

from collections.abc import Sequence
from typing import Any

from agentframework.assembly import check_effort
from agentframework.errors import InvalidInputError, SessionClosedError
from agentframework.loop.turn import AS_THE_CONVERSATION, TurnSettings
from agentframework.messages import TextPart, UserMessage, UserPart, as_user_part
from agentframework.session.queue import Prompt
from agentframework.session.runner import TurnRunner
from agentframework.session.turn_handle import TurnHandle

Content = Sequence[UserPart | dict[str, Any]]

DEFAULT_DRIVER = "owner"


class SessionPrompts:
    """Part of `InteractiveSession`; works on its ``_runner``."""

    _runner: TurnRunner

    async def submit(
        self,
        text: str,
        *,
        display_input: str | None = None,
        raw_input: str | None = None,
        driver_id: str = DEFAULT_DRIVER,
        content: Content | None = None,
        steer: bool = False,
        effort: str | None = None,
    ) -> TurnHandle:
        """Submit a prompt. On an idle session returns when the turn has ended, else queues and returns at once.

        ``content`` adds images and documents; ``display_input`` is what the history shows. A failing turn
        raises from ``handle.completed``, not from here. Cancelling the caller leaves the turn running.

        ``steer`` is for a turn that runs: the prompt joins it after the next round of tools, or is queued if there is
        none; a ``steer_result`` event says which. ``effort`` holds for a turn of its own only.

        Raises `InvalidInputError` for a blank prompt, `SessionClosedError` after `shutdown`.
        """
        idle = self._runner.idle
        handle = self.submit_nowait(
            text,
            display_input=display_input,
            raw_input=raw_input,
            driver_id=driver_id,
            content=content,
            steer=steer,
            effort=effort,
        )
        if idle:
            await handle.wait_settled()
        return handle

    def submit_nowait(
        self,
        text: str,
        *,
        display_input: str | None = None,
        raw_input: str | None = None,
        driver_id: str = DEFAULT_DRIVER,
        content: Content | None = None,
        steer: bool = False,
        effort: str | None = None,
    ) -> TurnHandle:
        """Like `submit`, returning the handle at once in every case. Needs a running event loop."""
        self._check_open()
        check_effort(effort)
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInputError(f"the prompt has to be text, not {type(text).__name__}", details={"field": "text"})
        parts = [as_user_part(part) for part in content or ()]
        if text.strip():
            parts.insert(0, TextPart(text))
        elif not parts:
            raise InvalidInputError("the prompt is blank", details={"field": "text"})
        prompt = Prompt(
            handle=self._runner.new_handle(),
            message=UserMessage(tuple(parts)),
            display=text if display_input is None else display_input,
            raw=text if raw_input is None else raw_input,
            driver_id=driver_id,
            settings=AS_THE_CONVERSATION if effort is None else TurnSettings(effort=effort),
            steer=steer,
        )
        self._runner.submit(prompt)
        return prompt.handle

    def abort(self) -> None:
        """Stop the running turn and clear the queue. What was said so far is kept as interrupted."""
        self._runner.abort("aborted by the user")

    def cancel_queue(self) -> None:
        """Clear the queue; the running turn goes on."""
        self._runner.cancel_queue()

    def _check_open(self) -> None:
        if self._runner.closing:
            raise SessionClosedError("the session is shut down; make a new one")
