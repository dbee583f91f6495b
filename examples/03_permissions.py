"""Permissions: rules for what is always or never wanted, and an answer for the rest.

Run it with ``python examples/03_permissions.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio
from pathlib import PurePath

from agentframework import AnthropicProvider, InteractiveSession, PermissionAnswer, PermissionRules, Provider

RULES = PermissionRules(
    allow=["Bash(git status:*)", "Bash(git diff:*)"],  # the commands alone or with arguments, nothing chained to them
    deny=["Read(.env)", "Bash(rm:*)"],  # nothing lifts these: no mode, no answer
)


async def main(provider: Provider) -> list[str]:
    """Have the documentation tidied up. Markdown may be written, other files may not. Returns what was decided."""
    decided: list[str] = []
    async with InteractiveSession(cwd=".", provider=provider, permissions=RULES) as session:

        @session.on("permission_request")
        def answer(event) -> None:
            # Whatever is left open by the rules and the mode comes here. Without this listener it is denied at once.
            path = PurePath(event.tool_args.get("file_path", ""))
            if event.tool_name in ("Write", "Edit") and path.suffix == ".md":
                session.resolve_permission(event.id, True)
            else:
                session.resolve_permission(event.id, PermissionAnswer(False, message="only Markdown files, please"))

        @session.on("permission_decision")
        def note(event) -> None:
            decided.append(f"{event.tool_name}: {event.decision} ({event.stage})")

        handle = await session.submit("Bring the notes in this directory into order.")
        print((await handle.completed).response)
    print("\n".join(decided))
    return decided


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
