"""AskUserQuestion, with a person played by the test."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentframework.tools import AskUnavailableError, ToolContext, ToolResult
from agentframework.tools.schema import check_arguments
from tools_builtin.ask_user_question import ask_user_question_tool

Call = Callable[..., Awaitable[ToolResult]]
MakeContext = Callable[..., ToolContext]

TWO = [{"question": "Colour?", "options": ["red", {"label": "blue", "description": "calm"}]}, {"question": "Why?"}]
RED = {"question": "Colour?", "values": ["red"]}
BOTH = {"question": "Colour?", "values": ["red", "blue"]}
BECAUSE = {"question": "Why?", "values": ["because"]}


def _cancelled(question: str) -> dict[str, Any]:
    return {"question": question, "cancelled": True}


@pytest.fixture
def answered(call: Call, make_context: MakeContext, tmp_path: Path) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    async def answered(questions: list[dict[str, Any]], response: Any) -> list[dict[str, Any]]:
        async def ask(asked: Sequence[Mapping[str, Any]]) -> Any:
            return response

        result = await call(ask_user_question_tool(), make_context(tmp_path, ask=ask), questions=questions)
        assert not result.is_error
        assert json.loads(result.content) == result.structured
        return result.structured["answers"]

    return answered


def test_the_tool_says_what_it_is() -> None:
    tool = ask_user_question_tool()
    assert (tool.name, tool.risk, tool.permission_key) == ("AskUserQuestion", "inspect", None)


@pytest.mark.parametrize(
    "questions",
    [
        [], [{"question": "?"}] * 5, [{}], [{"question": ""}], [{"question": 1}], ["?"], "?",
        [{"question": "?", "option": []}], [{"question": "?", "options": [1]}],
        [{"question": "?", "options": [{"description": "no label"}]}],
    ],
)  # fmt: skip
def test_other_questions_are_refused(questions: object) -> None:
    assert check_arguments(ask_user_question_tool().input_schema, {"questions": questions}) is not None


async def test_whoever_shows_the_questions_gets_every_field(
    call: Call, make_context: MakeContext, tmp_path: Path
) -> None:
    seen: list[Mapping[str, Any]] = []

    async def ask(questions: Sequence[Mapping[str, Any]]) -> Any:
        seen.extend(questions)
        return None

    await call(ask_user_question_tool(), make_context(tmp_path, ask=ask), questions=TWO)
    options = [{"label": "red"}, {"label": "blue", "description": "calm"}]
    rest = {"header": "", "multiSelect": False, "allowFreeText": True}
    assert seen == [
        {"question": "Colour?", "options": options, **rest},
        {"question": "Why?", "options": [], **rest},
    ]


@pytest.mark.parametrize(
    ("response", "answers"),
    [
        (["red", "because"], [RED, BECAUSE]),
        (("red", "because"), [RED, BECAUSE]),
        ([["red", "blue"], "because"], [BOTH, BECAUSE]),
        ({"Colour?": "red", "Why?": "because"}, [RED, BECAUSE]),
        ({"Why?": ["because"], "Colour?": {"values": ["red", "blue"]}}, [BOTH, BECAUSE]),
        ({"answers": ["red", "because"]}, [RED, BECAUSE]),
        ({"answers": [BECAUSE, RED]}, [RED, BECAUSE]),
        ([BECAUSE, RED], [RED, BECAUSE]),
        (["red"], [RED, _cancelled("Why?")]),
        (["red", None], [RED, _cancelled("Why?")]),
        (["red", ""], [RED, _cancelled("Why?")]),
        ({"Why?": "because"}, [_cancelled("Colour?"), BECAUSE]),
        ([{"cancelled": True}, "because"], [_cancelled("Colour?"), BECAUSE]),
        (["red", {"text": "long story"}], [RED, {"question": "Why?", "values": [], "text": "long story"}]),
        (None, [_cancelled("Colour?"), _cancelled("Why?")]),
        ([], [_cancelled("Colour?"), _cancelled("Why?")]),
        ({}, [_cancelled("Colour?"), _cancelled("Why?")]),
        ("red", [RED, _cancelled("Why?")]),
        (["red", "because", "too many"], [RED, BECAUSE]),
    ],
)
async def test_a_response_of_any_shape_becomes_answers(
    answered: Callable[..., Awaitable[list[dict[str, Any]]]], response: Any, answers: list[dict[str, Any]]
) -> None:
    assert await answered(TWO, response) == answers


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("red", RED),
        (["red"], RED),
        (["red", "blue"], BOTH),
        ([["red", "blue"]], BOTH),
        ({"Colour?": "red"}, RED),
        ({"values": ["red"]}, RED),
        ({"values": ["red"], "text": "dark"}, {**RED, "text": "dark"}),
        ({"text": "green"}, {"question": "Colour?", "values": [], "text": "green"}),
        ({"cancelled": True}, _cancelled("Colour?")),
        (7, {"question": "Colour?", "values": ["7"]}),
        (True, {"question": "Colour?", "values": ["true"]}),
        (None, _cancelled("Colour?")),
        ({"unrelated": "x"}, _cancelled("Colour?")),
    ],
)
async def test_a_single_question_may_be_answered_plainly(
    answered: Callable[..., Awaitable[list[dict[str, Any]]]], response: Any, answer: dict[str, Any]
) -> None:
    assert await answered(TWO[:1], response) == [answer]


async def test_nobody_there_is_a_result_that_says_so(call: Call, make_context: MakeContext, tmp_path: Path) -> None:
    async def ask(questions: Sequence[Mapping[str, Any]]) -> Any:
        raise AskUnavailableError("no listener for ask_request")

    result = await call(ask_user_question_tool(), make_context(tmp_path, ask=ask), questions=TWO)
    assert not result.is_error
    assert json.loads(result.content) == {"unavailable": True, "reason": "no listener for ask_request"}


async def test_a_blank_question_is_not_asked(call: Call, make_context: MakeContext, tmp_path: Path) -> None:
    async def ask(questions: Sequence[Mapping[str, Any]]) -> Any:
        raise AssertionError("asked")

    result = await call(ask_user_question_tool(), make_context(tmp_path, ask=ask), questions=[{"question": " "}])
    assert result.content == "Error: a question is empty"
