"""The input side of a headless conversation: lines become prompts, answers and aborts.

The session keeps at most one waiting prompt of a driver, since a person who types again means the newer one. A
program that sends three prompts means all three: they wait here, and the runner hands them over one by one.
Above: the headless runner. Below: the session and the reading of a line.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterable, Awaitable, Callable

from agentframework.errors import InvalidInputError, describe_error
from agentframework.events import AskRequest, PermissionRequest, PromptResolved
from agentframework.session import InteractiveSession
from agentframework.transports.headless_input import (
    AbortInput,
    AskInput,
    InputMessage,
    PermissionInput,
    UserInput,
    parse_input,
)

MAX_WAITING_BYTES = 64 * 1024 * 1024

Complain = Callable[[str], Awaitable[None]]


class InputFeed:
    """Reads lines, answers the session's questions, and keeps the prompts that wait.

    With ``answers`` this counts as somebody who can answer permission requests and questions, as long as there may be
    more input; after that what is still open is denied. ``complain`` gets what is wrong with a line.
    """

    def __init__(self, session: InteractiveSession, complain: Complain, *, answers: bool) -> None:
        self._session = session
        self._complain = complain
        self._waiting: deque[UserInput] = deque()
        self._changed = asyncio.Event()
        self._ended = False
        self._open: dict[str, type[PermissionInput | AskInput]] = {}
        self._listens = answers
        if answers:
            session.on(PermissionRequest, self._permission_asked)
            session.on(AskRequest, self._asked)
            session.on(PromptResolved, self._resolved)

    async def read(self, lines: AsyncIterable[bytes | str]) -> None:
        """Act on every line until there are no more. A bad one is complained about and left out."""
        number = 0
        try:
            async for line in lines:
                number += 1
                try:
                    message = parse_input(line)
                    if message is not None:
                        await self._take(message)
                except InvalidInputError as error:
                    await self._complain(f"input line {number} was left out: {error.message}")
        except Exception as error:
            await self._complain(f"the input failed after line {number}: {describe_error(error).message}")
        finally:
            self._end()

    async def next_prompt(self) -> UserInput | None:
        """The next prompt, waiting for it; None once the input is over."""
        while not self._waiting:
            if self._ended:
                return None
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()

    def close(self) -> None:
        """Forget what waits and take no more."""
        self._waiting.clear()
        self._end()

    def _end(self) -> None:
        self._ended = True
        self._changed.set()
        if self._listens:
            self._listens = False
            # Whatever is still asked is denied by this: nobody is left to answer.
            self._session.off(PermissionRequest, self._permission_asked)
            self._session.off(AskRequest, self._asked)
            self._session.off(PromptResolved, self._resolved)

    async def _take(self, message: InputMessage) -> None:
        match message:
            case UserInput():
                self._add(message)
            case PermissionInput(id, answer):
                self._check_open(message)
                self._session.resolve_permission(id, answer)
            case AskInput(id, response):
                self._check_open(message)
                self._session.resolve_ask(id, response)
            case AbortInput():
                await self._abort()

    def _add(self, prompt: UserInput) -> None:
        if self._ended:
            return
        if self._waiting and sum(waiting.size for waiting in self._waiting) + prompt.size > MAX_WAITING_BYTES:
            raise InvalidInputError(f"the prompts that wait would be more than {MAX_WAITING_BYTES} bytes")
        self._waiting.append(prompt)
        self._changed.set()

    def _check_open(self, message: PermissionInput | AskInput) -> None:
        if self._open.get(message.id) is not type(message):
            kind = "permission request" if isinstance(message, PermissionInput) else "question"
            raise InvalidInputError(f"no {kind} {message.id!r:.80} is waiting for an answer")

    async def _abort(self) -> None:
        forgotten = len(self._waiting)
        self._waiting.clear()
        self._session.abort()
        if forgotten:
            await self._complain(f"the abort cancelled {forgotten} waiting prompt{'s' if forgotten > 1 else ''}")

    def _permission_asked(self, event: PermissionRequest) -> None:
        self._open[event.id] = PermissionInput

    def _asked(self, event: AskRequest) -> None:
        self._open[event.id] = AskInput

    def _resolved(self, event: PromptResolved) -> None:
        self._open.pop(event.id, None)
