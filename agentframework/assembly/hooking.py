"""Hooks wired to the parts that they are about: the engine, and the questions that they may answer.

The engine knows neither providers nor prompts; here it gets a model to ask, and the prompts get hooks to ask first.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.assembly.asking import whole_answer
from agentframework.assembly.configured import Configured
from agentframework.assembly.options import HookOptions
from agentframework.events import PermissionRequest
from agentframework.events.sink import EventSink
from agentframework.hooks import HookConfig, HookEngine, HookEvent, HookSurroundings, parse_hooks
from agentframework.loop.hooking import TurnHooks
from agentframework.messages import user_text
from agentframework.permissions import PromptBroker
from agentframework.permissions.answers import Answered
from agentframework.permissions.prompts import PermissionQuestion, unanswered
from agentframework.providers.protocol import ModelRequest, Provider

CurrentModel = Callable[[], tuple[Provider, str]]


def hook_engine(
    options: HookOptions,
    config: HookConfig,
    sink: EventSink,
    *,
    cwd: str,
    permission_mode: Callable[[], str],
    current_model: CurrentModel,
    configured: Configured,
) -> HookEngine:
    """The engine for one conversation."""
    around = HookSurroundings(
        session_id=sink.session_id,
        cwd=cwd,
        permission_mode=permission_mode,
        environment=os.environ if options.environment is None else options.environment,
        model=_ModelPort(current_model),
        variables=configured.variables,
        project_dir=configured.project_root,
    )
    return HookEngine(config, around, sink)


def own_hooks(options: HookOptions) -> HookConfig:
    """The hooks that the host gave as an option. Raises `ConfigurationError` if they are no dict at all."""
    return parse_hooks(options.settings, fail_closed=options.fail_closed)


@dataclass(frozen=True, slots=True)
class _ModelPort:
    """Asks the model of the conversation, or another one of its provider."""

    current_model: CurrentModel

    async def __call__(self, system: str, prompt: str, model: str | None) -> str:
        provider, usual = self.current_model()
        name = usual if model is None else provider.resolve_model(model)
        return await whole_answer(provider, ModelRequest(model=name, messages=(user_text(prompt),), system=system))


class HookedPrompts(PromptBroker):
    """Prompts that ask ``PermissionRequest`` hooks before a person, and tell ``Notification`` hooks when one waits."""

    __slots__ = ("_hooks",)

    def __init__(self, sink: EventSink, hooks: TurnHooks) -> None:
        super().__init__(sink)
        self._hooks = hooks

    @property
    def someone_listens(self) -> bool:
        """True if a person or a hook may answer."""
        return self._hooks.has(HookEvent.PERMISSION_REQUEST) or super().someone_listens

    async def request_permission(
        self, question: PermissionQuestion, driver_id: str | None, abort: AbortSignal
    ) -> Answered:
        """The answer of hooks, else of a person, who is not asked if the turn was aborted meanwhile."""
        try:
            answer = await self._hooks.permission_request(question, abort)
        except AbortedError:
            answer = None
        if answer is not None:
            return Answered(answer, "hook")
        if not super().someone_listens:
            return unanswered(f"no hook answered, and nobody listens for {PermissionRequest.type}")
        answered = asyncio.Event()
        self._hooks.question_waits(question, lambda: not answered.is_set())
        try:
            return await super().request_permission(question, driver_id, abort)
        finally:
            answered.set()


def hooked_prompts(sink: EventSink, hooks: TurnHooks, changeable: bool) -> PromptBroker:
    """The prompts of a conversation. ``changeable``: hooks may yet come."""
    told = changeable or hooks.has(HookEvent.PERMISSION_REQUEST) or hooks.has(HookEvent.NOTIFICATION)
    return HookedPrompts(sink, hooks) if told else PromptBroker(sink)
