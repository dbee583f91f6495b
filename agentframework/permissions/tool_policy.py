"""`ToolPolicy`: what a host decides about calls of tools, usable in front of any tool, with or without an agent.

Lists first, then every rule in order, then the approval if one is required. The first that refuses or redirects ends
it. Fail closed: a callback that raises, or whose answer cannot be read without guessing, denies the call.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from agentframework.errors import ConfigurationError, ErrorCode, ToolExecutionError
from agentframework.tools.info import ToolInfo

Verdict = Literal["allow", "deny", "redirect"]


@dataclass(frozen=True, slots=True)
class ToolApprovalRequest:
    """A call that is to be decided. ``context`` is what the tool would be told, or what the host likes to pass on."""

    tool_name: str
    input: Mapping[str, Any]
    context: Any = None
    tool_info: ToolInfo | None = None


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """Allow a call, deny it, or have the model do what ``message`` says instead (``redirect``).

    ``reason`` is for the records and holds nothing of the arguments; so does ``metadata``, which goes to observers.
    """

    decision: Verdict
    reason: str = ""
    message: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


Decide = Callable[[ToolApprovalRequest], Any]
"""Sync or async; answers with a bool, a `ToolDecision`, or a dict of its fields."""


@dataclass(frozen=True, slots=True)
class AuthorizationRule:
    """A rule of the host. ``id`` names it in decisions and records."""

    id: str
    authorize: Decide


@dataclass(frozen=True, slots=True)
class ToolAuthorizationEvent:
    """The final decision about a call, without its arguments. ``stage`` is ``policy``, ``approval``, or another of
    the gate that decided."""

    tool_name: str
    decision: Verdict
    reason: str
    rule_id: str | None
    stage: str
    session_id: str | None = None
    run_id: str | None = None
    iteration: int | None = None
    tool_use_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision, by which stage and rule it was made, and the code of a denial."""

    decision: ToolDecision
    stage: str = "policy"
    rule_id: str | None = None
    code: ErrorCode = ErrorCode.TOOL_DENIED


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """Which tools may be called, and who is asked.

    ``allowed_tools``: only these (None: all); ``denied_tools`` wins over it. ``authorization_rules`` are
    `AuthorizationRule` objects or ``{"id", "authorize"}``; each is asked about every call that the lists let through.
    With ``require_approval`` a call that no rule stops needs the yes of ``approval_handler``.
    ``authorization_observer`` is told of every decision and cannot change it. Raises `ConfigurationError`.
    """

    allowed_tools: Sequence[str] | None = None
    denied_tools: Sequence[str] = ()
    authorization_rules: Sequence[AuthorizationRule | Mapping[str, Any]] = ()
    require_approval: bool = False
    approval_handler: Decide | None = None
    authorization_observer: Callable[[ToolAuthorizationEvent], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("allowed_tools", "denied_tools"):
            given: Any = getattr(self, name)
            if isinstance(given, str) or not all(isinstance(one, str) for one in given or ()):
                raise _refused(name, f"must be a list of tool names, not {given!r:.200}")
        for name in ("approval_handler", "authorization_observer"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise _refused(name, "must be a function")
        object.__setattr__(self, "authorization_rules", tuple(map(_as_rule, self.authorization_rules)))

    async def assert_allowed(self, request: ToolApprovalRequest) -> ToolDecision:
        """The decision, ``allow`` or ``redirect``. Raises `ToolExecutionError` ``TOOL_DENIED`` for a denial.

        With ``require_approval`` and no handler the code is ``TOOL_APPROVAL_REQUIRED``.
        """
        ruling = await self.judge(request)
        if ruling.decision.decision == "allow" and self.require_approval:
            ruling = await self.approve(request) or Ruling(
                ToolDecision("deny", "an approval is required and nobody can give it"),
                "approval",
                code=ErrorCode.TOOL_APPROVAL_REQUIRED,
            )
        decision = ruling.decision
        await self._told(request, ruling)
        if decision.decision == "deny":
            told = ": ".join(text for text in (decision.reason, decision.message) if text) or "the policy denies it"
            details = {"tool": request.tool_name, "stage": ruling.stage, "rule_id": ruling.rule_id}
            raise ToolExecutionError(f"{request.tool_name}: {told}", code=ruling.code, details=details)
        return decision

    async def judge(self, request: ToolApprovalRequest) -> Ruling:
        """Lists and rules alone."""
        if request.tool_name in self.denied_tools:
            return Ruling(ToolDecision("deny", "the policy denies this tool"))
        if self.allowed_tools is not None and request.tool_name not in self.allowed_tools:
            return Ruling(ToolDecision("deny", "the policy does not allow this tool"))
        ruling = Ruling(ToolDecision("allow", "the policy lets it go on"))
        for rule in cast("Sequence[AuthorizationRule]", self.authorization_rules):
            ruling = Ruling(await _answer(rule.authorize, request, f"the rule {rule.id}"), "policy", rule.id)
            if ruling.decision.decision != "allow":
                break
        return ruling

    async def approve(self, request: ToolApprovalRequest) -> Ruling | None:
        """The handler's answer; None if there is no handler."""
        if self.approval_handler is None:
            return None
        return Ruling(await _answer(self.approval_handler, request, "the approval"), "approval")

    async def _told(self, request: ToolApprovalRequest, ruling: Ruling) -> None:
        if self.authorization_observer is None:
            return
        where = {name: _of(request.context, name) for name in _PLACE}
        decision = ruling.decision
        event = ToolAuthorizationEvent(
            request.tool_name, decision.decision, decision.reason, ruling.rule_id, ruling.stage,
            metadata=decision.metadata, **where,
        )  # fmt: skip
        try:
            answer = self.authorization_observer(event)
            if inspect.isawaitable(answer):
                await answer
        except Exception:
            return


_PLACE = ("session_id", "run_id", "iteration", "tool_use_id")


def _of(context: Any, name: str) -> Any:
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)


async def _answer(decide: Decide, request: ToolApprovalRequest, who: str) -> ToolDecision:
    try:
        said: Any = decide(request)
        return _read(await cast("Awaitable[Any]", said) if inspect.isawaitable(said) else said, who)
    except Exception as error:
        return ToolDecision("deny", f"{who} failed", f"{type(error).__name__}: {error}")


def _read(said: Any, who: str) -> ToolDecision:
    if isinstance(said, bool):
        return ToolDecision("allow" if said else "deny", f"{who} {'allows' if said else 'denies'} it")
    fields: Any = said
    if isinstance(said, ToolDecision):
        fields = {name: getattr(said, name) for name in _FIELDS}
    if not isinstance(fields, Mapping) or set(cast("Mapping[Any, Any]", fields)) - _FIELDS:
        return _unreadable(said, who)
    decision, reason, message, metadata = (fields.get(name) for name in _FIELD_NAMES)
    texts = reason or "", message or ""
    known = decision in ("allow", "deny", "redirect")
    if not known or not all(isinstance(text, str) for text in texts) or not isinstance(metadata or {}, Mapping):
        return _unreadable(said, who)
    if decision == "redirect" and not texts[1].strip():
        return ToolDecision("deny", f"{who} redirects without a message")
    verb = {"allow": "allows it", "deny": "denies it", "redirect": "gives another instruction"}[decision]
    return ToolDecision(decision, texts[0] or f"{who} {verb}", texts[1], metadata or {})


_FIELD_NAMES = ("decision", "reason", "message", "metadata")
_FIELDS = frozenset(_FIELD_NAMES)


def _unreadable(said: Any, who: str) -> ToolDecision:
    return ToolDecision("deny", f"{who} gave no answer that can be used", f"{said!r:.200}")


def _as_rule(value: Any) -> AuthorizationRule:
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        value = AuthorizationRule(fields.get("id", ""), fields["authorize"]) if "authorize" in fields else None
    if not isinstance(value, AuthorizationRule) or not callable(value.authorize):
        raise _refused("authorization_rules", 'must be AuthorizationRule objects or {"id", "authorize"}')
    if not isinstance(value.id, str) or not value.id:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refused("authorization_rules", "must have an id that is text")
    return value


def _refused(name: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"tool_policy.{name} {problem}", details={"field": f"tool_policy.{name}"})
