"""The tool AskUserQuestion in a session: a person who answers, declines, stops the turn, or is not there."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession
from agentframework.events import AskRequest
from agentframework.messages import ToolMessage
from agentframework.testing import ScriptedProvider, call, say

WAIT_S = 30
QUESTIONS = [
    {"question": "Which colours?", "options": ["red", {"label": "blue", "description": "calm"}], "multiSelect": True},
    {"question": "Why?", "allowFreeText": True},
]


def cancelled(*questions: str) -> list[dict[str, Any]]:
    return [{"question": question, "cancelled": True} for question in questions]


async def asked(folder: Path, answer: Callable[[InteractiveSession, AskRequest], object] | None, **options: Any) -> Any:
    """What the tool told the model, as data."""
    provider = ScriptedProvider(say(call("AskUserQuestion", questions=QUESTIONS)), "Thanks.")
    async with asyncio.timeout(WAIT_S), InteractiveSession(cwd=folder, provider=provider, **options) as session:
        if answer is not None:
            session.on(AskRequest, lambda event: answer(session, event))
        await (await session.submit("go")).completed
        (part,) = [message.content[0] for message in session.get_messages() if isinstance(message, ToolMessage)]
        assert not part.is_error
        return json.loads(part.content)


@pytest.mark.parametrize("mode", ["plan", "default", "acceptEdits", "bypassPermissions"])
async def test_choices_and_own_words_reach_the_model_in_every_mode(tmp_path: Path, mode: str) -> None:
    seen: list[Any] = []

    def answer(session: InteractiveSession, event: AskRequest) -> None:
        seen.extend(event.questions)
        session.resolve_ask(event.id, [["red", "blue"], {"text": "They go well together."}])

    assert await asked(tmp_path, answer, permission_mode=mode) == {
        "answers": [
            {"question": "Which colours?", "values": ["red", "blue"]},
            {"question": "Why?", "values": [], "text": "They go well together."},
        ]
    }
    assert [(one["multiSelect"], one["allowFreeText"], len(one["options"])) for one in seen] == [
        (True, True, 2),
        (False, True, 0),
    ]


async def test_a_person_who_declines_all_of_it_cancels_every_question(tmp_path: Path) -> None:
    told = await asked(tmp_path, lambda session, event: session.resolve_ask(event.id, None))
    assert told == {"answers": cancelled("Which colours?", "Why?")}


async def test_where_nobody_listens_the_model_is_told_to_decide_and_it_is_no_error(tmp_path: Path) -> None:
    told = await asked(tmp_path, None)
    assert told["unavailable"] is True
    assert "nobody listens" in told["reason"]


async def test_an_abort_while_it_waits_cancels_every_question(tmp_path: Path) -> None:
    told = await asked(tmp_path, lambda session, event: session.abort())
    assert told == {"answers": cancelled("Which colours?", "Why?")}
