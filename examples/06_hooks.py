"""Hooks: your own code before and after every call of a tool, and when the model wants to stop.

Run it with ``python examples/06_hooks.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio

from agentframework import AnthropicProvider, InteractiveSession, Provider

changed: list[str] = []


def only_notes(event: dict) -> dict | None:
    """Before a file is written: notes may be, and nothing else. An allow spares the question of the mode."""
    if event["tool_input"]["file_path"].endswith(".md"):
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    return {"decision": "block", "reason": "only notes (*.md) may be changed here"}


def remember(event: dict) -> None:
    """After it was written: hooks of this event may also tell the model something, or end the turn."""
    changed.append(event["tool_input"]["file_path"])


HOOKS = {
    # The shape of a settings file; there the hooks are command lines: {"type": "command", "command": "./guard.sh"}.
    "PreToolUse": [
        {"matcher": "Write|Edit", "hooks": [{"type": "callable", "callable": only_notes, "failClosed": True}]}
    ],
    "PostToolUse": [{"matcher": "Write|Edit", "hooks": [{"type": "callable", "callable": remember}]}],
    "Stop": [{"hooks": [{"type": "command", "command": "cat >> stops.jsonl"}]}],
}


async def main(provider: Provider) -> list[str]:
    """Have the notes brought into order; returns the files that were changed."""
    changed.clear()
    async with InteractiveSession(cwd=".", provider=provider, hooks=HOOKS) as session:
        session.on("hook_error", lambda event: print(f"hook {event.hook} failed: {event.message}"))
        session.on("permission_decision", lambda event: print(event.tool_name, event.decision, event.decided_by))
        handle = await session.submit("Bring the notes in this directory into order.")
        print((await handle.completed).response)
    return changed


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
