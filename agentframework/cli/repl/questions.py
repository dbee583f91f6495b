"""Permission requests and questions that wait for the person, one at a time.

A panel is what the person sees and how keys and lines answer it; it knows no terminal. `Questions` keeps the open
ones in order and tells the session. Above: the terminal and the plain mode.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentframework.cli.view_text import one_line
from agentframework.events import AskRequest, PermissionRequest, PromptResolved
from agentframework.permissions import PermissionAnswer

CheckRule = Callable[[str], str | None]
PanelLine = tuple[str, str]


class Panel(Protocol):
    """One open question. ``wants_line`` says that it is answered by a line instead of a key."""

    @property
    def wants_line(self) -> bool: ...

    @property
    def prefill(self) -> str:
        """What the line holds to begin with."""
        ...

    def lines(self, *, marked: bool = True) -> list[PanelLine]:
        """What to show, each line with its style; ``marked`` shows which choice Enter would take."""
        ...

    def key(self, name: str) -> bool:
        """A key; True if it means something here."""
        ...

    def line(self, text: str) -> bool:
        """A line was entered; True if it is an answer, False if it has to be put right."""
        ...

    def cancel(self) -> None:
        """The person wants none of it: one step back, or a no."""
        ...


class PermissionPanel:
    """``y`` once, ``n`` no, ``a`` this session, ``p`` this project, ``e`` edit the rule, Enter what is marked.

    Of these only what the request allows: what is asked about every time is allowed once.
    """

    _CHOICES = (
        ("y", "yes, once"),
        ("n", "no"),
        ("a", "yes, this call for the session"),
        ("p", "yes, this call for the project"),
        ("e", "yes, by a rule"),
    )
    _SCOPES: Mapping[str, str] = {"a": "session", "p": "project", "e": "session"}
    _ANSWERS: Mapping[str, tuple[bool | str, str]] = {
        "y": (True, "Allowed once."),
        "n": (False, "Refused."),
        "a": ("allow-session", "Allowed, and the same call again in this session."),
        "p": ("allow-project", "Allowed, and the same call again in this project."),
    }

    def __init__(
        self,
        event: PermissionRequest,
        answer: Callable[[bool | str | PermissionAnswer, str], None],
        check_rule: CheckRule,
    ) -> None:
        self.event = event
        self._answer = answer
        self._check_rule = check_rule
        self._marked = 0
        self._problem = ""
        self._choices = [(key, text) for key, text in self._CHOICES if self._SCOPES.get(key, "once") in event.scopes]
        self.wants_line = False

    @property
    def prefill(self) -> str:
        """The narrowest rule that was suggested."""
        return self.event.suggestions[0] if self.event.suggestions else self.event.tool_name

    def lines(self, *, marked: bool = True) -> list[PanelLine]:
        """The choices, or what the edited rule is for."""
        if self.wants_line:
            lines = [("Allow in this session what this rule covers (Enter confirms, Esc goes back):", "bold yellow")]
            lines += [(f"  for example {rule}", "dim") for rule in self.event.suggestions[1:]]
            return lines + ([(f"  {self._problem}", "red")] if self._problem else [])
        found: list[PanelLine] = [(f"Allow {self.event.tool_name}?", "bold yellow")]
        for place, (key, text) in enumerate(self._choices):
            shown = f"{text}: {one_line(self.prefill)}" if key == "e" else text
            here = marked and place == self._marked
            found.append((f"{'>' if here else ' '} {key}  {shown}", "bold" if here else ""))
        return found

    def key(self, name: str) -> bool:
        """A letter answers at once; up, down and enter choose."""
        if name in ("up", "down"):
            self._marked = (self._marked + (1 if name == "down" else -1)) % len(self._choices)
            return True
        if name == "enter":
            name = self._choices[self._marked][0]
        if name not in (key for key, _ in self._choices):
            return False
        if name == "e":
            self.wants_line = True
        else:
            self._answer(*self._ANSWERS[name])
        return True

    def line(self, text: str) -> bool:
        """The edited rule."""
        rule = text.strip()
        self._problem = self._check_rule(rule) or ""
        if self._problem:
            return False
        answer = PermissionAnswer(True, scope="session", rule=rule)
        self._answer(answer, f"Allowed, and whatever {rule} covers in this session.")
        return True

    def cancel(self) -> None:
        """Back from the rule to the choices, or no."""
        if self.wants_line:
            self.wants_line, self._problem = False, ""
        else:
            self._answer(*self._ANSWERS["n"])


class AskPanel:
    """Questions of a tool, one after the other, each answered by numbers or in own words."""

    wants_line = True
    prefill = ""

    def __init__(self, event: AskRequest, answer: Callable[[list[dict[str, Any]], str], None]) -> None:
        self.event = event
        self._answer = answer
        self._given: list[dict[str, Any]] = []
        self._problem = ""

    @property
    def _question(self) -> Mapping[str, Any]:
        return self.event.questions[len(self._given)]

    @property
    def _labels(self) -> list[str]:
        return [str(option.get("label", option)) for option in self._question.get("options", ())]

    @property
    def _text(self) -> str:
        return str(self._question.get("question", ""))

    def lines(self, *, marked: bool = True) -> list[PanelLine]:
        """The question, its options by number, and how to answer."""
        question = self._question
        header = f"[{one_line(str(question['header']))}] " if question.get("header") else ""
        found: list[PanelLine] = [(f"? {header}{one_line(self._text)}", "bold yellow")]
        for number, (label, option) in enumerate(zip(self._labels, question.get("options", ()), strict=True), 1):
            about = one_line(str(option.get("description") or ""))
            found.append((f"  {number}  {one_line(label)}{f'  {about}' if about else ''}", ""))
        found.append((self._how(), "dim"))
        return found + ([(self._problem, "red")] if self._problem else [])

    def _how(self) -> str:
        many = "numbers, with commas between them" if self._question.get("multiSelect") else "a number"
        if not self._labels:
            how = "Type your answer"
        elif self._free:
            how = f"Type {many}, or an answer of your own"
        else:
            how = f"Type {many}"
        left = len(self.event.questions) - len(self._given) - 1
        return f"{how}; Esc does not answer.{f' {left} more to come.' if left else ''}"

    @property
    def _free(self) -> bool:
        return bool(self._question.get("allowFreeText", True)) or not self._labels

    def key(self, name: str) -> bool:
        """Keys go to the line."""
        return False

    def line(self, text: str) -> bool:
        """An answer to the current question."""
        words = text.strip()
        chosen = self._chosen(words) if words else None
        if not words or (chosen is None and not self._free):
            most = len(self._labels)
            self._problem = f"Please choose from 1 to {most}." if most else "Please type an answer."
            return False
        given: dict[str, Any] = {"values": chosen} if chosen is not None else {"values": [], "text": words}
        self._problem = ""
        self._given.append({"question": self._text, **given})
        if len(self._given) == len(self.event.questions):
            self._answer(self._given, self._said())
        return True

    def _chosen(self, words: str) -> list[str] | None:
        """The labels meant by numbers or by a label itself; None for anything else."""
        labels = self._labels
        for label in labels:
            if label.lower() == words.lower():
                return [label]
        numbers = [piece.strip() for piece in words.split(",")]
        if not all(number.isdecimal() and 1 <= int(number) <= len(labels) for number in numbers):
            return None
        if len(numbers) > 1 and not self._question.get("multiSelect"):
            return None
        return [labels[int(number) - 1] for number in dict.fromkeys(numbers)]

    def _said(self) -> str:
        """What was asked and answered, for the transcript."""
        lines: list[str] = []
        for entry in self._given:
            answer = ", ".join([*entry.get("values", ()), *([entry["text"]] if "text" in entry else [])])
            lines.append(f"? {one_line(str(entry['question']))}\n  {one_line(answer) or 'not answered'}")
        return "\n".join(lines)

    def cancel(self) -> None:
        """This question and those to come stay without an answer."""
        left = self.event.questions[len(self._given) :]
        missing = [{"question": str(question.get("question", "")), "cancelled": True} for question in left]
        self._given += missing
        self._answer(self._given, self._said())


class Answerable(Protocol):
    """What is needed of a session."""

    def resolve_permission(self, id: str, answer: bool | str | PermissionAnswer) -> None: ...

    def resolve_ask(self, id: str, response: Any) -> None: ...


@dataclass(slots=True)
class Questions:
    """The open questions in order. ``opened`` is called when one becomes current, ``closed`` when the person has
    answered it, with what to say about it, and ``changed`` after everything."""

    session: Answerable
    check_rule: CheckRule
    opened: Callable[[Panel], None]
    closed: Callable[[str], None]
    changed: Callable[[], None]
    _open: list[tuple[str, Panel]] = field(default_factory=list[tuple[str, Panel]])
    _announced: Panel | None = None

    @property
    def current(self) -> Panel | None:
        """The one that is shown."""
        return self._open[0][1] if self._open else None

    def permission(self, event: PermissionRequest) -> None:
        """A call waits for an answer."""

        def answer(given: bool | str | PermissionAnswer, said: str) -> None:
            self._close(event.id, said)
            self.session.resolve_permission(event.id, given)

        self._add(event.id, PermissionPanel(event, answer, self.check_rule))

    def ask(self, event: AskRequest) -> None:
        """A tool has questions."""

        def answer(given: list[dict[str, Any]], said: str) -> None:
            self._close(event.id, said)
            self.session.resolve_ask(event.id, given)

        self._add(event.id, AskPanel(event, answer))

    def _add(self, prompt_id: str, panel: Panel) -> None:
        self._open.append((prompt_id, panel))
        self._announce()

    def _close(self, prompt_id: str, said: str) -> None:
        self._open = [entry for entry in self._open if entry[0] != prompt_id]
        self.closed(said)

    def _announce(self) -> None:
        current = self.current
        if current is not self._announced:
            self._announced = current
            if current is not None:
                self.opened(current)
        self.changed()

    def resolved(self, event: PromptResolved) -> None:
        """A question is settled: by the person, by somebody else, or because the turn ended."""
        self._open = [entry for entry in self._open if entry[0] != event.id]
        self._announce()
