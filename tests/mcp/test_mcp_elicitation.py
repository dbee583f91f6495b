from types import SimpleNamespace
from typing import Any

import pytest

from agentframework.mcp.elicitation import questions_of, result_of

FIELDS = {
    "name": {"type": "string", "title": "Your name"},
    "age": {"type": "integer"},
    "sure": {"type": "boolean"},
    "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
    "sizes": {"type": "array", "items": {"anyOf": [{"const": 1, "title": "Small"}, {"const": 2, "title": "Big"}]}},
    "city": {"type": "string", "default": "Ghent"},
}


def form(properties: Any, required: tuple[str, ...] = ()) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return SimpleNamespace(mode="form", message="Who are you?", requested_schema=schema)


def test_a_form_becomes_one_question_a_field_and_its_answers_the_content() -> None:
    params = form(FIELDS, ("name", "age"))
    questions = questions_of("crm", params)
    assert [one["header"] for one in questions] == ["Your name", "age", "sure", "colour", "sizes", "city"]
    assert all(one["question"].startswith("MCP server crm asks: Who are you? – ") for one in questions)
    assert [option["label"] for option in questions[3]["options"]] == ["Red", "Green"]
    assert [one["allowFreeText"] for one in questions] == [True, True, False, False, False, True]
    answers = ["Ada", "36", "Yes", "Green", ["Small", "Big"], None]
    assert result_of(params, questions, answers) == {
        "action": "accept",
        "content": {"name": "Ada", "age": 36, "sure": True, "colour": "g", "sizes": [1, 2], "city": "Ghent"},
    }


@pytest.mark.parametrize("answers", [None, [None, "36"], ["Ada", None], ["Ada", "many"], []])
def test_a_form_that_is_not_filled_in_is_cancelled(answers: Any) -> None:
    params = form({"name": {"type": "string"}, "age": {"type": "integer"}}, ("name", "age"))
    assert result_of(params, questions_of("crm", params), answers) == {"action": "cancel"}


def test_an_address_is_shown_whole_and_only_a_web_address() -> None:
    params = SimpleNamespace(mode="url", message="Log in.", url="https://example.com/login?x=1", requested_schema=None)
    questions = questions_of("crm", params)
    assert "https://example.com/login?x=1" in questions[0]["question"]
    assert result_of(params, questions, ["I have opened it"]) == {"action": "accept"}
    assert result_of(params, questions, ["Decline"]) == {"action": "decline"}
    assert result_of(params, questions, ["what?"]) == {"action": "cancel"}
    bad = SimpleNamespace(mode="url", message="Log in.", url="javascript:alert(1)", requested_schema=None)
    assert questions_of("crm", bad) == []
    assert result_of(bad, [], None) == {"action": "cancel"}


def test_a_question_without_fields_is_answered_with_yes_or_no() -> None:
    params = form({})
    questions = questions_of("crm", params)
    assert result_of(params, questions, ["Continue"]) == {"action": "accept"}
    assert result_of(params, questions, ["Decline"]) == {"action": "decline"}
