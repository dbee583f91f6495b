"""Runs the hooks of an event, all at once, and says what they amount to.

Above: whoever has something to tell hooks (the gate, the loop, a session). A hook that fails harms nobody: it is
reported as a ``hook_error``, and if it is to fail closed where something waits for its verdict, it has said no.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from agentframework._base.bounded import printable
from agentframework._base.owner import TaskOwner
from agentframework.events import HookError, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.hooks.call import call_function
from agentframework.hooks.command import run_command
from agentframework.hooks.config import HookConfig
from agentframework.hooks.http import post
from agentframework.hooks.merge import NOTHING, HookOutcome, merge
from agentframework.hooks.model import (
    TRAITS,
    BrokenAction,
    CallAction,
    CommandAction,
    Hook,
    HookAnswer,
    HookEvent,
    HookFailedError,
    HookRequest,
    HttpAction,
    PromptAction,
)
from agentframework.hooks.output import bounded_reason
from agentframework.hooks.prompt import ModelPort, ask_model
from agentframework.sandbox.environment import inherited

# At once. What nobody waits for must not hold up what a turn waits for.
MAX_PROCESSES = 16
MAX_UNATTENDED_PROCESSES = 4
MAX_UNATTENDED = 64
CLOSE_GRACE_S = 2.0
_UNTELLABLE = "the input for hooks is no JSON"


@dataclass(frozen=True, slots=True)
class HookSurroundings:
    """Where hooks run. ``environment`` (usually ``os.environ``) is what programs may inherit some names of, and where
    the variables that an HTTP hook lists are looked up; ``variables`` all of them get, as they stand at the moment.
    ``model`` answers prompt hooks; ``project_dir`` is what programs are told is the project (None: ``cwd``)."""

    session_id: str
    cwd: str
    permission_mode: Callable[[], str]
    environment: Mapping[str, str]
    model: ModelPort | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    project_dir: str | None = None


@dataclass(frozen=True, slots=True)
class _Round:
    """The hooks of one event running: how many programs at once, and how long at most."""

    event: HookEvent
    processes: asyncio.Semaphore
    limit_s: float | None = None


class HookEngine:
    """The hooks of one session."""

    __slots__ = (
        "_around",
        "_attended",
        "_background",
        "_closed",
        "_config",
        "_context",
        "_owner",
        "_sink",
        "_unattended",
    )

    def __init__(self, config: HookConfig, around: HookSurroundings, sink: EventSink) -> None:
        self._config = config
        self._around = around
        self._sink = sink
        self._attended = asyncio.Semaphore(MAX_PROCESSES)
        self._background = asyncio.Semaphore(MAX_UNATTENDED_PROCESSES)
        self._owner = TaskOwner(on_fault=self._crashed)
        self._unattended: dict[asyncio.Task[Any], None] = {}  # a third of an empty set
        # What nobody waits for belongs to whoever made the session, not to the turn that happened to start it.
        self._context = copy_context()
        self._closed = False

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the configuration."""
        return self._config.problems

    def configure(self, config: HookConfig) -> None:
        """Use other hooks from now on; those that run are left to end."""
        self._config = config

    def has(self, event: HookEvent) -> bool:
        """Whether anything would run, whatever the matchers say."""
        return bool(self._config.hooks.get(event))

    async def run(
        self,
        event: HookEvent,
        fields: Mapping[str, Any],
        also: Sequence[str] = (),
        *,
        limit_s: float | None = None,
    ) -> HookOutcome:
        """Run the hooks that match and wait for all of them; cancelling this ends them.

        ``fields`` are the event's own; ``also`` are other names of what matchers are held against, under which a hook
        that matches only these hears of it. ``limit_s`` shortens the hooks' time limits. Raises nothing: where hooks
        cannot be told, because the fields are no JSON, what waits for their verdict is blocked.
        """
        if not self.has(event):
            return NOTHING
        chosen = self._chosen(event, fields, also)
        if chosen is None:
            return merge([HookAnswer("deny", _UNTELLABLE)]) if TRAITS[event].gates else NOTHING
        return await self._together(_Round(event, self._attended, limit_s), chosen) if chosen else NOTHING

    def fire(
        self,
        event: HookEvent,
        fields: Mapping[str, Any],
        also: Sequence[str] = (),
        *,
        unless: Callable[[], bool] = bool,
    ) -> None:
        """Run the hooks that match in the background, where nothing they say has an effect. `close` ends them.

        ``unless`` is asked when it is their turn: what they were to be told may be over by then.
        """
        if self._closed or not self.has(event):
            return
        chosen = self._chosen(event, fields, also)
        if not chosen:
            return
        if len(self._unattended) >= MAX_UNATTENDED:
            names = ", ".join(hook.name for hook, _ in chosen)
            problem = f"not run: {MAX_UNATTENDED} hooks run in the background already"
            self._sink.emit(HookError, names, str(event), problem)
            return

        async def in_turn() -> None:
            if not unless():
                await self._together(_Round(event, self._background), chosen)

        task = self._owner.start(in_turn(), f"{event} hooks", context=self._context.copy())
        self._unattended[task] = None
        task.add_done_callback(self._unattended.pop)

    async def close(self, grace_s: float = CLOSE_GRACE_S) -> None:
        """End what runs in the background, after ``grace_s`` seconds for what is nearly done."""
        self._closed = True
        if self._unattended:
            await asyncio.wait(set(self._unattended), timeout=grace_s)
        await self._owner.close()

    def _chosen(
        self, event: HookEvent, fields: Mapping[str, Any], also: Sequence[str]
    ) -> list[tuple[Hook, bytes]] | None:
        """The hooks that match, each with its input; None (and reported) if that cannot be written down."""
        try:
            return self._matching(event, fields, also)
        except (TypeError, ValueError, RecursionError) as error:
            names = ", ".join(hook.name for hook in self._config.hooks[event])
            self._sink.emit(HookError, names, str(event), f"{_UNTELLABLE}: {type(error).__name__}: {error}")
            return None

    def _matching(self, event: HookEvent, fields: Mapping[str, Any], also: Sequence[str]) -> list[tuple[Hook, bytes]]:
        target = TRAITS[event].target
        names = ("",) if target is None else (str(fields.get(target, "")), *also)
        bodies: dict[str, bytes] = {}
        chosen: list[tuple[Hook, bytes]] = []
        for hook in self._config.hooks[event]:
            name = next((name for name in names if hook.matches(name)), None)
            if name is None:
                continue
            if name not in bodies:
                told = fields if target is None or name == names[0] else {**fields, target: name}
                bodies[name] = self._body(event, told)
            chosen.append((hook, bodies[name]))
        return chosen

    def _body(self, event: HookEvent, fields: Mapping[str, Any]) -> bytes:
        around = self._around
        common = {
            "session_id": around.session_id,
            "transcript_path": None,
            "cwd": around.cwd,
            "permission_mode": around.permission_mode(),
            "hook_event_name": str(event),
        }
        return printable(json.dumps({**common, **fields}, ensure_ascii=False, allow_nan=False)).encode()

    async def _together(self, one_round: _Round, chosen: Sequence[tuple[Hook, bytes]]) -> HookOutcome:
        if len(chosen) == 1:
            answers = [await self._one(one_round, *chosen[0])]
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(one_round, hook, body)) for hook, body in chosen]
            answers = [task.result() for task in tasks]
        outcome = merge(answers)
        for place in outcome.outdone:
            self._report(chosen[place][0], one_round.event, "its updatedInput was not used: another hook's was")
        return outcome

    async def _one(self, one_round: _Round, hook: Hook, body: bytes) -> HookAnswer:
        """The answer of one hook; whatever goes wrong with it ends here."""
        event = one_round.event
        try:
            answer = await self._perform(one_round, hook, body)
        except HookFailedError as error:
            return self._failed(event, hook, str(error))
        except Exception as error:
            return self._failed(event, hook, f"{type(error).__name__}: {error}")
        if answer.message:
            self._sink.emit(WarningEvent, answer.message, f"hook {hook.name}")
        if answer.decision == "deny" and not TRAITS[event].heeds_block:
            self._report(hook, event, f"nothing can be blocked here: {answer.reason}")
        return answer

    def _failed(self, event: HookEvent, hook: Hook, problem: str) -> HookAnswer:
        problem = bounded_reason(problem)
        self._report(hook, event, problem)
        if hook.fail_closed and TRAITS[event].gates:
            # Without its name: that may be a command line, and this goes to the model.
            return HookAnswer("deny", f"hook failed: {problem}")
        return HookAnswer()

    async def _perform(self, one_round: _Round, hook: Hook, body: bytes) -> HookAnswer:
        timeout_s = hook.timeout_s if one_round.limit_s is None else min(hook.timeout_s, one_round.limit_s)

        def request(environment: Mapping[str, str]) -> HookRequest:
            return HookRequest(one_round.event, body, self._around.cwd, environment, timeout_s)

        match hook.action:
            case CommandAction() as action:
                async with one_round.processes:
                    return await run_command(action, request(self._for_program(hook)))
            case HttpAction() as action:
                named = {key: value for key, value in self._around.environment.items() if key in action.variables}
                return await _within(timeout_s, post(action, request({**named, **hook.environment})))
            case PromptAction() as action:
                return await _within(timeout_s, ask_model(action, request({}), self._around.model))
            case CallAction() as action:
                return await _within(timeout_s, call_function(action, request({}), self._owner.adopt))
            case BrokenAction(problem):
                raise HookFailedError(problem)

    def _for_program(self, hook: Hook) -> dict[str, str]:
        around = self._around
        own = {"CLAUDE_PROJECT_DIR": around.project_dir or around.cwd, "CLAUDE_SESSION_ID": around.session_id}
        return {**inherited(around.environment), **around.variables, **hook.environment, **own}

    def _report(self, hook: Hook, event: HookEvent, problem: str) -> None:
        self._sink.emit(HookError, hook.name, str(event), problem)

    def _crashed(self, name: str, error: BaseException) -> None:
        self._sink.emit(HookError, name, name.partition(" ")[0], f"{type(error).__name__}: {error}")


async def _within(timeout_s: float, work: Any) -> HookAnswer:
    """``work`` within its time. Raises `HookFailedError` when that is over."""
    deadline = asyncio.timeout(timeout_s)
    try:
        async with deadline:
            return await work
    except TimeoutError:
        if deadline.expired():
            raise HookFailedError(f"it timed out after {timeout_s:g} s") from None
        raise
