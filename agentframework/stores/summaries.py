"""Summaries of sessions: how they are made of records, searched and paged; the same for every store."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from agentframework._base.bounded import head_and_tail
from agentframework.stores.port import SessionState, SessionSummary
from agentframework.stores.records import MESSAGE

_TITLE = 80


def summary_of(state: SessionState, *, title: str, turns: int, size: int) -> SessionSummary:
    """A summary of a state. ``title`` is the beginning of the first prompt."""
    return SessionSummary(
        session_id=state.session_id,
        title=state.name or title,
        updated_at=state.updated_at,
        created_at=state.created_at,
        status=state.status,
        name=state.name,
        cwd=state.cwd,
        tags=state.tags,
        metadata=state.metadata,
        turns=turns,
        size=size,
    )


def title_of(records: Iterable[Mapping[str, Any]]) -> str:
    """The first prompt among ``records``, as one short line."""
    for record in records:
        shown = record.get("message") if record.get("kind") == MESSAGE else _data_of(record.get("entry"))
        if not isinstance(shown, dict) or shown.get("role") != "user":
            continue
        parts = cast("list[Any]", cast("dict[str, Any]", shown).get("content", []))
        texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
        if texts:
            return head_and_tail(" ".join(" ".join(texts).split()), _TITLE, 10)
    return ""


def _data_of(entry: Any) -> Any:
    return cast("dict[str, Any]", entry).get("data") if isinstance(entry, dict) else None


def page(
    summaries: Iterable[SessionSummary], *, limit: int, offset: int, search: str | None, tag: str | None
) -> Sequence[SessionSummary]:
    """Those that match, the latest first, from ``offset`` on, at most ``limit``."""
    wanted = search.casefold() if search else None
    found = [
        item
        for item in summaries
        if (tag is None or tag in item.tags)
        and (wanted is None or wanted in item.session_id.casefold() or wanted in item.title.casefold())
    ]
    found.sort(key=lambda item: (item.updated_at, item.session_id), reverse=True)
    return found[offset : offset + limit]
