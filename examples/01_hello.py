"""Hello: one session, one prompt, the answer as it arrives.

Run it with ``python examples/01_hello.py`` and ANTHROPIC_API_KEY set, or pass any other provider to `main`.
"""

import asyncio

from agentframework import AnthropicProvider, InteractiveSession, Provider


async def main(provider: Provider) -> str:
    """Ask one question about the current directory and return the answer."""
    async with InteractiveSession(cwd=".", provider=provider) as session:

        @session.on("text_delta")
        def show(event) -> None:
            print(event.text, end="", flush=True)

        handle = await session.submit("Which files are here? Answer in one sentence.")
        result = await handle.completed
        print()
        return result.response


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
