"""One round of tool calls: decided by the gate, run, and answered exactly once each, in the order asked.

Independent read-only calls run side by side, anything else alone and in order. Whatever happens – abort,
denial, a crash, a tool that ignores its cancellation – every call gets one result.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from reprlib import Repr
from threading import get_ident
from time import perf_counter
from typing import Any

from agentframework._base.abort import AbortedError, run_abortable
from agentframework._base.bounded import head_and_tail
from agentframework.events import Outcome, ToolEnd, ToolProgress, ToolResults, ToolStart
from agentframework.events.sink import EventSink
from agentframework.loop.hooking import FinishedCall, TurnHooks
from agentframework.loop.turn import ActiveTool, Turn
from agentframework.messages import ToolCall, ToolMessage, ToolResultPart
from agentframework.permissions import Decision, GateCall, PermissionGate, PromptBroker, TurnScope
from agentframework.sandbox import Sandbox
from agentframework.tools import RiskClass, Tool, ToolCatalog, ToolContext, ToolResult
from agentframework.tools.executor import execute_tool
from agentframework.tools.profile import profile_of
from agentframework.tools.spill import SpillSandbox, SpillStore

INTERRUPTED_TEXT = "Error: the user interrupted this call; it may have taken effect in part."


@dataclass(frozen=True, slots=True)
class RoundResult:
    """Results in the order of the calls, and instructions that redirected calls leave for the model.

    ``hook_stop``: why hooks want the turn to end after this round; ``stop``: the batch approval wants it.
    """

    message: ToolMessage
    redirects: tuple[str, ...]
    interrupted: bool
    hook_stop: str | None = None
    stop: bool = False


@dataclass(slots=True)
class _Planned:
    """A call on its way through the round."""

    call: ToolCall
    tool: Tool | None
    decision: Decision
    result: ToolResultPart | None = None
    stop: str | None = None

    @property
    def runs(self) -> bool:
        return self.decision.kind == "allow" and self.tool is not None

    @property
    def parallel(self) -> bool:
        return (
            not self.runs or profile_of(self.tool).risk_class is RiskClass.INSPECT  # type: ignore[arg-type]
        )


@dataclass(frozen=True, slots=True)
class ToolRounds:
    """Runs the rounds of one turn loop."""

    catalog: ToolCatalog
    gate: PermissionGate
    sink: EventSink
    sandbox: Sandbox
    prompts: PromptBroker
    max_result_bytes: int
    abandon: Callable[[asyncio.Task[Any]], object]
    hooks: TurnHooks
    spills: SpillStore

    async def __call__(self, calls: Sequence[ToolCall], turn: Turn) -> RoundResult:
        """Decide and run ``calls``. Never raises but for a cancellation from outside; then what has run is recorded."""
        planned = await self._decide(calls, turn)
        try:
            for _, group in groupby(_numbered(planned), key=lambda item: item[0]):
                await self._run_group([item[1] for item in group], turn)
            results = _results(planned)
            self.sink.emit(ToolResults, results)
        except BaseException:
            turn.record(ToolMessage(_results(planned), state="interrupted"))
            raise
        redirects = tuple(plan.decision.detail for plan in planned if plan.decision.kind == "redirect")
        state = "interrupted" if turn.abort.aborted else "complete"
        stop = next((plan.stop for plan in planned if plan.stop is not None), None)
        ends = any(plan.decision.stop_after_execution for plan in planned)
        return RoundResult(ToolMessage(results, state=state), redirects, turn.abort.aborted, stop, ends)

    def refuse_all(self, calls: Sequence[ToolCall], reason: str, turn: Turn) -> None:
        """Answer every call with the same error, without asking the gate. Recorded before anybody is told."""
        results = tuple(ToolResultPart(call.id, call.name, f"Error: {reason}", is_error=True) for call in calls)
        turn.record(ToolMessage(results))
        for call, result in zip(calls, results, strict=True):
            self._end(call, call.arguments or {}, "denied", result.content, 0.0, None)
        self.sink.emit(ToolResults, results)

    async def _decide(self, calls: Sequence[ToolCall], turn: Turn) -> list[_Planned]:
        tools = [self.catalog.get(call.name) for call in calls]
        gate_calls = [GateCall(call, tool) for call, tool in zip(calls, tools, strict=True)]
        decisions = await self.gate.decide(gate_calls, self._scope(turn))
        for call, decision in zip(calls, decisions, strict=True):
            self.hooks.decided(call, decision)
        return [_Planned(*parts) for parts in zip(calls, tools, decisions, strict=True)]

    def _scope(self, turn: Turn) -> TurnScope:
        chosen = turn.settings
        return TurnScope(
            turn.driver_id, turn.abort, chosen.tool_approval, turn.request, chosen.policy,
            lambda item: self._context(item.call, item.tool, turn),
        )  # fmt: skip

    async def _run_group(self, group: list[_Planned], turn: Turn) -> None:
        if len(group) == 1:
            await self._run_one(group[0], turn)
            return
        async with asyncio.TaskGroup() as tasks:
            for plan in group:
                tasks.create_task(self._run_one(plan, turn))

    async def _run_one(self, plan: _Planned, turn: Turn) -> None:
        call = plan.call
        if not plan.runs:
            outcome, text = _refusal(plan.decision)
            self._end(call, plan.decision.arguments, outcome, text, 0.0, None)
            plan.result = _with_notes(ToolResultPart(call.id, call.name, text, is_error=True), self.hooks.forget(call))
            return
        if turn.abort.aborted:
            self.hooks.forget(call)
            plan.result = _interrupted_part(call)
            self._end(call, plan.decision.arguments, "interrupted", INTERRUPTED_TEXT, 0.0, None)
            return
        assert plan.tool is not None
        arguments = dict(plan.decision.arguments)
        shown = first_argument(arguments)
        self.sink.emit(ToolStart, call.id, call.name, arguments, shown)
        turn.active[call.id] = ActiveTool(call.id, call.name, shown)
        began = perf_counter()
        try:
            work = execute_tool(plan.tool, arguments, self._context(call, plan.tool, turn), self.spills.keep)
            result = await run_abortable(work, turn.abort, abandon=self.abandon)
            outcome: Outcome = "error" if result.is_error else "success"
        except AbortedError:
            result, outcome = ToolResult(INTERRUPTED_TEXT, is_error=True), "interrupted"
        except BaseException:
            self._end(call, arguments, "interrupted", INTERRUPTED_TEXT, perf_counter() - began, None)
            raise
        finally:
            turn.active.pop(call.id, None)
        seconds = perf_counter() - began
        plan.result = ToolResultPart(call.id, call.name, result.content, result.is_error, result.images)
        self._end(call, arguments, outcome, result.content, seconds, result)
        done = FinishedCall(call, arguments, result, outcome, round(seconds * 1000, 3))
        feedback = await self.hooks.after_tool(done, turn.abort)
        plan.result, plan.stop = _with_notes(plan.result, feedback.text), feedback.stop

    def _end(
        self,
        call: ToolCall,
        arguments: Any,
        outcome: Outcome,
        text: str,
        seconds: float,
        result: ToolResult | None,
    ) -> None:
        diff = result.diff if result is not None else None
        shown = first_argument(arguments)
        self.sink.emit(ToolEnd, call.id, call.name, arguments, shown, outcome, text, round(seconds * 1000, 3), diff)

    def _context(self, call: ToolCall, tool: Tool | None, turn: Turn) -> ToolContext:
        sink = self.sink
        loop, home = asyncio.get_running_loop(), get_ident()

        def report(*fields: Any) -> None:
            if call.id in turn.active:  # what comes later belongs to no call any more
                sink.emit(ToolProgress, call.id, call.name, *fields)

        def progress(text: str, progress: float | None = None, total: float | None = None) -> None:
            if get_ident() == home:
                report(text, progress, total)
            else:
                loop.call_soon_threadsafe(report, text, progress, total)

        root = self.sandbox.roots[0]
        sandbox = self.sandbox if tool is None else self.gate.sandbox_for(tool)
        if tool is not None and profile_of(tool).risk_class is RiskClass.INSPECT:
            sandbox = SpillSandbox(sandbox, self.spills)
        return ToolContext(
            session_id=sink.session_id,
            run_id=turn.run_id,
            turn_id=turn.turn_id,
            iteration=turn.iteration,
            tool_use_id=call.id,
            cwd=root,
            workspace_root=root,
            max_result_bytes=self.max_result_bytes,
            sandbox=sandbox,
            abort=turn.abort,
            progress=progress,
            ask=lambda questions: self.prompts.ask(questions, turn.driver_id, turn.abort),
        )


def _numbered(planned: list[_Planned]) -> list[tuple[int, _Planned]]:
    """Group numbers: neighbours that may run side by side share one."""
    numbered: list[tuple[int, _Planned]] = []
    group, previous_parallel = 0, False
    for plan in planned:
        if not (plan.parallel and previous_parallel):
            group += 1
        previous_parallel = plan.parallel
        numbered.append((group, plan))
    return numbered


def _refusal(decision: Decision) -> tuple[Outcome, str]:
    """Outcome and text for the model of a call that does not run."""
    code = f" [{decision.code}]" if decision.code else ""
    match decision.kind:
        case "invalid":
            return "error", f"Error: {decision.message}{code}"
        case "blocked":
            return "blocked", f"Error: a hook blocked this call: {decision.detail or decision.reason}{code}"
        case "redirect":
            return "denied", "This call was not run. Another instruction was given instead."
        case _:
            return "denied", f"Error: permission denied: {decision.message}{code}"


def _with_notes(part: ToolResultPart, notes: str) -> ToolResultPart:
    return replace(part, content=f"{part.content}\n\n{notes}") if notes else part


def _results(planned: list[_Planned]) -> tuple[ToolResultPart, ...]:
    return tuple(plan.result or _interrupted_part(plan.call) for plan in planned)


def _interrupted_part(call: ToolCall) -> ToolResultPart:
    return ToolResultPart(call.id, call.name, INTERRUPTED_TEXT, is_error=True)


_brief = Repr()
_brief.maxstring = _brief.maxother = 100


def first_argument(arguments: Any) -> str:
    """The first argument as one line of at most 80 characters, for display."""
    for value in (arguments or {}).values():
        text = value if isinstance(value, str) else _brief.repr(value)
        return head_and_tail(" ".join(text.split()))
    return ""
