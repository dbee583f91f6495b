"""What a hook's output means.

A hook speaks through one JSON object, alone or among other lines. Known fields are honoured, others ignored, so that a
hook that echoes its input says nothing. A value that cannot be understood is a failure of the hook, never a yes;
a block beside it still blocks.

Format: "JSON output" of Claude Code's hooks reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agentframework._base.bounded import cut_middle, printable
from agentframework.hooks.json_text import find_objects
from agentframework.hooks.model import (
    MAX_CONTEXT_CHARACTERS,
    MAX_REASON_CHARACTERS,
    TRAITS,
    HookAnswer,
    HookEvent,
    HookFailedError,
    Verdict,
)

BLOCKED = "blocked by a hook"
# "defer" leaves the decision to somebody else, and that is who is asked.
_DECISIONS: Mapping[str, Verdict] = {
    "allow": "allow", "approve": "allow", "ask": "ask", "defer": "ask", "deny": "deny", "block": "deny",
}  # fmt: skip


def strength(verdict: Verdict | None) -> int:
    """Deny beats ask beats allow beats nothing said."""
    return 0 if verdict is None else ("allow", "ask", "deny").index(verdict) + 1


def read_output(event: HookEvent, text: str) -> HookAnswer:
    """The answer of a program that ended well and printed ``text``. Raises `HookFailedError`.

    All of the output has to be one object to allow, change or tell anything: what else a hook prints may quote what
    the model has written. Among other output only what holds back is taken: a block, a question, a stop.
    """
    text = text.removeprefix("\ufeff").strip()
    found = find_objects(text)
    if found.whole is not None:
        return read_object(event, found.whole)
    answers = [_what_is_said(event, fields) for fields in found.objects]
    held = [answer for answer in answers if answer.decision in ("deny", "ask") or answer.stop]
    if held:
        strongest = max(held, key=lambda answer: strength(answer.decision))
        return HookAnswer(strongest.decision, strongest.reason, stop=any(answer.stop for answer in held))
    if TRAITS[event].takes_text and text and not text.startswith("{"):
        return HookAnswer(context=bounded_context(text))
    if not found.readable:
        raise HookFailedError("its output holds JSON that cannot be read")
    if any(answer != HookAnswer() for answer in answers):
        raise HookFailedError("its JSON has to be one object and all that it prints, so it was not heeded")
    return HookAnswer()


def _what_is_said(event: HookEvent, fields: Mapping[str, Any]) -> HookAnswer:
    try:
        return read_object(event, fields)
    except HookFailedError as error:
        return HookAnswer(message=str(error))


def read_object(event: HookEvent, fields: Mapping[str, Any]) -> HookAnswer:
    """The answer in one output object. Raises `HookFailedError` for a field that cannot be understood."""
    reader = _Reader(event, fields)
    answer = reader.read()
    if reader.problems and answer.decision != "deny":
        raise HookFailedError("; ".join(reader.problems))
    return answer


@dataclass(slots=True)
class _Reader:
    event: HookEvent
    fields: Mapping[str, Any]
    problems: list[str] = field(default_factory=list[str])

    def read(self) -> HookAnswer:
        specific = self._specific()
        own = self._mapping(specific, "decision") if self.event is HookEvent.PERMISSION_REQUEST else {}
        goes_on = self._typed(self.fields, "continue", bool)
        verdicts: list[Verdict | None] = [
            self._decision(specific, "permissionDecision"),
            self._decision(self.fields, "permissionDecision"),
            self._decision(self.fields, "decision"),
            self._decision(own, "behavior"),
            "deny" if goes_on is False else None,
        ]
        decision = max(verdicts, key=strength)
        if decision != "deny" and not TRAITS[self.event].answers:
            decision = None
        reason = self._reason(specific, own) if decision is not None else ""
        updated = [self._updated(place) for place in (specific, own, self.fields)]
        return HookAnswer(
            decision,
            BLOCKED if decision == "deny" and not reason else reason,
            next((value for value in updated if value is not None), None),
            bounded_context(self._typed(specific, "additionalContext", str) or ""),
            bounded_reason(self._typed(self.fields, "systemMessage", str) or ""),
            goes_on is False,
        )

    def _specific(self) -> Mapping[str, Any]:
        specific = self._mapping(self.fields, "hookSpecificOutput")
        name = specific.get("hookEventName")
        if name is not None and name != self.event:
            self.problems.append(f"hookSpecificOutput is for {name!r:.40}, not {self.event}")
            return {"permissionDecision": "deny"} if _denies(specific.get("permissionDecision")) else {}
        return specific

    def _decision(self, place: Mapping[str, Any], key: str) -> Verdict | None:
        value = place.get(key)
        if value is None:
            return None
        found = _DECISIONS.get(value) if isinstance(value, str) else None
        if found is None:
            self.problems.append(f"{key} {value!r:.40} is not known")
        return found

    def _updated(self, place: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self._mapping(place, "updatedInput") if place.get("updatedInput") is not None else None

    def _reason(self, specific: Mapping[str, Any], own: Mapping[str, Any]) -> str:
        places = (
            (specific, "permissionDecisionReason"),
            (own, "message"),
            (self.fields, "permissionDecisionReason"),
            (self.fields, "reason"),
            (self.fields, "stopReason"),
        )
        texts = (place.get(key) for place, key in places)
        return bounded_reason(next((text for text in texts if isinstance(text, str) and text.strip()), ""))

    def _mapping(self, place: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self._typed(place, key, dict) or {})

    def _typed(self, place: Mapping[str, Any], key: str, kind: type) -> Any:
        value = place.get(key)
        if value is None or isinstance(value, kind):
            return value
        self.problems.append(f"{key} must be {_KINDS[kind]}, not {value!r:.40}")
        return None


_KINDS: Mapping[type, str] = {dict: "an object", bool: "true or false", str: "a text"}


def _denies(value: object) -> bool:
    return isinstance(value, str) and _DECISIONS.get(value) == "deny"


def read_verdict(value: object) -> HookAnswer:
    """The answer ``{"ok": true}`` or ``{"ok": false, "reason": "…"}``. Raises `HookFailedError` for anything else.

    ``ok`` true is no objection; it allows nothing that is not allowed anyway.
    """
    fields = cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
    verdict, reason = fields.get("ok"), fields.get("reason")
    if not isinstance(verdict, bool):
        raise HookFailedError(f'its answer must be {{"ok": true}} or {{"ok": false, "reason": "…"}}, not {value!r:.80}')
    if verdict:
        return HookAnswer()
    return HookAnswer("deny", bounded_reason(reason) if isinstance(reason, str) and reason.strip() else BLOCKED)


def bounded_context(text: str) -> str:
    """Text for the model within its limit, fit for a request."""
    return printable(cut_middle(text.strip(), MAX_CONTEXT_CHARACTERS))


def bounded_reason(text: str) -> str:
    """A reason within its limit, fit for a request."""
    return printable(cut_middle(text.strip(), MAX_REASON_CHARACTERS))
