"""Messages for the turn that runs: it takes them between a round of tools and the next model request.

Each is acknowledged by one ``steer_result``: ``applied`` when the turn took it, ``queued`` if it became a turn of its
own because the running one ended first, ``dropped`` if it went nowhere. The handle of one that was applied settles
with the turn that took it.
"""

from collections.abc import Awaitable, Callable, Sequence

from agentframework._base.abort import AbortSignal
from agentframework.errors import PromptBlockedError, TurnNotRunError
from agentframework.events import ErrorEvent, SteerResult, UserMessageEvent
from agentframework.events.sink import EventSink
from agentframework.loop import Turn
from agentframework.messages import UserMessage
from agentframework.session.queue import QUEUE_CAPACITY, Prompt, PromptQueue
from agentframework.session.turn_handle import TurnHandle


class Steering:
    """What waits to join the running turn, and what has joined it.

    ``admit`` makes of a prompt what the model gets, ``say`` puts that into the conversation.
    """

    __slots__ = ("_admit", "_applied", "_say", "_sink", "_waiting")

    def __init__(
        self,
        sink: EventSink,
        admit: Callable[[Prompt, AbortSignal], Awaitable[UserMessage]],
        say: Callable[[Prompt, UserMessage], None],
    ) -> None:
        self._sink = sink
        self._admit = admit
        self._say = say
        self._waiting: tuple[Prompt, ...] = ()
        self._applied: tuple[TurnHandle, ...] = ()

    def offer(self, prompt: Prompt) -> None:
        """Let ``prompt`` wait for the next boundary; dropped if too many wait."""
        if len(self._waiting) >= QUEUE_CAPACITY:
            self._drop(prompt, TurnNotRunError(prompt.handle.turn_id, "dropped"))
        else:
            self._waiting = (*self._waiting, prompt)

    async def join(self, turn: Turn) -> None:
        """Put what waits into ``turn``, in the order it came. Raises `AbortedError`."""
        while self._waiting:
            prompt = self._waiting[0]
            blocked: PromptBlockedError | None = None
            message = prompt.message
            try:
                message = await self._admit(prompt, turn.abort)
            except PromptBlockedError as error:
                blocked = error
            if not self._waiting or self._waiting[0] is not prompt:
                continue  # withdrawn while hooks thought about it
            self._waiting = self._waiting[1:]
            if blocked is not None:
                self._sink.emit(ErrorEvent, blocked.info)
                self._drop(prompt, blocked)
                continue
            self._applied = (*self._applied, prompt.handle)
            self._say(prompt, message)
            turn.request = f"{turn.request}\n{prompt.message.text}"
            self._sink.emit(UserMessageEvent, prompt.display)
            self.acknowledge(prompt, "applied")

    def clear(self) -> None:
        """Reject what waits as cancelled."""
        waiting, self._waiting = self._waiting, ()
        for prompt in waiting:
            self._drop(prompt, TurnNotRunError(prompt.handle.turn_id, "cancelled"))

    def take_applied(self) -> Sequence[TurnHandle]:
        """The handles that settle with the turn that ends."""
        applied, self._applied = self._applied, ()
        return applied

    def requeue(self, queue: PromptQueue) -> None:
        """The turn has ended: what still waits becomes turns of its own, ahead of the queue."""
        waiting, self._waiting = self._waiting, ()
        dropped = queue.put_first(waiting) if waiting else ()
        for prompt in waiting:
            self.acknowledge(prompt, "dropped" if prompt in dropped else "queued")

    def acknowledge(self, prompt: Prompt, status: str) -> None:
        """Tell what became of the message."""
        self._sink.emit(SteerResult, status, prompt.handle.turn_id)

    def _drop(self, prompt: Prompt, error: Exception) -> None:
        prompt.handle.reject(error)
        self.acknowledge(prompt, "dropped")
