"""`Agent`: one set of options, tools and servers, for any number of sessions that run side by side."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework._base.ids import new_id, short_id
from agentframework.agent.course import Course, RunInput
from agentframework.agent.fitting import Fitting
from agentframework.agent.life import AgentLife
from agentframework.agent.observe import Delivery, Watcher
from agentframework.agent.record import SessionRecord
from agentframework.agent.run import AgentRun
from agentframework.agent.tools import AgentTools
from agentframework.assembly import (
    AssemblyOptions,
    HookOptions,
    ModelOptions,
    Parts,
    PermissionOptions,
    ServerOptions,
    ToolOptions,
    build,
)
from agentframework.context import ContextManager, ContextOptions
from agentframework.errors import ConfigurationError
from agentframework.events.sink import EventSink
from agentframework.loop import Limits, TurnSettings
from agentframework.mcp import McpClientManager, McpOptions, as_context_selection, load_mcp_context
from agentframework.messages import Message, ModelPrice, RunResult, UserMessage
from agentframework.permissions import (
    BatchApproval,
    PermissionMode,
    PermissionRules,
    PolicyAtGate,
    ToolPolicy,
    parse_mode,
)
from agentframework.providers.protocol import Provider
from agentframework.stores import InMemorySessionStore, SessionStore
from agentframework.tools import Tool, ToolExecutor

DEFAULT_INSTRUCTIONS = (
    "You are a helpful assistant inside a program. Use the tools you are given where they help, and answer in a few "
    "plain words. If something is refused, do not try to get it another way: say what you would need."
)


class Agent(AgentLife):
    """Answers requests with a model that may use tools.

    Nothing starts in the constructor; `initialize` or the first run connects the servers. An agent may be used for many
    sessions at once and keeps its connections until `close`. Without ``permission_mode`` the offered tools run unless
    ``tool_policy`` stops them; with it the whole gate applies, ``permissions`` among it. ``mcp_servers`` maps ids to
    servers, or is a list of servers and URLs. ``cwd`` None is the current directory.
    Raises `ConfigurationError` for options that cannot work.
    """

    def __init__(  # noqa: PLR0913 - options are keyword arguments, so that they can be read and completed
        self,
        *,
        provider: Provider,
        model: str | None = None,
        name: str = "assistant",
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        tool_executor: ToolExecutor | None = None,
        mcp_servers: Mapping[str, Any] | Sequence[Any] | None = None,
        mcp: McpOptions | None = None,
        tool_policy: ToolPolicy | None = None,
        limits: Limits | None = None,
        context: ContextOptions | None = None,
        session_store: SessionStore | None = None,
        observer: Any = None,
        hooks: Mapping[str, Any] | None = None,
        permission_mode: PermissionMode | str | None = None,
        permissions: PermissionRules | None = None,
        cwd: str | Path | None = None,
        no_think: bool = False,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        prices: Mapping[str, ModelPrice] | None = None,
        raw_model_events: bool = False,
        mcp_context: Mapping[str, Any] | None = None,
    ) -> None:
        self._options = AssemblyOptions(
            session_id="",
            cwd=os.getcwd() if cwd is None else cwd,
            model=ModelOptions(
                provider=provider, model=model, temperature=temperature, max_output_tokens=max_output_tokens,
                raw_events=raw_model_events, prices=prices or {}, no_think=no_think,
            ),
            tools=ToolOptions(default_tools=tuple(tools)),
            permissions=PermissionOptions(
                mode=parse_mode(permission_mode or PermissionMode.DEFAULT),
                rules=permissions or PermissionRules(),
                governed=permission_mode is not None,
            ),
            hooks=HookOptions(settings=hooks),
            servers=ServerOptions(servers=mcp_servers, mcp=mcp),
            limits=_checked(Limits, limits, "limits") or Limits(),
            system_prompt=DEFAULT_INSTRUCTIONS if instructions is None else instructions,
        )  # fmt: skip
        self._policy = _checked(ToolPolicy, tool_policy, "tool_policy")
        self._context = ContextManager(_checked(ContextOptions, context, "context"))
        self._selection = as_context_selection(mcp_context)
        self._store: SessionStore = InMemorySessionStore() if session_store is None else session_store
        super().__init__(name, provider, observer)
        self._tools = AgentTools(self._options, tool_executor, self._tell)
        self._wire(self._own, Fitting(self._context, self._own), self._options)  # says at once what cannot work

    @property
    def mcp(self) -> McpClientManager:
        """Its servers: to add, change or remove some, and for operations beside the runs."""
        return self._tools.servers.manager

    @property
    def sessions(self) -> SessionStore:
        """Its sessions: ``get``, ``delete`` and, if the store can, ``list``."""
        return self._store

    def run(  # noqa: PLR0913 - see above
        self,
        input: str | Sequence[Any],
        *,
        content: Sequence[Any] | None = None,
        session_id: str | None = None,
        model: str | None = None,
        reasoning_effort: str | None = None,
        system: str | None = None,
        limits: Limits | None = None,
        tool_policy: ToolPolicy | None = None,
        tool_approval: BatchApproval | None = None,
        mcp_context: Mapping[str, Any] | None = None,
        abort: AbortSignal | None = None,
        stream: bool = True,
    ) -> AgentRun:
        """A run that starts when it is iterated or its `AgentRun.result` is awaited.

        ``input`` is a text or a list of messages, ours or in the form of chat APIs; ``content`` are parts beside a
        text. A known ``session_id`` goes on with that conversation. The others hold for this run in place of the
        agent's own; ``stream=False`` leaves out the deltas. Failures are raised by the iteration and by the result.
        """
        name = new_id("session") if session_id is None else session_id

        def options() -> AssemblyOptions:
            asked = replace(self._options.model, effort=reasoning_effort)
            return replace(
                self._options,
                session_id=name,
                model=asked if model is None else replace(asked, model=model),
                limits=_checked(Limits, limits, "limits") or self._options.limits,
                system_prompt=self._options.system_prompt if system is None else system,
            )

        async def work(run: AgentRun) -> RunResult:
            policy = _checked(ToolPolicy, tool_policy, "tool_policy") or self._policy
            at_gate = None if policy is None else PolicyAtGate(policy, sink)
            course = Course(
                run, RunInput(input, content, TurnSettings(tool_approval=tool_approval, policy=at_gate)),
                SessionRecord(self._store, name, self._tools.cwd), sink, self._owner, Fitting(self._context, sink),
                lambda fitting: self._wire(sink, fitting, options()), self._ready,
                partial(self._foreign, mcp_context), str(self._options.permissions.mode) if self._governed else "",
            )  # fmt: skip
            delivery.authorized = self._authorizations(at_gate, course)
            return await course()

        run = AgentRun(name, short_id("run"), lambda run: self._begin(run, sink, abort), work, stream=stream)
        delivery = Delivery(run.deliver, self._observers.on_event)
        sink = EventSink(name, delivery, lambda _name: False)
        return run

    @property
    def _governed(self) -> bool:
        return self._options.permissions.governed

    def _wire(self, sink: EventSink, fitting: Fitting, options: AssemblyOptions) -> Parts:
        return build(options, sink, self._owner.adopt, servers=self._tools.servers, context=fitting)

    async def _foreign(self, chosen: Mapping[str, Any] | None, run: AgentRun) -> Sequence[Message]:
        selection = self._selection if chosen is None else as_context_selection(chosen)
        if not selection.resources and not selection.prompts:
            return ()
        return [UserMessage(await load_mcp_context(self.mcp, selection, abort=run.signal))]

    def _authorizations(self, at_gate: PolicyAtGate | None, course: Course) -> Callable[[Any], None] | None:
        """What tells the policy's observer of each decision."""
        if at_gate is None or at_gate.policy.authorization_observer is None:
            return None
        watcher = Watcher(at_gate.policy.authorization_observer, self._owner, self._warn)

        def tell(event: Any) -> None:
            iteration = 0 if course.turn is None else course.turn.iteration
            watcher(at_gate.authorization(event, course.run.run_id, iteration))

        return tell


def _checked(kind: type[Any], value: Any, name: str) -> Any:
    if value is not None and not isinstance(value, kind):
        raise ConfigurationError(f"{name} is a {kind.__name__}, not {value!r:.100}", details={"field": name})
    return value
