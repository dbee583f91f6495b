"""A turn loop without a face: parts from the assembly, a conversation, and a list of the events."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework.assembly import AssemblyOptions, ModelOptions, PermissionOptions, ToolOptions, build
from agentframework.events import BaseEvent
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation, Turn, TurnOutcome, TurnSettings
from agentframework.messages import Message, ToolMessage, ToolResultPart, user_text
from agentframework.testing import ScriptedProvider


class Bench:
    """Runs turns on one conversation. ``options`` are those of the assembly but for the ones named here."""

    def __init__(
        self,
        cwd: Path,
        *steps: Any,
        tools: Sequence[Any] = (),
        mode: str = "bypassPermissions",
        governed: bool = True,
        prices: Any = None,
        **options: Any,
    ) -> None:
        self.provider = ScriptedProvider(*steps)
        self.events: list[BaseEvent] = []
        self.conversation = Conversation()
        self.abort = AbortSignal()
        self.sink = EventSink("s", self.events.append, lambda _name: False)
        self.parts = build(
            AssemblyOptions(
                session_id="s",
                cwd=cwd,
                model=ModelOptions(provider=self.provider, prices=prices or {}),
                tools=ToolOptions(default_tools=tools),
                permissions=PermissionOptions(mode=mode, governed=governed),  # type: ignore[arg-type]
                **options,
            ),
            self.sink,
            lambda _task: None,
        )

    async def run(self, prompt: str | Sequence[Message] = "go", **settings: Any) -> TurnOutcome:
        """One turn; ``settings`` are those of `TurnSettings`."""
        for message in [user_text(prompt)] if isinstance(prompt, str) else prompt:
            self.conversation.append(message)
        turn = Turn("t", "run-1", "d", self.abort, self.conversation.append, "go", TurnSettings(**settings))
        return await self.parts.loop(self.conversation, turn)

    def types(self, *names: str) -> list[str]:
        """The types of the events, or those of them that are named."""
        return [event.type for event in self.events if not names or event.type in names]

    @property
    def results(self) -> list[ToolResultPart]:
        """All results of the conversation."""
        return [part for m in self.conversation.messages if isinstance(m, ToolMessage) for part in m.content]
