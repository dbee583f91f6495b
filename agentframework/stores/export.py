"""A stored session to read elsewhere: as Markdown, as JSON, or as one page of HTML that needs nothing else."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from agentframework._base.clock import to_iso
from agentframework.messages import AssistantMessage, HistoryEntry, SystemNote, ToolMessage, UserMessage
from agentframework.messages.codec import to_json
from agentframework.stores.records import Restored, state_fields

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
header p, time { color: #777; font-size: .85rem; }
article { border-left: 3px solid #8884; margin: 1rem 0; padding: .2rem 0 .2rem 1rem; }
article.user { border-color: #3b82f6; } article.assistant { border-color: #10b981; }
article.tool { border-color: #f59e0b; } article.system { border-color: #ef4444; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .6rem; border-radius: 4px; }
summary { cursor: pointer; }
"""


def as_json(restored: Restored) -> str:
    """State, timeline and the conversation to go on with."""
    value = {
        "session": state_fields(restored.state),
        "entries": [to_json(entry) for entry in restored.entries],
        "messages": [to_json(message) for message in restored.messages],
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def as_markdown(restored: Restored) -> str:
    """What was said, and which tools were called."""
    lines = [f"# {_title(restored)}", ""]
    for block in _blocks(restored.entries):
        lines.append(f"## {block['heading']}")
        lines.append("")
        for label, text in block["parts"]:
            if label is None:
                lines += [text, ""]
            else:
                fence = _fence(text)
                lines += [f"{label}:", "", fence, text, fence, ""]
    return "\n".join(lines)


def as_html(restored: Restored) -> str:
    """One page with a timeline; no scripts, nothing is loaded from anywhere."""
    state = restored.state
    facts = f"{escape(state.session_id)} · {escape(state.cwd or '')} · {to_iso(state.created_at)} · {state.status}"
    body: list[str] = []
    for block in _blocks(restored.entries):
        parts = "".join(_html_part(label, text) for label, text in block["parts"])
        head = f"<h3>{escape(block['heading'])} <time>{block['time']}</time></h3>"
        body.append(f'<article class="{block["role"]}">{head}{parts}</article>')
    title = escape(_title(restored))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<style>{_STYLE}</style>\n<header><h1>{title}</h1><p>{facts}</p></header>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</html>\n"
    )


def _title(restored: Restored) -> str:
    return restored.state.name or restored.state.session_id


def _html_part(label: str | None, text: str) -> str:
    if label is None:
        return f"<pre>{escape(text)}</pre>"
    return f"<details><summary>{escape(label)}</summary><pre>{escape(text)}</pre></details>"


def _fence(text: str) -> str:
    """A fence longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return fence


def _blocks(entries: Iterable[HistoryEntry]) -> Iterable[Mapping[str, Any]]:
    """What there is to show: one block for each chat entry."""
    for entry in entries:
        data = entry.data
        if isinstance(data, dict):
            continue
        parts: list[tuple[str | None, str]] = []
        heading = {"user": "User", "assistant": "Assistant", "tool": "Results", "system": "Note"}[data.role]
        if isinstance(data, AssistantMessage):
            parts += [("Thinking", data.thinking)] if data.thinking else []
            parts += [(None, data.text)] if data.text else []
            parts += [(f"{call.name} ({call.id})", call.arguments_json) for call in data.tool_calls]
        elif isinstance(data, ToolMessage):
            parts += [(f"{part.tool_name} ({part.tool_use_id})", part.content) for part in data.content]
        elif isinstance(data, UserMessage | SystemNote):
            parts.append((None, data.text))
        state = " (interrupted)" if getattr(data, "state", None) == "interrupted" else ""
        yield {"role": data.role, "heading": heading + state, "time": to_iso(entry.timestamp), "parts": parts}
