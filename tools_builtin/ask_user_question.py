"""The tool ``AskUserQuestion``: puts questions to the person and brings back the answers."""

import json
from collections.abc import Mapping
from typing import Any

from agentframework.tools import AskUnavailableError, RiskClass, Tool, ToolContext, ToolResult, error_result
from agentframework.tools.answers import answers_by_question

MAX_QUESTIONS = 4

_TEXT = {"type": "string", "minLength": 1}
_OPTION = {
    "anyOf": [
        _TEXT,
        {
            "type": "object",
            "properties": {"label": _TEXT, "description": {"type": "string"}},
            "required": ["label"],
            "additionalProperties": False,
        },
    ]
}
_QUESTION = {
    "type": "object",
    "properties": {
        "question": {**_TEXT, "description": "The question itself, complete and ending in a question mark."},
        "header": {"type": "string", "description": "A word or two to show above it."},
        "options": {"type": "array", "items": _OPTION, "description": "Answers to choose from."},
        "multiSelect": {"type": "boolean", "description": "Whether several options may be chosen; false if absent."},
        "allowFreeText": {
            "type": "boolean",
            "description": "Whether an answer in own words is welcome; true if absent.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"questions": {"type": "array", "minItems": 1, "maxItems": MAX_QUESTIONS, "items": _QUESTION}},
    "required": ["questions"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    f"Ask the person 1 to {MAX_QUESTIONS} questions and wait for the answers, when you cannot go on without a decision "
    'that is theirs. The result is JSON: {"answers": [{"question", "values", "text"?} or {"question", "cancelled": '
    'true}]}, or {"unavailable": true, "reason"} if nobody is there to answer; then decide yourself.'
)


def ask_user_question_tool() -> Tool:
    """``AskUserQuestion(questions)``."""
    return Tool("AskUserQuestion", _DESCRIPTION, _SCHEMA, _run, RiskClass.INSPECT, None)


async def _run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    questions = [_complete(question) for question in arguments["questions"]]
    if not all(question["question"].strip() for question in questions):
        return error_result("a question is empty")
    try:
        response = await context.ask(questions)
    except AskUnavailableError as error:
        return _json({"unavailable": True, "reason": str(error)})
    texts = [question["question"] for question in questions]
    return _json({"answers": answers_by_question(response, texts)})


def _json(data: dict[str, Any]) -> ToolResult:
    return ToolResult(json.dumps(data, ensure_ascii=False), structured=data)


def _complete(question: Mapping[str, Any]) -> dict[str, Any]:
    """The question with every field there, so that whoever shows it need not know the defaults."""
    options = [{"label": option} if isinstance(option, str) else dict(option) for option in question.get("options", ())]
    return {
        "question": question["question"],
        "header": question.get("header", ""),
        "options": options,
        "multiSelect": question.get("multiSelect", False),
        "allowFreeText": question.get("allowFreeText", True),
    }
