"""Listings without reading bodies: each journal has a small index beside it, renewed when a turn ends.

An index is a cache. One that does not cover the whole journal – its writer was killed – is completed from the rest
of the file, and one that is missing is replaced by a look at both ends of it.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agentframework.stores.port import SessionState, SessionSummary
from agentframework.stores.records import SESSION, STATE, TURN, restore, session_record
from agentframework.stores.summaries import summary_of, title_of

_END = 64 * 1024


def index_path(journal: Path) -> Path:
    """Where the index of a journal lies."""
    return journal.with_name(f"{journal.stem}.index.json")


def write_index(journal: Path, size: int, summary: SessionSummary) -> None:
    """Renew the index; ``size`` is how much of the journal it covers. Losing it costs time, so nothing is synced."""
    path = index_path(journal)
    facts = {name: getattr(summary, name) for name in SessionSummary.__slots__}
    data = json.dumps({"covers": size, "summary": facts}, ensure_ascii=True, default=_plain).encode()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    os.replace(temporary, path)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


def read_summary(journal: Path) -> SessionSummary | None:
    """The summary of a journal; None if it is gone or holds nothing that can be read."""
    try:
        size = journal.stat().st_size
    except OSError:
        return None
    indexed, covers = _indexed(journal)
    if indexed is not None and covers == size:
        return indexed
    return _scanned(journal, size, indexed, covers)


def _indexed(journal: Path) -> tuple[SessionSummary | None, int]:
    try:
        value = json.loads(index_path(journal).read_bytes())
        facts = cast("dict[str, Any]", value["summary"])
        facts["tags"] = tuple(facts["tags"])
        return SessionSummary(**facts), int(value["covers"])
    except (OSError, ValueError, KeyError, TypeError):
        return None, 0


def _scanned(journal: Path, size: int, known: SessionSummary | None, covers: int) -> SessionSummary | None:
    """What both ends of the file say on top of an index that covers less than all."""
    if known is not None and covers > size:
        known, covers = None, 0  # of another file
    with journal.open("rb") as file:
        head = file.read(min(size, _END)) if known is None else b""
        file.seek(max(covers, len(head), size - _END))
        tail = file.read(_END)
    records = [*_records(head), *_records(tail)]
    if known is None and not records:
        return None
    facts = [item for item in records if item.get("kind") in (SESSION, STATE, TURN)]
    if known is not None:
        facts.insert(0, session_record(_state_of(known)))
    restored = restore(journal.stem, facts)
    turns = restored.turns + (known.turns if known is not None else 0)
    title = known.title if known is not None else title_of(records)
    state = restored.state.patched({"updated_at": journal.stat().st_mtime})
    return summary_of(state, title=title, turns=turns, size=size)


def _state_of(summary: SessionSummary) -> SessionState:
    return SessionState(
        summary.session_id,
        summary.status,
        created_at=summary.created_at,
        name=summary.name,
        cwd=summary.cwd,
        tags=summary.tags,
        metadata=summary.metadata,
    )


def _records(data: bytes) -> list[dict[str, Any]]:
    """What is whole in a piece of a journal."""
    found: list[dict[str, Any]] = []
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(cast("dict[str, Any]", value))
    return found
