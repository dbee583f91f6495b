"""The records of a journal, and what they amount to.

========== ==================================================================================================
``session``  the first record: ``session_id``, ``cwd``, ``created_at``, ``format``
``message``  a message of the conversation that goes to the model
``entry``    an entry of the timeline; ``ref`` in place of ``data`` names a message recorded before
``state``    fields of the state that changed (``status``, ``name``, ``tags``, …)
``keep``     a value that an ability keeps under ``key`` (a plan, a goal); the last one counts
``leave``    ``message_ids`` that are not sent again, though the timeline shows them
``boundary`` a new beginning: ``reason``, the ``messages`` to go on with, and the state and kept values so far
``turn``     ``turn_id`` and ``phase`` (``start``, ``end`` with the ``status`` of the session after it)
========== ==================================================================================================

Other kinds are left alone: a newer version wrote them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from agentframework._base.clock import now
from agentframework.errors import InvalidInputError
from agentframework.messages import HistoryEntry, Message, UserMessage
from agentframework.messages.codec import entry_from_json, message_from_json, to_json
from agentframework.stores.port import CHANGEABLE, SessionState

SESSION, MESSAGE, ENTRY, STATE, KEEP, LEAVE, BOUNDARY, TURN = (
    "session", "message", "entry", "state", "keep", "leave", "boundary", "turn",
)  # fmt: skip
FORMAT = 1

_STATE_FIELDS = [item.name for item in fields(SessionState) if item.name != "messages"]


def session_record(state: SessionState) -> dict[str, Any]:
    """The first record of a session."""
    return {"kind": SESSION, "format": FORMAT, **state_fields(state)}


def state_fields(state: SessionState) -> dict[str, Any]:
    """The state without its messages, JSON-able."""
    return {name: to_json(getattr(state, name)) for name in _STATE_FIELDS}


def message_record(message: Message, turn_id: str | None = None) -> dict[str, Any]:
    """A message of the conversation."""
    return {"kind": MESSAGE, "turn_id": turn_id, "message": to_json(message)}


def entry_record(entry: HistoryEntry, turn_id: str | None = None, *, ref: str | None = None) -> dict[str, Any]:
    """An entry of the timeline; pass the id of its message as ``ref`` if that was recorded just before."""
    shown: dict[str, Any] = to_json(entry if ref is None else replace(entry, data={}))
    if ref is not None:
        shown["data"] = {"ref": ref}
    return {"kind": ENTRY, "turn_id": turn_id, "entry": shown}


def state_record(patch: Mapping[str, Any]) -> dict[str, Any]:
    """Changed fields of the state."""
    return {"kind": STATE, "patch": {name: to_json(value) for name, value in patch.items() if name != "messages"}}


def keep_record(key: str, value: Any) -> dict[str, Any]:
    """A value of an ability."""
    return {"kind": KEEP, "key": key, "value": to_json(value)}


def leave_record(message_ids: Sequence[str]) -> dict[str, Any]:
    """Messages that are not sent again."""
    return {"kind": LEAVE, "message_ids": list(message_ids)}


def turn_record(turn_id: str, phase: str, **facts: Any) -> dict[str, Any]:
    """The start or end of a turn."""
    written = {name: to_json(fact) for name, fact in facts.items()}
    return {"kind": TURN, "turn_id": turn_id, "phase": phase, "time": now(), **written}


def boundary_record(
    reason: str, messages: Iterable[Message], state: SessionState, kept: Mapping[str, Any]
) -> dict[str, Any]:
    """A new beginning with ``messages``."""
    return {
        "kind": BOUNDARY,
        "reason": reason,
        "messages": [to_json(message) for message in messages],
        "state": state_fields(state),
        "kept": to_json(dict(kept)),
    }


@dataclass(slots=True)
class Restored:
    """What the records of a session amount to.

    ``messages`` are those to go on with, as they were recorded: they may end in calls without results. ``entries``
    is the timeline since the last boundary that was read; ``open_turn`` the turn that never ended, and
    ``interrupted`` whether the last one was cut short.
    """

    state: SessionState
    messages: list[Message] = field(default_factory=list[Message])
    entries: list[HistoryEntry] = field(default_factory=list[HistoryEntry])
    kept: dict[str, Any] = field(default_factory=dict[str, Any])
    turns: int = 0
    open_turn: str | None = None
    problems: list[str] = field(default_factory=list[str])
    interrupted: bool = False
    _last: Message | None = None

    def fold(self, record: Mapping[str, Any]) -> None:
        """Take ``record`` into account; one of a kind that nobody knows changes nothing.

        Raises `InvalidInputError`, ``KeyError``, ``TypeError`` or ``ValueError`` for a malformed one.
        """
        fold = _FOLDS.get(str(record.get("kind")))
        if fold is not None:
            fold(self, record)


def restore(session_id: str, records: Iterable[Mapping[str, Any]]) -> Restored:
    """Fold ``records``. What is malformed is named in ``problems`` and costs itself only."""
    restored = Restored(SessionState(session_id))
    for number, record in enumerate(records, 1):
        try:
            restored.fold(record)
        except (InvalidInputError, KeyError, TypeError, ValueError) as error:
            restored.problems.append(f"record {number} ({record.get('kind')}) is not understood: {error}")
    return restored


def _session(restored: Restored, record: Mapping[str, Any]) -> None:
    _patch(restored, record)


def _patch(restored: Restored, patch: Mapping[str, Any]) -> None:
    known = {name: patch[name] for name in patch if name in CHANGEABLE and name != "messages"}
    if "created_at" in patch:
        restored.state = SessionState(restored.state.session_id, created_at=float(patch["created_at"]))
    restored.state = restored.state.patched({"updated_at": restored.state.updated_at, **known})


def _message(restored: Restored, record: Mapping[str, Any]) -> None:
    restored._last = message_from_json(record["message"])
    restored.messages.append(restored._last)


def _entry(restored: Restored, record: Mapping[str, Any]) -> None:
    shown = record["entry"]
    ref = shown["data"].get("ref") if shown["category"] == "chat" else None
    if ref is None:
        restored.entries.append(entry_from_json(shown))
        return
    last = restored._last
    if last is None or last.id != ref:
        raise ValueError(f"its message {ref} was not recorded before it")
    entry = entry_from_json({**shown, "category": "event", "data": {}})
    restored.entries.append(replace(entry, category="chat", data=last))


def _state(restored: Restored, record: Mapping[str, Any]) -> None:
    _patch(restored, record["patch"])


def _keep(restored: Restored, record: Mapping[str, Any]) -> None:
    restored.kept[record["key"]] = record["value"]


def _leave(restored: Restored, record: Mapping[str, Any]) -> None:
    gone = set(record["message_ids"])
    restored.messages = [message for message in restored.messages if message.id not in gone]
    restored.entries = [_left(entry, gone) for entry in restored.entries]


def _left(entry: HistoryEntry, gone: set[str]) -> HistoryEntry:
    data = entry.data
    if isinstance(data, UserMessage) and data.id in gone:
        return replace(entry, data=replace(data, state="interrupted"))
    return entry


def _boundary(restored: Restored, record: Mapping[str, Any]) -> None:
    restored.messages = [message_from_json(message) for message in record["messages"]]
    _patch(restored, record["state"])
    restored.kept = dict(record["kept"])
    if record["reason"] == "clear":
        restored.entries.clear()


def _turn(restored: Restored, record: Mapping[str, Any]) -> None:
    started = record["phase"] == "start"
    restored.turns += started and restored.open_turn != record["turn_id"]  # a boundary within a turn repeats its start
    restored.open_turn = record["turn_id"] if started else None
    status = "running" if started else record.get("status", "completed")
    restored.interrupted = status in ("running", "interrupted")
    restored.state = restored.state.patched({"status": status, "updated_at": float(record["time"])})


_FOLDS = {
    SESSION: _session,
    MESSAGE: _message,
    ENTRY: _entry,
    STATE: _state,
    KEEP: _keep,
    LEAVE: _leave,
    BOUNDARY: _boundary,
    TURN: _turn,
}
