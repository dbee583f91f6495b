"""The tool ``AskUserQuestion``: puts questions to the person and brings back the answers."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agentframework.tools import AskUnavailableError, RiskClass, Tool, ToolContext, ToolResult, error_result

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
    answers = [_answer(text, given) for text, given in zip(texts, _by_question(response, texts), strict=True)]
    return _json({"answers": answers})


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


def _by_question(response: Any, texts: Sequence[str]) -> list[Any]:
    """The response split by question, None where there is no answer.

    It may be a list in the order of the questions or of answers that name theirs, a mapping by question text, any of
    them under ``answers``, one answer for one question, or None.
    """
    if isinstance(response, Mapping) and "answers" in response and "answers" not in texts:
        response = cast("Mapping[str, Any]", response)["answers"]
    if isinstance(response, Mapping):
        if len(texts) == 1 and texts[0] not in response and _ANSWER_KEYS & set(response):
            return [response]
        return [cast("Mapping[str, Any]", response).get(text) for text in texts]
    if isinstance(response, list | tuple):
        given = list(cast("Sequence[Any]", response))
        if given and all(isinstance(entry, Mapping) and entry.get("question") in texts for entry in given):
            named = {entry["question"]: entry for entry in given}
            return [named.get(text) for text in texts]
        if len(texts) == 1 and len(given) > 1:
            given = [given]  # several choices for the one question
    else:
        given = [response]
    return [*given, *[None] * len(texts)][: len(texts)]


_ANSWER_KEYS = {"values", "text", "cancelled"}


def _answer(question: str, given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        fields = cast("Mapping[str, Any]", given)
        values = _strings(fields.get("values"))
        text = fields.get("text")
        if fields.get("cancelled") or (not values and not text):
            return {"question": question, "cancelled": True}
        answer: dict[str, Any] = {"question": question, "values": values}
        if text:
            answer["text"] = str(text)
        return answer
    values = _strings(given)
    return {"question": question, "values": values} if values else {"question": question, "cancelled": True}


def _strings(given: Any) -> list[str]:
    if given is None:
        return []
    many = cast("Sequence[Any]", given) if isinstance(given, list | tuple) else [given]
    return [
        value if isinstance(value, str) else json.dumps(value, default=str) for value in many if value not in (None, "")
    ]
