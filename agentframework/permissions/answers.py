"""Answers to permission requests. Whatever is not clearly a yes is a no."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from agentframework.events.tool import AnswerScope

Answerer = Literal["person", "hook", "nobody"]


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """An answer in full; ``True``, ``False``, ``"allow-session"`` and ``"allow-project"`` are short for the usual ones.

    ``scope`` says how long a yes holds for this very call, or for ``rule`` (such as ``Bash(npm test:*)``) if given.
    ``message`` goes to the model with a no. ``updated_input`` replaces the call's arguments.
    """

    allow: bool
    scope: AnswerScope = "once"
    rule: str | None = None
    message: str | None = None
    updated_input: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, and who gave it; with ``nobody`` it is a no."""

    answer: PermissionAnswer
    by: Answerer


_SHORT = {
    "allow-session": PermissionAnswer(True, "session"),
    "allow-project": PermissionAnswer(True, "project"),
}


def read_answer(raw: object) -> tuple[PermissionAnswer, str | None]:
    """The answer that ``raw`` stands for, and what is wrong with it (then it denies)."""
    if isinstance(raw, bool):
        return PermissionAnswer(raw), None
    if isinstance(raw, str) and raw in _SHORT:
        return _SHORT[raw], None
    if isinstance(raw, PermissionAnswer):
        problem = _problem(raw)
        return (raw, None) if problem is None else _refused(problem)
    return _refused(
        f"{raw!r:.200} is no answer; answer True, False, 'allow-session', 'allow-project' or a PermissionAnswer"
    )


def _refused(problem: str) -> tuple[PermissionAnswer, str]:
    return PermissionAnswer(False, message=f"the answer could not be used: {problem}"), problem


def _problem(answer: PermissionAnswer) -> str | None:
    # Typed fields of an object from outside may still hold anything.
    values = cast("dict[str, object]", {name: getattr(answer, name) for name in PermissionAnswer.__slots__})
    if not isinstance(values["allow"], bool):
        return f"allow must be True or False, not {values['allow']!r:.200}"
    if values["scope"] not in ("once", "session", "project"):
        return f"scope must be once, session or project, not {values['scope']!r:.200}"
    for name in ("rule", "message"):
        if not isinstance(values[name], str | None):
            return f"{name} must be a text, not {values[name]!r:.200}"
    if not isinstance(values["updated_input"], Mapping | None):
        return f"updated_input must be an object, not {values['updated_input']!r:.200}"
    return None
