"""Options to wired parts. The only place that knows how the parts fit together; both faces start here."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agentframework.assembly.builtins import builtin_tools
from agentframework.assembly.options import AssemblyOptions, PermissionOptions, ToolOptions
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation, TurnLoop
from agentframework.loop.model_call import ModelCaller
from agentframework.loop.tool_calls import ToolRounds
from agentframework.loop.turn import Turn
from agentframework.permissions import (
    GateOptions,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    RuleSet,
    parse_rules,
)
from agentframework.prompt import compose_system_prompt
from agentframework.providers.protocol import ModelRequest, Provider
from agentframework.sandbox import LocalSandbox
from agentframework.tools import ToolCatalog
from agentframework.tools.tool import AskPort


@dataclass(slots=True)
class ModelSettings:
    """What the next request will ask for; a session may change it between turns."""

    provider: Provider
    model: str
    system: str
    effort: str | None
    temperature: float | None
    max_output_tokens: int | None
    session_id: str

    def request(self, conversation: Conversation, catalog: ToolCatalog) -> ModelRequest:
        """The next request of a conversation."""
        return ModelRequest(
            model=self.model,
            messages=conversation.messages,
            system=self.system,
            tools=catalog.specs,
            max_output_tokens=self.max_output_tokens,
            effort=self.effort,
            temperature=self.temperature,
            session_id=self.session_id,
        )

    @property
    def context_window(self) -> int:
        """Tokens the model can hold."""
        return self.provider.limits(self.model).context_window


@dataclass(frozen=True, slots=True)
class Parts:
    """The wired parts of one conversation."""

    settings: ModelSettings
    catalog: ToolCatalog
    sandbox: LocalSandbox
    prompts: PromptBroker
    gate: PermissionGate
    loop: TurnLoop


def build(
    options: AssemblyOptions, sink: EventSink, abandon: Callable[[asyncio.Task[Any]], object]
) -> Parts:
    """Wire a conversation. ``abandon`` takes over tasks that ignore their cancellation.

    Raises `ConfigurationError` or ``TOOL_NAME_CONFLICT`` for options that cannot work.
    """
    sandbox = LocalSandbox(options.cwd, options.tools.additional_directories)
    catalog = _catalog(options.tools)
    model = options.model
    settings = ModelSettings(
        provider=model.provider,
        model=model.provider.resolve_model(model.model or model.provider.default_model),
        system=compose_system_prompt(
            sandbox.roots[0],
            catalog.names,
            replace=options.system_prompt,
            append=options.append_system_prompt,
        ),
        effort=model.effort,
        temperature=model.temperature,
        max_output_tokens=model.max_output_tokens,
        session_id=options.session_id,
    )
    prompts = PromptBroker(sink)
    gate = PermissionGate(
        mode=options.permissions.mode,
        rules=_rules(options.permissions, sandbox, catalog),
        sandbox=sandbox,
        prompts=prompts,
        sink=sink,
        options=GateOptions(
            home=_home(),
            tool_names=lambda: catalog.names,
            max_tool_argument_bytes=options.limits.max_tool_argument_bytes,
        ),
    )
    rounds = ToolRounds(
        catalog,
        gate,
        sink,
        sandbox,
        lambda turn: _ask_port(prompts, turn),
        options.limits.max_tool_result_bytes,
        abandon,
    )
    loop = TurnLoop(
        lambda: settings.provider,
        lambda conversation: settings.request(conversation, catalog),
        ModelCaller(sink, abandon),
        rounds,
        sink,
        options.limits,
    )
    return Parts(settings, catalog, sandbox, prompts, gate, loop)


def _catalog(options: ToolOptions) -> ToolCatalog:
    defaults = builtin_tools() if options.default_tools is None else options.default_tools
    return ToolCatalog([*defaults, *options.additional_tools])


def _rules(options: PermissionOptions, sandbox: LocalSandbox, catalog: ToolCatalog) -> RuleSet:
    rules = parse_rules(
        PermissionRules(
            allow=[*options.rules.allow, *options.allowed_tools],
            deny=[*options.rules.deny, *options.denied_tools],
            ask=options.rules.ask,
        ),
        base=sandbox.roots[0],
        home=_home(),
    )
    return replace(rules, warnings=(*rules.warnings, *rules.unknown_tools(catalog.names)))


def _home() -> str | None:
    """What ``~`` in a rule means. Only rules that spell it look at the environment."""
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else None


def _ask_port(prompts: PromptBroker, turn: Turn) -> AskPort:
    return lambda questions: prompts.ask(questions, driver_id=turn.driver_id, abort=turn.abort)
