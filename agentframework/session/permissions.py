"""A session's side of permissions: the mode, answers to open questions, and why a call would be let through or not."""

from collections.abc import Mapping
from typing import Any

from agentframework.assembly import Parts
from agentframework.messages import ToolCall
from agentframework.permissions import Explanation, GateCall, PermissionAnswer, PermissionMode, parse_mode


class SessionPermissions:
    """Part of `InteractiveSession`; works on its ``_parts``."""

    _parts: Parts

    @property
    def permission_mode(self) -> PermissionMode:
        """The mode in force."""
        return self._parts.gate.mode

    def set_permission_mode(self, mode: PermissionMode | str) -> None:
        """Change the mode; takes effect for the next call that is judged."""
        self._parts.gate.mode = parse_mode(mode)

    def explain(self, tool_name: str, tool_input: Mapping[str, Any]) -> Explanation:
        """What the gate would say about this call as it stands, and by which stage. Asks nobody, runs nothing.

        Hooks and the classifier of the mode ``auto`` are not asked either. ``steps`` of the answer are the stages
        tried, ``line`` is how a shell command is understood.
        """
        call = ToolCall("explain", tool_name, tool_input)
        return self._parts.gate.explain(GateCall(call, self._parts.catalog.get(tool_name)))

    def resolve_permission(self, id: str, answer: bool | str | PermissionAnswer) -> None:
        """Answer a ``permission_request``: True, False, ``"allow-session"``, ``"allow-project"`` or a
        `PermissionAnswer`. The first answer counts; an unknown or settled id is ignored."""
        self._parts.prompts.resolve_permission(id, answer)

    def resolve_ask(self, id: str, response: Any) -> None:
        """Answer an ``ask_request``: a list of answers, a dict by question, or None for "cancelled"."""
        self._parts.prompts.resolve_ask(id, response)
