"""A query: a conversation as one async function. Text in, text out.

Run it with ``python examples/05_query.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio

from agentframework import AnthropicProvider, Provider, create_query


def may(tool_name: str, tool_args: dict) -> bool:
    """Asked about whatever needs approval: tests may be run, nothing else."""
    return tool_name == "Bash" and tool_args["command"] == "make test"


async def main(provider: Provider) -> list[str]:
    """Ask two questions in one conversation and return both answers."""
    async with create_query(
        provider=provider,
        cwd=".",
        permission_handler=may,  # without one, everything that needs approval is denied
        on_text_delta=lambda text: print(text, end="", flush=True),
        append_system_prompt="Answer in one sentence.",  # this and all further options are those of a session
    ) as query:
        first = await query("Do the tests pass?")
        print()
        second = await query("Which one would you look at first?")  # it remembers the first question
        print()
    return [first, second]


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
