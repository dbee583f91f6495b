"""`InteractiveSession`: a conversation that several drivers may speak into and many may listen to.

Here a session is put together, begins and ends. What it can do beside that is in a module per subject: prompts,
permissions, events, and what it says about itself. Turns run in `TurnRunner`, the loop and the gate come from
`assembly`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentframework._base.ids import new_id
from agentframework._base.owner import TaskOwner
from agentframework.assembly import (
    AssemblyOptions,
    AutoMode,
    HookOptions,
    ModelOptions,
    PermissionOptions,
    ServerOptions,
    SettingsOptions,
    ToolOptions,
    build,
    session_limits,
)
from agentframework.context import ContextOptions
from agentframework.errors import SessionBusyError
from agentframework.events import (
    AskRequest,
    BaseEvent,
    Compact,
    ContextUpdate,
    HistoryCleared,
    ModelCompleted,
    PermissionRequest,
    SessionStarted,
    ToolEnd,
    ToolStart,
)
from agentframework.loop import Conversation, ConversationHooks, Limits, LoopGuard
from agentframework.mcp import McpOptions
from agentframework.messages import ModelPrice
from agentframework.permissions import PermissionMode, PermissionRules, parse_mode
from agentframework.providers.protocol import Provider
from agentframework.session.background import SessionBackground
from agentframework.session.commands import SessionCommands
from agentframework.session.compacting import check_instructions, compact
from agentframework.session.event_source import EventSource
from agentframework.session.permissions import SessionPermissions
from agentframework.session.persistence import NOT_STORED, SessionJournal, StoreOptions
from agentframework.session.prompting import SessionPrompts
from agentframework.session.reading import SessionReading
from agentframework.session.runner import TurnRunner
from agentframework.session.settings import SessionSettings
from agentframework.session.storing import SessionStoring, store_options
from agentframework.session.timeline import Timeline
from agentframework.settings import ContributionSources, ProjectAccess, SettingsSource
from agentframework.slash import CommandInfo, CommandModule, CommandResult
from agentframework.stores.port import JournalStore
from agentframework.tools import Tool

_NOTED = frozenset({ToolStart, ToolEnd, ModelCompleted, Compact})  # one look for each delta
DEFAULT_LOOP_GUARD = LoopGuard()
DEFAULT_CONTEXT = ContextOptions()


class InteractiveSession(
    SessionSettings, SessionPrompts, SessionReading, SessionPermissions, SessionBackground, SessionStoring,
    EventSource,
):
    """One conversation with a model that may use tools.

    Nothing starts in the constructor; `start`, ``async with`` or the first prompt does that. With only
    ``cwd`` and ``provider`` a session has the ten built-in tools, asks before it changes files or runs
    commands, reads no settings or instruction files and stores nothing. Objects are not thread-safe; use one
    event loop.

    ``read_only_commands`` lets shell commands that only read run unasked, also in the mode ``plan``; ``auto_mode``
    says who judges calls in the mode ``auto``; ``max_turns`` is another name of ``limits.max_iterations``; ``prices``
    tells by the name of a model what it costs. With a trusted ``project_access`` the files of
    ``project_settings_paths`` count after ``user_settings_sources``, and instruction files of the project are read
    unless ``bare``. Raises `ConfigurationError` for options that cannot work, `SettingsError` for a settings file that
    cannot be used.
    """

    def __init__(  # noqa: PLR0913 - options are keyword arguments, so that they can be read and completed
        self,
        *,
        cwd: str | Path,
        provider: Provider,
        model: str | None = None,
        small_model: str | None = None,
        effort: str | None = None,
        temperature: float | None = None,
        max_output_tokens: int | None = None,
        raw_model_events: bool = False,
        response_format: Any = None,
        prices: Mapping[str, ModelPrice] | None = None,
        permission_mode: PermissionMode | str | None = None,
        permissions: PermissionRules | None = None,
        allowed_tools: Sequence[str] = (),
        denied_tools: Sequence[str] = (),
        read_only_commands: bool = False,
        auto_mode: AutoMode | None = None,
        default_tools: Sequence[Tool] | None = None,
        additional_tools: Sequence[Tool] = (),
        additional_directories: Sequence[str | Path] = (),
        background_shells: bool = False,
        system_prompt: str | None = None,
        append_system_prompt: str | None = None,
        limits: Limits | None = None,
        max_turns: int | None = None,
        loop_guard: LoopGuard | None = DEFAULT_LOOP_GUARD,
        context: ContextOptions | None = None,
        command_modules: Sequence[CommandModule] = (),
        hooks: Mapping[str, Any] | None = None,
        hooks_fail_closed: bool = False,
        mcp_servers: Mapping[str, Any] | Sequence[Any] | None = None,
        mcp: McpOptions | None = None,
        session_store: JournalStore | None = None,
        session_name: str | None = None,
        resume_session_id: str | None = None,
        fork_session: bool = False,
        project_access: ProjectAccess | None = None,
        user_settings_sources: Sequence[SettingsSource] = (),
        project_settings_paths: Sequence[object] = (),
        contribution_sources: ContributionSources | None = None,
        bare: bool = False,
    ) -> None:
        store = store_options(session_store, session_name, resume_session_id, fork_session)
        super().__init__(resume_session_id if resume_session_id and not fork_session else new_id("session"))
        self._owner = TaskOwner(on_fault=self._task_failed)
        self._name = session_name
        self._assemble(
            AssemblyOptions(
                session_id=self._session_id, cwd=cwd,
                model=ModelOptions(
                    provider=provider, model=model, small_model=small_model, effort=effort, temperature=temperature,
                    max_output_tokens=max_output_tokens, raw_events=raw_model_events,
                    response_format=response_format, prices=prices or {},
                ),
                tools=ToolOptions(
                    default_tools=default_tools, additional_tools=additional_tools,
                    additional_directories=additional_directories, background_shells=background_shells,
                ),
                permissions=PermissionOptions(
                    mode=None if permission_mode is None else parse_mode(permission_mode),
                    rules=permissions or PermissionRules(), allowed_tools=allowed_tools, denied_tools=denied_tools,
                    read_only_commands=read_only_commands, auto_mode=auto_mode,
                ),
                hooks=HookOptions(settings=hooks, fail_closed=hooks_fail_closed),
                servers=ServerOptions(servers=mcp_servers, mcp=mcp, interactive=True),
                settings=SettingsOptions(
                    project_access=project_access, user_sources=user_settings_sources,
                    project_paths=project_settings_paths, contributions=contribution_sources, bare=bare,
                ),
                limits=session_limits(limits, max_turns), loop_guard=loop_guard, context=context or DEFAULT_CONTEXT,
                system_prompt=system_prompt, append_system_prompt=append_system_prompt,
            )
        )  # fmt: skip
        self._wire(command_modules, store)

    def _assemble(self, options: AssemblyOptions) -> None:
        self._parts = build(options, self._sink, self._owner.adopt)

    def _wire(self, command_modules: Sequence[CommandModule], store: StoreOptions | None) -> None:
        """What keeps the conversation, and runs turns and commands on the parts."""
        journal = SessionJournal(store, self._session_id, self.cwd, self._owner, self.warn) if store else None
        self._journal = journal or NOT_STORED
        self._timeline = Timeline(journal.entered if journal else None)
        self._conversation = Conversation(recorder=journal)
        self._hooks = ConversationHooks(self._parts.hooks, self._owner, lambda: self.model)
        self._runner = TurnRunner(
            self._parts,
            self._sink,
            self._timeline,
            self._conversation,
            self._owner,
            self._hooks,
            self._begin,
            self._journal,
        )
        self._commands = SessionCommands(command_modules, self._parts, self._sink, self)
        self._started = False
        self._ending: asyncio.Task[None] | None = None
        self._leaving: tuple[asyncio.Task[Any], ...] = ()

    # --- life -------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Get ready ahead of the first prompt. May be called many times.

        A stored session is resumed: raises `SessionNotFoundError`, `SessionLockedError` if it is open elsewhere, and
        `ConfigurationError` if it belongs to another directory.

        Slow imports of the provider go on in the background; ``SessionStart`` hooks are waited for.
        """
        self._check_open()
        await self._begin()
        await self._hooks.ready()

    async def _begin(self) -> None:
        async with self._journal.opening():
            if not self._started:
                source = await self._resume()
                self._started = True
                self._announce(source)

    def _announce(self, source: str) -> None:
        self._owner.start(self._prepare_provider(), "provider start")
        turn_id, self._sink.turn_id = self._sink.turn_id, None  # starting is no part of the turn that caused it
        names = self._parts.catalog.names
        self._sink.emit(SessionStarted, self.cwd, self.model, str(self.permission_mode), names)
        self._tell_problems()
        self._sink.turn_id = turn_id
        self._parts.servers.begin(self._owner)
        self._hooks.begin(source)

    async def _prepare_provider(self) -> None:
        try:
            await self._parts.settings.provider.start()
        except Exception:
            # The first request meets the same fault and reports it as the turn's error, once.
            return

    async def shutdown(self, reason: str = "other", message: str | None = None) -> None:
        """End the session: stop the turn, clear the queue, end background work, remove listeners.

        May be called many times and by many; later `submit` calls raise code ``SESSION_CLOSED``.
        """
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end(reason), name="session shutdown")
        current = asyncio.current_task()
        if current is not None:
            self._leaving = (*self._leaving, current)  # a listener that waits for the end is not waited for
        await asyncio.shield(self._ending)

    async def _end(self, reason: str) -> None:
        self._runner.closing = True
        self._runner.abort("shutdown")
        try:
            async with asyncio.timeout(5.0):
                await self._runner.wait_idle()
        except TimeoutError:
            pass  # the owner cancels the turn's task now
        await self._parts.background.close()
        await self._hooks.end(reason)
        await self._parts.servers.close()
        await self._journal.close()
        await self._owner.close()
        self._parts.spills.close()
        await self._emitter.close(spare=self._leaving)

    async def __aenter__(self) -> "InteractiveSession":
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.shutdown()

    # --- events -----------------------------------------------------------------------------------------

    def _deliver(self, event: BaseEvent) -> None:
        if type(event) in _NOTED:
            self._take_note(event)
        self._emitter.emit(event)

    def _take_note(self, event: BaseEvent) -> None:
        if isinstance(event, ToolStart):
            self._timeline.tool_started(event)
        elif isinstance(event, ToolEnd):
            self._timeline.tool_ended(event)
        elif isinstance(event, ModelCompleted):
            self._commands.count(event.usage)
        elif isinstance(event, Compact):
            self._compacted(event)

    def _compacted(self, event: Compact) -> None:
        self._hooks.begin("compact")
        if event.trigger == "auto":
            before, after = event.before.used_percentage, event.after.used_percentage
            self._timeline.note(f"The conversation was compacted: the window was {before} % full and is {after} % now.")

    def _prompt_listener_removed(self) -> None:
        self._parts.prompts.listeners_changed()

    def _undelivered(self, event: BaseEvent) -> None:
        # Whoever was asked broke down over the question: nobody may be left waiting for its answer.
        if isinstance(event, PermissionRequest | AskRequest):
            self._parts.prompts.listener_failed(event.id)

    def _task_failed(self, name: str, error: BaseException) -> None:
        self.warn(f"{name} failed: {type(error).__name__}: {error}", "session")

    # --- commands ---------------------------------------------------------------------------------------

    def list_commands(self) -> Sequence[CommandInfo]:
        """The commands of ``command_modules``."""
        return self._commands.host.list_commands()

    async def execute_command(self, name: str, args: str = "") -> CommandResult | None:
        """Run a slash command; ``name`` with or without its slash. None if there is no such command.

        While a turn runs, a command that would change something is refused with ``success=False``, which is also
        how a failing one ends. One that asks for the end shuts the session down. Raises `SessionClosedError`.
        """
        self._check_open()
        result = await self._commands.execute(name, args)
        if self._commands.host.exit_requested:
            await self.shutdown("exit")
        return result

    # --- state ------------------------------------------------------------------------------------------

    def set_model(self, model: str, provider: Provider | None = None) -> None:
        """Answer with another model, or another provider's, from the next request on."""
        settings = self._parts.settings
        chosen = provider or settings.provider
        settings.model, settings.provider = chosen.resolve_model(model), chosen

    async def compact_context(self, instructions: str | None = None) -> bool:
        """Put all but the last turns of the conversation into a summary; whether there was anything to leave out.

        ``instructions`` say what the summary is to mind. Prompts that are submitted meanwhile wait. Raises
        `SessionBusyError` while a turn runs, `CompactionError` if it was aborted, no usable summary came or a hook
        objects, and the provider's errors; the conversation is as it was then.
        """
        self._check_open()
        check_instructions(instructions)
        await self._begin()
        done = await compact(self._parts, self._runner, self._conversation, instructions)
        await self._journal.safe()
        return done

    def clear_conversation_history(self) -> None:
        """Begin a new conversation in this session. Raises `SessionBusyError` while a turn runs."""
        if self.is_executing():
            raise SessionBusyError("a turn is running; abort it or wait before clearing the history")
        self._conversation.clear()
        self._timeline.clear()
        self._hooks.begin_again()
        self._sink.emit(ContextUpdate, self.get_context_state())
        self._sink.emit(HistoryCleared)
