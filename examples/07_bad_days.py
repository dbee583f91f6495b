"""Bad days: a conversation that outlives an overloaded API, a connection that breaks and a turn that is stopped.

Run it with ``python examples/07_bad_days.py`` and ANTHROPIC_API_KEY set. On a good day it has little to tell.
"""

import asyncio

from agentframework import AnthropicProvider, InteractiveSession, Provider, ProviderError, RetryPolicy

PROMPTS = ("Begin a story in one sentence.", "Go on.", "Tell me all of it, at length.", "How does it end?")


async def main(provider: Provider) -> list[str]:
    """Send four prompts, whatever happens to them, and return what became of each."""
    diary: list[str] = []
    prompt, said = "", ""
    async with InteractiveSession(cwd=".", provider=provider) as session:

        @session.on("retry")
        def wait(event) -> None:
            diary.append(f"again in {event.delay_s:.0f} s")  # limits and overload pass; nothing was shown yet

        @session.on("text_delta")
        def hear(event) -> None:
            nonlocal said
            said += event.text
            if prompt == PROMPTS[2]:
                session.abort()  # the third reply is cut short by us

        for prompt in PROMPTS:
            said = ""
            try:
                result = await (await session.submit(prompt)).completed
            except ProviderError as error:  # what had been said is kept, and the next prompt goes on from there
                diary.append(f"{error.code} after {said!r}")
            else:
                diary.append(("stopped at " if result.interrupted else "") + repr(result.response))
    return diary


if __name__ == "__main__":
    claude = AnthropicProvider(retry=RetryPolicy(max_attempts=5, max_delay_s=60), idle_timeout_s=60)
    print("\n".join(asyncio.run(main(claude))))
