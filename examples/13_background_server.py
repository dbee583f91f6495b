"""A server in the background: the model starts it and reads its output, and it is gone when the session ends.

Run it with ``python examples/13_background_server.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio

from agentframework import AnthropicProvider, InteractiveSession, Provider


async def main(provider: Provider) -> list[str]:
    """Have this folder served, and return what became of the background tasks."""
    told: list[str] = []
    async with InteractiveSession(
        cwd=".",
        provider=provider,
        background_shells=True,  # Bash gets run_in_background; BashOutput and KillShell come along
        allowed_tools=["Bash(python3 -m http.server:*)"],
    ) as session:

        @session.on("background_task_event")
        def tell(event) -> None:
            if event.kind in ("started", "completed", "failed", "cancelled"):
                told.append(f"{event.data['label']}: {event.kind}")

        handle = await session.submit("Serve this folder in the background on a free port of 127.0.0.1.")
        print((await handle.completed).response)
        for task in session.list_background_tasks(status="running"):
            print("still running:", task.details["command"])
    return told


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
