"""What a session says about itself: where it works, who answers, what is going on, what was said."""

from collections.abc import Sequence

from agentframework.assembly import Parts
from agentframework.context.window import ContextPart, context_parts
from agentframework.loop import Conversation
from agentframework.loop.turn import ActiveTool
from agentframework.mcp import McpClientManager
from agentframework.messages import ContextState, HistoryEntry, Message, SystemNote
from agentframework.session.runner import TurnRunner
from agentframework.session.timeline import Timeline


class SessionReading:
    """Part of `InteractiveSession`; reads its parts and changes nothing."""

    _parts: Parts
    _runner: TurnRunner
    _timeline: Timeline
    _conversation: Conversation

    @property
    def cwd(self) -> str:
        """The working directory, canonical."""
        return self._parts.sandbox.roots[0]

    @property
    def model(self) -> str:
        """The model that answers."""
        return self._parts.settings.model

    @property
    def mcp(self) -> McpClientManager:
        """The MCP servers of this session: how they stand, and servers that come and go while it runs."""
        return self._parts.servers.manager

    def is_executing(self) -> bool:
        """True while a turn, or a compaction, holds the session."""
        return not self._runner.idle

    def get_pending_prompt(self) -> str | None:
        """Text of the prompt that runs next."""
        head = self._runner.queue.head
        return head.display if head else None

    def get_pending_count(self) -> int:
        """How many prompts wait."""
        return len(self._runner.queue)

    def get_active_driver_id(self) -> str | None:
        """Whose turn is running."""
        return self._runner.turn.driver_id if self._runner.turn else None

    def get_streaming_text(self) -> str:
        """What the model has said in the reply that is arriving."""
        return "".join(self._runner.turn.live_text) if self._runner.turn else ""

    def get_active_tools(self) -> list[ActiveTool]:
        """Calls that are running now."""
        return list(self._runner.turn.active.values()) if self._runner.turn else []

    def get_full_history(self) -> Sequence[HistoryEntry]:
        """The timeline of chat messages and events; live, do not change it."""
        return self._timeline.entries

    def get_messages(self) -> list[Message | SystemNote]:
        """The chat messages of the timeline."""
        return self._timeline.messages()

    def get_context_state(self) -> ContextState:
        """How full the model's window is."""
        return self._conversation.context_state(self._parts.settings.context_window)

    def get_context_parts(self) -> tuple[ContextPart, ...]:
        """What fills it: ``system``, ``tools``, ``mcp``, ``files``, ``messages`` and what is ``free``, in tokens."""
        parts = self._parts
        return context_parts(
            self.get_context_state(), parts.settings.system, parts.catalog.specs, self._conversation.messages
        )
