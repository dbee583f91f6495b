from dataclasses import replace
from typing import Any

import pytest

from agentframework import PermissionAnswer
from agentframework.cli.repl.questions import AskPanel, Panel, PermissionPanel, Questions
from agentframework.events import AskRequest, PermissionRequest, PromptResolved

STAMP = ("session", "turn", 1, 0.0)


def permission(prompt_id: str = "p1", suggestions: tuple[str, ...] = ("Bash(git log:*)", "Bash(git:*)")):
    return PermissionRequest(*STAMP, prompt_id, "Bash", {"command": "git log"}, "c1", "why", suggestions, None)


def ask(*questions: dict[str, Any], prompt_id: str = "a1") -> AskRequest:
    return AskRequest(*STAMP, prompt_id, questions, None)


class Desk:
    """A session that only remembers its answers, with its open questions."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Any]] = []
        self.told: list[str] = []
        self.questions = Questions(self, self._check, self._opened, self.told.append, lambda: None)

    def resolve_permission(self, id: str, answer: Any) -> None:
        self.answers.append((id, answer))
        self.questions.resolved(PromptResolved(*STAMP, id, None))

    def resolve_ask(self, id: str, response: Any) -> None:
        self.resolve_permission(id, response)

    def _opened(self, panel: Panel) -> None:
        self.told.append(f"opened {panel.event.id}")  # type: ignore[attr-defined]

    def _check(self, rule: str) -> str | None:
        return None if rule.endswith(")") else "the rule is broken"

    @property
    def panel(self) -> Panel:
        assert self.questions.current is not None
        return self.questions.current


@pytest.mark.parametrize(
    ("key", "answer"), [("y", True), ("n", False), ("a", "allow-session"), ("p", "allow-project"), ("enter", True)]
)
def test_a_key_answers_at_once(key: str, answer: Any) -> None:
    desk = Desk()
    desk.questions.permission(permission())
    assert desk.panel.key(key)
    assert desk.answers == [("p1", answer)]
    assert desk.questions.current is None


@pytest.mark.parametrize("key", ["", "x", "yes"])
def test_another_key_means_nothing(key: str) -> None:
    desk = Desk()
    desk.questions.permission(permission())
    assert not desk.panel.key(key)
    assert desk.answers == []


def test_enter_takes_what_is_marked() -> None:
    desk = Desk()
    desk.questions.permission(permission())
    assert desk.panel.lines()[1][0] == "> y  yes, once"
    desk.panel.key("down")
    assert desk.panel.lines()[2][0] == "> n  no"
    desk.panel.key("enter")
    assert desk.answers == [("p1", False)]


def test_the_marks_go_round() -> None:
    desk = Desk()
    desk.questions.permission(permission())
    desk.panel.key("up")
    assert desk.panel.lines()[-1][0].startswith("> e  ")
    desk.panel.key("down")
    assert desk.panel.lines()[1][0] == "> y  yes, once"


def test_escape_is_a_no() -> None:
    desk = Desk()
    desk.questions.permission(permission())
    desk.panel.cancel()
    assert desk.answers == [("p1", False)]


def test_the_rule_is_edited_checked_and_confirmed() -> None:
    desk = Desk()
    desk.questions.permission(permission())
    panel = desk.panel
    assert not panel.wants_line
    panel.key("e")
    assert panel.wants_line
    assert panel.prefill == "Bash(git log:*)"
    assert any("Bash(git:*)" in text for text, _style in panel.lines())
    assert not panel.line("Bash(")
    assert any("the rule is broken" in text for text, _style in panel.lines())
    assert panel.line(" Bash(git:*) ")
    assert desk.answers == [("p1", PermissionAnswer(True, scope="session", rule="Bash(git:*)"))]


def test_escape_leads_from_the_rule_back_to_the_choices() -> None:
    desk = Desk()
    desk.questions.permission(permission())
    panel = desk.panel
    panel.key("e")
    panel.cancel()
    assert not panel.wants_line
    assert desk.answers == []
    panel.cancel()
    assert desk.answers == [("p1", False)]


def test_without_a_suggestion_the_rule_begins_as_the_name() -> None:
    desk = Desk()
    desk.questions.permission(permission(suggestions=()))
    assert desk.panel.prefill == "Bash"


def test_questions_come_one_after_the_other_and_each_is_announced_when_it_comes() -> None:
    desk = Desk()
    desk.questions.permission(permission("p1"))
    desk.questions.permission(permission("p2"))
    assert desk.told == ["opened p1"]
    desk.panel.key("y")
    assert desk.told == ["opened p1", "Allowed once.", "opened p2"]
    desk.panel.key("n")
    assert desk.answers == [("p1", True), ("p2", False)]


def test_a_question_that_somebody_else_settled_goes_away() -> None:
    desk = Desk()
    desk.questions.permission(permission("p1"))
    desk.questions.permission(permission("p2"))
    desk.questions.resolved(PromptResolved(*STAMP, "p1", "bob"))
    assert desk.told == ["opened p1", "opened p2"]
    desk.questions.resolved(PromptResolved(*STAMP, "p2", None))
    assert desk.questions.current is None
    assert desk.answers == []


COLOURS = {"question": "Colour?", "options": [{"label": "red"}, {"label": "blue"}, {"label": "3"}]}


@pytest.mark.parametrize(
    ("question", "typed", "given"),
    [
        (COLOURS, "2", {"values": ["blue"]}),
        (COLOURS, "RED", {"values": ["red"]}),
        (COLOURS, "green", {"values": [], "text": "green"}),
        (COLOURS, "1, 2", {"values": [], "text": "1, 2"}),
        (COLOURS, "4", {"values": [], "text": "4"}),
        ({**COLOURS, "multiSelect": True}, "2, 1,2", {"values": ["blue", "red"]}),
        ({"question": "Colour?", "options": []}, " any ", {"values": [], "text": "any"}),
        ({"question": "Colour?", "options": [], "allowFreeText": False}, "any", {"values": [], "text": "any"}),
    ],
)
def test_an_answer_is_a_number_a_label_or_ones_own_words(question, typed, given) -> None:
    desk = Desk()
    desk.questions.ask(ask(question))
    assert desk.panel.wants_line
    assert desk.panel.line(typed)
    assert desk.answers == [("a1", [{"question": "Colour?", **given}])]


@pytest.mark.parametrize("typed", ["green", "0", "4", "1,2", " "])
def test_where_only_options_count_anything_else_is_asked_again(typed: str) -> None:
    desk = Desk()
    desk.questions.ask(ask({**COLOURS, "allowFreeText": False}))
    assert not desk.panel.line(typed)
    assert desk.panel.lines()[-1][0] == "Please choose from 1 to 3."
    assert desk.answers == []


def test_several_questions_are_answered_in_order() -> None:
    desk = Desk()
    desk.questions.ask(ask(COLOURS, {"question": "Size?"}))
    panel = desk.panel
    assert isinstance(panel, AskPanel)
    assert "1 more to come" in panel.lines()[-1][0]
    panel.line("1")
    assert panel.lines()[0][0] == "? Size?"
    panel.line("big")
    assert desk.answers[0][1] == [
        {"question": "Colour?", "values": ["red"]},
        {"question": "Size?", "values": [], "text": "big"},
    ]
    assert desk.told[-1] == "? Colour?\n  red\n? Size?\n  big"


def test_escape_leaves_the_rest_unanswered() -> None:
    desk = Desk()
    desk.questions.ask(ask(COLOURS, {"question": "Size?"}))
    desk.panel.line("1")
    desk.panel.cancel()
    assert desk.answers[0][1] == [
        {"question": "Colour?", "values": ["red"]},
        {"question": "Size?", "cancelled": True},
    ]


def test_a_permission_panel_shows_no_mark_where_enter_takes_none() -> None:
    panel = PermissionPanel(permission(), lambda _answer, _said: None, lambda _rule: None)
    assert not any(text.startswith(">") for text, _style in panel.lines(marked=False))


def test_what_is_asked_about_every_time_offers_only_once() -> None:
    answers: list[object] = []
    event = replace(permission(), scopes=("once",))
    panel = PermissionPanel(event, lambda answer, _said: answers.append(answer), lambda _rule: None)
    shown = [text.split()[0 if not text.startswith(">") else 1] for text, _style in panel.lines()[1:]]
    assert shown == ["y", "n"]
    assert not any(panel.key(name) for name in ("a", "p", "e"))
    panel.key("down")
    panel.key("enter")
    assert answers == [False]
