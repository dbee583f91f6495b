"""Warnings that a host gives through its session."""

from pathlib import Path

from agentframework import InteractiveSession
from agentframework.events import BaseEvent, WarningEvent
from agentframework.testing import ScriptedProvider


async def test_a_warning_of_the_host_is_an_event_like_any_other(tmp_path: Path) -> None:
    heard: list[BaseEvent] = []
    async with InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("ok")) as session:
        stream = session.events()
        session.on(WarningEvent, heard.append)
        session.warn("the disk is nearly full")
        session.once("text_delta", lambda _event: session.warn("read it slowly", "editor"))
        await (await session.submit("Hello.")).completed
    told = [event async for event in stream]
    assert [(event.message, event.source) for event in heard if isinstance(event, WarningEvent)] == [
        ("the disk is nearly full", "host"),
        ("read it slowly", "editor"),
    ]
    assert [event for event in told if isinstance(event, WarningEvent)] == heard
    assert sorted(event.seq for event in told) == list(range(told[0].seq, told[0].seq + len(told)))
    assert (heard[0].turn_id, heard[1].turn_id is None) == (None, False)


async def test_a_warning_after_the_end_of_the_session_harms_nobody(tmp_path: Path) -> None:
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider())
    await session.shutdown()
    session.warn("too late")
    assert [event async for event in session.events()] == []
