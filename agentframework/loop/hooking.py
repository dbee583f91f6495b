"""What hooks are told in the course of a turn, and what becomes of their answers.

Below is the hook engine, which knows nothing of calls and turns; beside it the gate, which hears hooks through this as
its `HookPort`. Whatever happens to a hook, the turn goes on.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.events import Outcome, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.hooks import HookEngine, HookEvent, HookOutcome
from agentframework.hooks.reminder import reminder
from agentframework.loop.turn import Turn
from agentframework.messages import AssistantMessage, ToolCall
from agentframework.permissions import Decision, HookVerdict, PermissionAnswer
from agentframework.permissions.prompts import PermissionQuestion
from agentframework.permissions.subject import SHELL_NAMES
from agentframework.providers.protocol import ModelRequest, Provider
from agentframework.tools import ToolResult

MAX_STOP_BLOCKS = 10
_SHORT_RESPONSE = 500


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that has run, with the arguments it ran with."""

    call: ToolCall
    arguments: Mapping[str, Any]
    result: ToolResult
    outcome: Outcome
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Feedback:
    """What hooks add to a call's result (nothing, or a marked block), and why the turn is to end (None: it goes on)."""

    text: str = ""
    stop: str | None = None


class TurnHooks:
    """The hooks of one conversation, as its loop and gate see them. ``abandon`` takes over what ignores an abort."""

    __slots__ = ("_abandon", "_engine", "_notes", "_sink")

    def __init__(self, engine: HookEngine, sink: EventSink, abandon: Callable[[asyncio.Task[Any]], object]) -> None:
        self._engine = engine
        self._sink = sink
        self._abandon = abandon
        self._notes: dict[str, tuple[str, ...]] = {}

    def has(self, event: HookEvent) -> bool:
        """Whether hooks of this event are configured."""
        return self._engine.has(event)

    # --- before a call ----------------------------------------------------------------------------------

    async def pre_tool_use(self, call: ToolCall) -> HookVerdict:
        """The verdict for this call. What hooks tell the model about it is kept until it has its result."""
        fields = _told(call.name, call.arguments, call.id)
        outcome = await self._engine.run(HookEvent.PRE_TOOL_USE, fields, _other_names(call.name))
        if outcome.context:
            self._notes[call.id] = outcome.context
        return HookVerdict(outcome.decision, outcome.reason, outcome.updated_input)

    async def permission_request(self, question: PermissionQuestion, abort: AbortSignal) -> PermissionAnswer | None:
        """The answer to a question that is about to be put to a person; None leaves it to them.

        Raises `AbortedError`.
        """
        if not self.has(HookEvent.PERMISSION_REQUEST):
            return None
        fields = _told(question.tool_name, question.tool_args, question.tool_use_id)
        fields |= {"permission_suggestions": list(question.suggestions), "permission_reason": question.reason}
        outcome = await self._run(HookEvent.PERMISSION_REQUEST, fields, abort, question.tool_name)
        if outcome.decision in (None, "ask"):
            return None
        if outcome.blocked:
            return PermissionAnswer(False, message=outcome.reason)
        return PermissionAnswer(True, updated_input=outcome.updated_input)

    def question_waits(self, question: PermissionQuestion, waits: Callable[[], bool]) -> None:
        """Tell that a person is waited for, unless ``waits`` says by then that they have answered."""
        message = f"Permission is needed to use {question.tool_name}"
        fields = {"message": message, "title": "Permission needed", "notification_type": "permission_prompt"}
        fields["tool_name"] = question.tool_name
        self._engine.fire(HookEvent.NOTIFICATION, fields, unless=lambda: not waits())

    def decided(self, call: ToolCall, decision: Decision) -> None:
        """Tell how the gate has decided. It cannot be changed any more."""
        if self.has(HookEvent.PERMISSION_DECISION):
            verdict = decision.kind if decision.kind in ("allow", "redirect") else "deny"
            fields = _told(call.name, decision.arguments, call.id)
            fields |= {"permission_decision": verdict, "reason": decision.reason, "stage": decision.stage}
            fields["decided_by"] = decision.decided_by
            self._engine.fire(HookEvent.PERMISSION_DECISION, fields, _other_names(call.name))

    # --- after a call -----------------------------------------------------------------------------------

    async def after_tool(self, done: FinishedCall, abort: AbortSignal) -> Feedback:
        """Tell about a call's result and wait for what hooks have to say about it. An abort ends the waiting."""
        before = [(str(HookEvent.PRE_TOOL_USE), text) for text in self._notes.pop(done.call.id, ())]
        failed = done.outcome != "success"
        event = HookEvent.POST_TOOL_USE_FAILURE if failed else HookEvent.POST_TOOL_USE
        if not self.has(event):
            return Feedback(reminder(before))
        name, result = done.call.name, done.result
        fields = _told(name, done.arguments, done.call.id)
        fields |= {"tool_response": _response(result), "tool_output": result.content, "duration_ms": done.duration_ms}
        if failed:
            fields |= {"error": result.content, "is_interrupt": done.outcome == "interrupted"}
        if done.outcome == "interrupted":
            self._engine.fire(event, fields, _other_names(name))
            return Feedback()
        try:
            outcome = await self._run(event, fields, abort, name)
        except AbortedError:
            return Feedback(reminder(before))
        said = [*outcome.context, *(outcome.reasons if outcome.blocked else ())]
        notes = [*before, *((str(event), text) for text in said)]
        return Feedback(reminder(notes), outcome.reason if outcome.stop else None)

    def forget(self, call: ToolCall) -> str:
        """What hooks had to say about a call that did not run."""
        return reminder((str(HookEvent.PRE_TOOL_USE), text) for text in self._notes.pop(call.id, ()))

    # --- around the model -------------------------------------------------------------------------------

    def before_model(self, provider: Provider, request: ModelRequest, turn: Turn) -> None:
        """Tell that the model is about to be asked."""
        if self.has(HookEvent.PRE_MODEL_CALL):
            self._engine.fire(HookEvent.PRE_MODEL_CALL, _round(provider, request, turn))

    def after_model(self, provider: Provider, request: ModelRequest, turn: Turn, reply: AssistantMessage) -> None:
        """Tell that it has answered."""
        if self.has(HookEvent.POST_MODEL_CALL):
            usage = None if reply.usage is None else asdict(reply.usage)
            fields = {**_round(provider, request, turn), "stop_reason": reply.stop_reason, "usage": usage}
            self._engine.fire(HookEvent.POST_MODEL_CALL, fields)

    async def stop(self, reply: AssistantMessage, turn: Turn) -> str | None:
        """An instruction to go on instead of ending the turn with ``reply``, or None. Raises `AbortedError`.

        Hooks may send the model on `MAX_STOP_BLOCKS` times in one turn; then it ends, with a warning.
        """
        if not self.has(HookEvent.STOP):
            return None
        if turn.stop_blocks >= MAX_STOP_BLOCKS:
            problem = f"Stop hooks have sent the model on {MAX_STOP_BLOCKS} times; the turn ends now"
            self._sink.emit(WarningEvent, problem, "hooks")
            return None
        fields = {
            "stop_hook_active": turn.stop_blocks > 0,
            "last_assistant_message": reply.text,
            "response": reply.text[:_SHORT_RESPONSE],
        }
        outcome = await self._run(HookEvent.STOP, fields, turn.abort)
        if not outcome.blocked or outcome.stop:
            return None
        turn.stop_blocks += 1
        return "\n".join(["Stop hook feedback:", *outcome.reasons])

    async def _run(
        self, event: HookEvent, fields: Mapping[str, Any], abort: AbortSignal, tool_name: str = ""
    ) -> HookOutcome:
        work = self._engine.run(event, fields, _other_names(tool_name))
        return await run_abortable(work, abort, abandon=self._abandon)


def _told(tool_name: str, arguments: Mapping[str, Any] | None, tool_use_id: str) -> dict[str, Any]:
    return {"tool_name": tool_name, "tool_input": dict(arguments or {}), "tool_use_id": tool_use_id}


def _other_names(tool_name: str) -> tuple[str, ...]:
    """The shell tool has two names: what watches one of them watches the other too."""
    return tuple(sorted(SHELL_NAMES - {tool_name})) if tool_name in SHELL_NAMES else ()


def _response(result: ToolResult) -> dict[str, Any]:
    """The result as an object: its text, and what the tool tells programs, if that is an object too."""
    structured: object = result.structured
    plain: dict[str, Any] = {}
    if isinstance(structured, Mapping):
        try:
            plain = cast("dict[str, Any]", json.loads(json.dumps(dict(cast("Mapping[Any, Any]", structured)))))
        except (TypeError, ValueError, RecursionError):
            plain = {}
    return {**plain, "content": result.content, "is_error": result.is_error}


def _round(provider: Provider, request: ModelRequest, turn: Turn) -> dict[str, Any]:
    return {"model": request.model, "provider": provider.name, "round": turn.iteration}
