"""What a person answered to questions, in one form, however the host's interface put it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast


def answers_by_question(response: Any, texts: Sequence[str]) -> list[dict[str, Any]]:
    """For each question in ``texts`` ``{"question", "values", "text"?}`` or ``{"question", "cancelled": True}``."""
    given = _by_question(response, texts)
    return [_answer(text, one) for text, one in zip(texts, given, strict=True)]


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
