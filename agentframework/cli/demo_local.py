"""The demonstration's first part: a small model that runs in this process, reads a file through a tool, and answers.

What it says is not known beforehand, so nothing here depends on it: there is a time limit, and whatever fails
becomes one sentence before the demonstration goes on. Below: the local provider, imported when it is needed.
"""

import asyncio
from pathlib import Path

from agentframework.assembly import builtin_tools
from agentframework.cli.view import Screen, SessionView
from agentframework.errors import AgentFrameworkError
from agentframework.providers.protocol import Provider
from agentframework.session import InteractiveSession

# For both turns together. A free machine needs a third of it, a busy one should not keep anybody waiting.
LIMIT_S = 30.0
PROMPTS = ("Read README.md and tell me its title.", "Summarise notes.txt in one sentence.")
_HONEST = (
    "It is about a thousandth of the size of the models that people work with. It can call a tool that the request "
    "names a file for, and repeat or shorten what it has read. It cannot plan, write code, or tell when it is wrong."
)


async def run_local_part(screen: Screen, folder: Path, *, model_path: str | None, hidden: bool) -> None:
    """Run the part, or say in one sentence why not."""
    screen.heading("1. A real model, small and local")
    if hidden:
        screen.line("This part is left out, as asked for.")
        return
    from agentframework.providers.local import LocalProvider  # noqa: PLC0415 - only if it is shown

    provider = LocalProvider(model_path, tool_mode="constrained")
    try:
        await provider.start()
    except AgentFrameworkError as error:
        screen.line(f"This part is left out: {error.message}")
        return
    try:
        _introduce(screen, model_path)
        await _turns(screen, folder, provider)
    except AgentFrameworkError:
        screen.line("The local model cannot go on.")  # the view has shown why
    finally:
        await provider.aclose()


def _introduce(screen: Screen, model_path: str | None) -> None:
    if model_path is None:
        screen.line(
            "SmolLM2 with 135 million parameters runs inside this process. Nothing here is recorded, and nothing "
            "leaves this machine. Before each reply it needs some seconds to read."
        )
        screen.line(_HONEST)
        return
    megabytes = Path(model_path).stat().st_size / 1e6
    screen.line(
        f"{Path(model_path).name} ({megabytes:.0f} MB) runs inside this process. Nothing here is recorded, and "
        "nothing leaves this machine. How much the answers are worth is up to that model."
    )


async def _turns(screen: Screen, folder: Path, provider: Provider) -> None:
    session = InteractiveSession(
        cwd=folder,
        provider=provider,
        default_tools=builtin_tools().pick("Read"),
        max_output_tokens=100,
        max_turns=3,
    )
    SessionView(screen).attach(session)
    loop = asyncio.get_running_loop()
    limit = loop.call_later(LIMIT_S, session.abort)
    try:
        for prompt in PROMPTS:
            screen.line()
            screen.line(prompt, "bold cyan", lead="> ")
            began = loop.time()
            result = await session.submit_nowait(prompt).completed
            screen.line(f"({loop.time() - began:.1f} s)", "dim")
            if result.interrupted:
                screen.line("That takes too long on this machine now, so the demo goes on without it.")
                return
    finally:
        limit.cancel()
        await session.shutdown()
