import json
from pathlib import Path
from typing import Any

from headlesskit import Command, Exchanges

from agentframework.messages import (
    AssistantMessage,
    HistoryEntry,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    user_text,
)
from agentframework.stores.export import as_html, as_markdown
from agentframework.stores.port import create_initial_session_state
from agentframework.stores.records import entry_record, restore, session_record


def messages_of(journal: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in journal.read_text().splitlines()]
    return [record["message"] for record in found if record["kind"] == "message"]


def journals(home: Path) -> list[Path]:
    return sorted((home / ".agentframework" / "sessions").glob("*.jsonl"))


async def test_a_later_run_continues_the_latest_session(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    exchanges.answer("A greeting.")
    first = await replayed("-p", "What is it?", "--output-format", "json")
    assert (first.code, first.err) == (0, "")
    (journal,) = journals(tmp_path)
    assert journal.stem == first.last["session_id"]
    replayed.exchanges = Exchanges(tmp_path / "second.jsonl")
    replayed.exchanges.answer("English.")
    second = await replayed("--continue", "-p", "In which language?", "--output-format", "json")
    assert (second.code, second.last["session_id"]) == (0, journal.stem)
    said = [part["text"] for message in messages_of(journal) for part in message["content"]]
    assert said == ["What is it?", "A greeting.", "In which language?", "English."]


async def test_a_fork_is_a_session_of_its_own(replayed: Command, exchanges: Exchanges, tmp_path: Path) -> None:
    exchanges.answer("A greeting.")
    first = await replayed("-p", "What is it?", "--output-format", "json")
    replayed.exchanges = Exchanges(tmp_path / "second.jsonl")
    replayed.exchanges.answer("English.")
    options = ("--resume", first.last["session_id"], "--fork", "-p", "More?", "--output-format", "json")
    forked = await replayed(*options)
    assert forked.code == 0
    assert len(journals(tmp_path)) == 2
    assert forked.last["session_id"] != first.last["session_id"]


async def test_what_cannot_be_continued_ends_with_two(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("Never.")
    for options, problem in (
        (("--resume", "nobody"), "no session nobody is kept"),
        (("--resume", "../x"), "no session id"),
        (("--continue",), "no session of"),
        (("--fork",), "--fork needs"),
        (("--continue", "--resume", "x"), "give one of them"),
    ):
        ended = await replayed(*options, "-p", "hi")
        assert (ended.code, ended.out) == (2, "")
        assert problem in ended.err


async def test_sessions_are_listed_shown_taken_along_and_deleted(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    exchanges.answer("I look. ", ("Glob", {"pattern": "*.md"})).answer("There are <none> & none.")
    ran = await replayed("-p", "Which pages are there?", "--output-format", "json")
    session_id = ran.last["session_id"]
    replayed.exchanges = None
    listed = await replayed("sessions", "list")
    assert listed.out.startswith(session_id)
    assert listed.out.endswith("completed    Which pages are there?\n")
    shown = await replayed("sessions", "show", session_id)
    assert "## User\n\nWhich pages are there?\n" in shown.out
    page = tmp_path / "page.html"
    assert (await replayed("sessions", "export", session_id, "--format", "html", "--output", str(page))).code == 0
    assert "There are &lt;none&gt; &amp; none." in page.read_text()
    exported = await replayed("sessions", "export", session_id, "--format", "json")
    assert json.loads(exported.out)["session"]["session_id"] == session_id
    assert (await replayed("sessions", "delete", session_id)).code == 0
    assert journals(tmp_path) == []
    gone = await replayed("sessions", "show", session_id)
    assert (gone.code, gone.out) == (2, "")
    assert "there is no session" in gone.err


def test_nothing_in_a_session_becomes_part_of_the_page() -> None:
    hostile = '</pre><script>alert(1)</script>\n```\n"quoted"'
    call = ToolCall("a", "Look", {"x": hostile})
    said = [
        user_text(hostile),
        AssistantMessage((TextPart(hostile), call)),
        ToolMessage((ToolResultPart("a", "Look", hostile),)),
    ]
    entries = [entry_record(HistoryEntry("chat", message.role, message)) for message in said]
    state = create_initial_session_state("a", name="<b>Name</b>")
    restored = restore("a", [session_record(state), *entries])
    page = as_html(restored)
    assert "<script" not in page
    assert "<b>" not in page
    assert page.count("&lt;/pre&gt;&lt;script&gt;") >= 3
    assert "````" in as_markdown(restored)
