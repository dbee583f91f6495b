"""Options to wired parts. The only place that knows how the parts fit together; both faces start here."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from sys import intern
from typing import Any

from agentframework.abilities.background import BackgroundRegistry
from agentframework.assembly.background import background_registry, in_background
from agentframework.assembly.builtins import builtin_tools
from agentframework.assembly.classifier import ProviderClassifier
from agentframework.assembly.configured import Configured, configure
from agentframework.assembly.hooking import hook_engine, hooked_prompts, own_hooks
from agentframework.assembly.instructed import Instructed
from agentframework.assembly.options import AssemblyOptions, AutoMode, PermissionOptions
from agentframework.assembly.servers import ConversationServers
from agentframework.assembly.settings_files import Fixed, SettingsFiles
from agentframework.assembly.wiring import with_plans, with_small_model
from agentframework.events.sink import EventSink
from agentframework.hooks import HookEngine, HookEvent
from agentframework.loop import Conversation, TurnLoop, TurnSettings
from agentframework.loop.compaction import Compactor
from agentframework.loop.hooking import TurnHooks
from agentframework.loop.limits import check_price
from agentframework.loop.loop import ContextPort
from agentframework.loop.model_call import ModelCaller
from agentframework.loop.response_format import ResponseFormat, parse_response_format
from agentframework.loop.tool_calls import ToolRounds
from agentframework.messages import ModelPrice
from agentframework.permissions import (
    GateOptions,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    RuleSet,
    parse_rules,
)
from agentframework.prompt import Section, join_sections, prompt_sections
from agentframework.providers.protocol import ModelRequest, Provider
from agentframework.sandbox import LocalSandbox
from agentframework.tools import Tool, ToolCatalog
from agentframework.tools.spill import SpillStore

_NO_PRICES: Mapping[str, ModelPrice] = {}


@dataclass(slots=True)
class ModelSettings:
    """What the next request will ask for; a session may change it between turns."""

    provider: Provider
    model: str
    system: str
    effort: str | None
    temperature: float | None
    max_output_tokens: int | None
    raw_events: bool
    response_format: ResponseFormat | None
    session_id: str
    catalog: ToolCatalog
    no_think: bool = False
    max_tokens: int | None = None

    def request(self, conversation: Conversation, settings: TurnSettings) -> ModelRequest:
        """The next request of a conversation, with what holds for this turn alone."""
        return ModelRequest(
            model=self.model if settings.model is None else self.provider.resolve_model(settings.model),
            messages=conversation.messages,
            system=self.system if settings.system is None else settings.system,
            tools=self.catalog.specs,
            max_output_tokens=self.max_output_tokens,
            effort=self.effort if settings.effort is None else settings.effort,
            temperature=self.temperature,
            session_id=self.session_id,
            raw_events=self.raw_events,
            response_schema=self.response_format.schema if self.response_format else None,
            no_think=self.no_think,
        )

    def current(self) -> tuple[Provider, str]:
        """Who answers at the moment."""
        return self.provider, self.model

    @property
    def context_window(self) -> int:
        """Tokens the model can hold, or may be given."""
        return self.max_tokens or self.provider.limits(self.model).context_window


@dataclass(frozen=True, slots=True)
class Parts:
    """The wired parts of one conversation."""

    settings: ModelSettings
    catalog: ToolCatalog
    sandbox: LocalSandbox
    prompts: PromptBroker
    gate: PermissionGate
    hooks: HookEngine
    servers: ConversationServers
    loop: TurnLoop
    background: BackgroundRegistry
    spills: SpillStore
    compactor: Compactor | None
    files: SettingsFiles


def build(
    options: AssemblyOptions,
    sink: EventSink,
    abandon: Callable[[asyncio.Task[Any]], object],
    *,
    servers: ConversationServers | None = None,
    context: ContextPort | None = None,
) -> Parts:
    """Wire a conversation. ``abandon`` takes over tasks that ignore their cancellation.

    ``servers`` are some that other conversations use too, with a catalog of all tools; then the options on tools and
    servers are not looked at. ``context`` shortens the conversation, else that is done as the options say.

    Raises `ConfigurationError` (for a file `SettingsError`) or ``TOOL_NAME_CONFLICT`` for options that cannot work.
    """
    configured = configure(options, home=_home())
    sandbox = LocalSandbox(options.cwd, [*options.tools.additional_directories, *configured.additional_directories])
    background = background_registry(sink)
    if servers is None:
        tools = _tools(options, configured, background, lambda: settings.provider)
        catalog = ToolCatalog(with_plans(tools, sink))
        servers = ConversationServers(options.servers, catalog, sink.emit, sandbox.roots[0])
    catalog = servers.catalog
    settings = _settings(options, sandbox, catalog, configured)
    fixed = Fixed(_rules(options.permissions, sandbox, catalog, servers.name_prefixes), own_hooks(options.hooks))
    engine = hook_engine(
        options.hooks,
        configured.now.hooks + fixed.hooks,
        sink,
        cwd=sandbox.roots[0],
        permission_mode=lambda: str(gate.mode),
        current_model=settings.current,
        configured=configured,
    )
    hooks = TurnHooks(engine, sink, abandon)
    prompts = hooked_prompts(sink, hooks, configured.changeable)
    gate = PermissionGate(
        mode=configured.mode(options.permissions.mode),
        rules=configured.now.rules + fixed.rules,
        sandbox=sandbox,
        prompts=prompts,
        sink=sink,
        hooks=hooks if configured.changeable or hooks.has(HookEvent.PRE_TOOL_USE) else None,
        options=_gate_options(options, settings, configured),
    )
    spills = SpillStore()
    rounds = ToolRounds(
        catalog, gate, sink, sandbox, prompts, options.limits.max_tool_result_bytes, abandon, hooks, spills
    )  # fmt: skip
    prices = _prices(options, settings)
    wanted = options.context
    compactor = None if wanted is None else Compactor(wanted, settings, engine, sink, abandon, prices)
    loop = TurnLoop(
        settings, ModelCaller(sink, abandon, prices), rounds, sink, options.limits, hooks, settings.response_format,
        background.take_news, options.loop_guard, context or compactor,
    )  # fmt: skip
    instructed = _instructed(options, sandbox, settings, sink)
    files = SettingsFiles(configured, fixed, gate, engine, catalog, servers, sink, instructed)
    parts = Parts(
        settings, catalog, sandbox, prompts, gate, engine, servers, loop, background, spills, compactor, files
    )  # fmt: skip
    if options.servers.interactive:
        servers.parts = parts
    return parts


def _prices(options: AssemblyOptions, settings: ModelSettings) -> Mapping[str, ModelPrice]:
    """Prices by the names that are asked for and by those that aliases stand for.

    Raises `ConfigurationError` if the cost is limited and nothing is known of what the model costs.
    """
    given, resolve = options.model.prices, settings.provider.resolve_model
    prices = {**{resolve(name): price for name, price in given.items()}, **given} if given else _NO_PRICES
    check_price(options.limits, settings.model in prices)
    return prices


def _settings(
    options: AssemblyOptions, sandbox: LocalSandbox, catalog: ToolCatalog, configured: Configured
) -> ModelSettings:
    model = options.model
    named = model.model or configured.model_for(model.provider)
    return ModelSettings(
        provider=model.provider,
        model=model.provider.resolve_model(named or model.provider.default_model),
        system=join_sections(_sections(options, sandbox, catalog)),
        effort=model.effort,
        temperature=model.temperature,
        max_output_tokens=model.max_output_tokens,
        raw_events=model.raw_events,
        response_format=parse_response_format(model.response_format),
        session_id=options.session_id,
        catalog=catalog,
        no_think=model.no_think,
        max_tokens=options.context.max_tokens if options.context is not None else None,
    )


def _sections(options: AssemblyOptions, sandbox: LocalSandbox, catalog: ToolCatalog) -> tuple[Section, ...]:
    return prompt_sections(
        sandbox.roots[0], catalog.names, replace=options.system_prompt, append=options.append_system_prompt
    )


def _instructed(
    options: AssemblyOptions, sandbox: LocalSandbox, settings: ModelSettings, sink: EventSink
) -> Instructed | None:
    """The instruction files of a session that may have some."""
    access = options.settings.project_access
    if access is None or options.settings.bare:
        return None
    return Instructed(access, sandbox.roots[0], _sections(options, sandbox, settings.catalog), settings, sink)


def _tools(
    options: AssemblyOptions, configured: Configured, background: BackgroundRegistry, provider: Callable[[], Provider]
) -> list[Tool]:
    chosen = options.tools
    defaults = chosen.default_tools
    if defaults is None:
        defaults = builtin_tools(variables=configured.variables)
    if chosen.background_shells:
        defaults = in_background(defaults, background)
    tools = [*defaults, *chosen.additional_tools]
    small = options.model.small_model
    return tools if small is None else with_small_model(tools, small, provider)


def _rules(
    options: PermissionOptions, sandbox: LocalSandbox, catalog: ToolCatalog, awaited: tuple[str, ...]
) -> RuleSet:
    rules = parse_rules(
        PermissionRules(
            allow=[*options.rules.allow, *options.allowed_tools],
            deny=[*options.rules.deny, *options.denied_tools],
            ask=options.rules.ask,
        ),
        base=sandbox.roots[0],
        home=_home(),
    )
    return replace(rules, warnings=(*rules.warnings, *rules.unknown_tools(catalog.names, awaited)))


def _gate_options(options: AssemblyOptions, settings: ModelSettings, configured: Configured) -> GateOptions:
    permissions = options.permissions
    return GateOptions(
        home=_home(),
        tool_names=lambda: settings.catalog.names,
        max_tool_argument_bytes=options.limits.max_tool_argument_bytes,
        read_only_commands=permissions.read_only_commands,
        protected=(*map(str, permissions.protected_paths), *configured.protected()),
        project_rules=configured.kept_rules(),
        before_round=bool if configured.access is None else configured.look,
        classifier=ProviderClassifier(_judging_model(permissions.auto_mode, settings)),
        classifier_deadline_s=(permissions.auto_mode or AutoMode()).deadline_s,
        governed=permissions.governed,
    )


def _judging_model(auto: AutoMode | None, settings: ModelSettings) -> Callable[[], tuple[Provider, str]]:
    """The provider and model of the mode ``auto``: as given, else those of the session at that moment."""
    if auto is None:
        return settings.current

    def choose() -> tuple[Provider, str]:
        provider = auto.provider or settings.provider
        model = auto.model or (settings.model if auto.provider is None else provider.default_model)
        return provider, provider.resolve_model(model)

    return choose


def _home() -> str | None:
    """What ``~`` in a rule means. Only rules that spell it look at the environment."""
    home = intern(os.path.expanduser("~"))
    return home if os.path.isabs(home) else None
