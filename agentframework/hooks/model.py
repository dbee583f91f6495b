"""What hooks are: the events they hear, what can be done when one fires, and what one may say.

Lowest of this package. `agentframework.hooks.config` makes `Hook` objects from settings,
`agentframework.hooks.engine` runs them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

# Texts for the model, in characters; longer ones are cut visibly.
MAX_CONTEXT_CHARACTERS = 10_000
MAX_REASON_CHARACTERS = 4_000


class HookEvent(StrEnum):
    """When hooks run. Names as in settings files."""

    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    POST_TOOL_USE_FAILURE = "PostToolUseFailure"
    PERMISSION_REQUEST = "PermissionRequest"
    PERMISSION_DECISION = "PermissionDecision"
    NOTIFICATION = "Notification"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    STOP = "Stop"
    STOP_FAILURE = "StopFailure"
    PRE_COMPACT = "PreCompact"
    POST_COMPACT = "PostCompact"
    SUBAGENT_START = "SubagentStart"
    SUBAGENT_STOP = "SubagentStop"
    WORKTREE_CREATE = "WorktreeCreate"
    WORKTREE_REMOVE = "WorktreeRemove"
    PRE_MODEL_CALL = "PreModelCall"
    POST_MODEL_CALL = "PostModelCall"


@dataclass(frozen=True, slots=True)
class EventTraits:
    """What makes an event's hooks different from those of others.

    ``target`` is the field that matchers are held against (None: matchers mean nothing here). ``heeds_block``: a
    block has an effect. ``gates``: something waits for the verdict and must not go on if a hook that fails closed has
    failed. ``answers``: a hook may also allow, ask, or change the input. ``takes_text``: plain output is context.
    """

    target: str | None = None
    heeds_block: bool = False
    gates: bool = False
    answers: bool = False
    takes_text: bool = False


_TOOL = EventTraits("tool_name")
_AFTER_TOOL = EventTraits("tool_name", heeds_block=True)
_BEFORE_TOOL = EventTraits("tool_name", heeds_block=True, gates=True, answers=True)
# Where no hook answers, a person does: nothing is let through when one fails.
_QUESTION = EventTraits("tool_name", heeds_block=True, answers=True)

TRAITS: Mapping[HookEvent, EventTraits] = {
    HookEvent.PRE_TOOL_USE: _BEFORE_TOOL,
    HookEvent.POST_TOOL_USE: _AFTER_TOOL,
    HookEvent.POST_TOOL_USE_FAILURE: _AFTER_TOOL,
    HookEvent.PERMISSION_REQUEST: _QUESTION,
    HookEvent.PERMISSION_DECISION: _TOOL,
    HookEvent.NOTIFICATION: EventTraits("notification_type"),
    HookEvent.USER_PROMPT_SUBMIT: EventTraits(heeds_block=True, gates=True, takes_text=True),
    HookEvent.SESSION_START: EventTraits("source", takes_text=True),
    HookEvent.SESSION_END: EventTraits("reason"),
    HookEvent.STOP: EventTraits(heeds_block=True),
    HookEvent.STOP_FAILURE: EventTraits("error"),
    HookEvent.PRE_COMPACT: EventTraits("trigger", heeds_block=True, takes_text=True),
    HookEvent.POST_COMPACT: EventTraits("trigger"),
    HookEvent.SUBAGENT_START: EventTraits("agent_type"),
    HookEvent.SUBAGENT_STOP: EventTraits("agent_type", heeds_block=True),
    HookEvent.WORKTREE_CREATE: _TOOL,
    HookEvent.WORKTREE_REMOVE: _TOOL,
    HookEvent.PRE_MODEL_CALL: EventTraits(),
    HookEvent.POST_MODEL_CALL: EventTraits(),
}


class HookFailedError(Exception):
    """A hook gave no usable answer; ``str()`` says why."""


HookFunction = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class CommandAction:
    """Run a command line in a shell."""

    command: str


@dataclass(frozen=True, slots=True)
class HttpAction:
    """Post the input to ``url``. Headers may name variables, of the group's ``env`` or listed in ``variables``."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PromptAction:
    """Ask a model, the session's own if ``model`` is None."""

    prompt: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CallAction:
    """Call a function of the host, sync (in a thread) or async."""

    function: HookFunction


@dataclass(frozen=True, slots=True)
class BrokenAction:
    """Fail: what stands for a guard whose definition cannot be used."""

    problem: str


HookAction = CommandAction | HttpAction | PromptAction | CallAction | BrokenAction


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of one event. ``name`` is for reports; ``matcher`` None means always.

    ``environment`` is what its group adds to that of programs. ``fail_closed``: where something waits for its
    verdict, no usable answer counts as a no.
    """

    name: str
    action: HookAction
    timeout_s: float
    fail_closed: bool = False
    matcher: re.Pattern[str] | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def matches(self, name: str) -> bool:
        """Whether the matcher fits the whole of ``name``."""
        return self.matcher is None or self.matcher.fullmatch(name) is not None


Verdict = Literal["deny", "ask", "allow"]


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What one hook said. ``deny`` blocks whatever the event is about; ``stop`` ends the turn after it.

    ``context`` is for the model, ``message`` for the user.
    """

    decision: Verdict | None = None
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None
    context: str = ""
    message: str = ""
    stop: bool = False


@dataclass(frozen=True, slots=True)
class HookRequest:
    """One run of one hook: the event, its input as JSON, and where and how long to run."""

    event: HookEvent
    body: bytes
    cwd: str
    environment: Mapping[str, str]
    timeout_s: float
