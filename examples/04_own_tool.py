"""A tool of your own: a typed function becomes something the model can call.

Run it with ``python examples/04_own_tool.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio
from dataclasses import dataclass

from agentframework import AnthropicProvider, InteractiveSession, Provider, Tool, ToolContext, tool


@dataclass
class Stock:
    """The part of your program that the model gets to work with."""

    counts: dict[str, int]

    def tools(self) -> list[Tool]:
        """Looking runs unasked, taking asks: that is what the risk class decides in the default mode."""

        @tool(risk="inspect")
        def stock_of(item: str) -> int:
            """How many pieces of an item are in stock."""
            if item not in self.counts:
                raise ValueError(f"there is no {item}; there are {', '.join(self.counts)}")  # the model reads this
            return self.counts[item]

        @tool(risk="modify", permission_key="item")  # rules look at this argument, as in take(pears)
        async def take(item: str, pieces: int, context: ToolContext) -> dict[str, int]:
            """Take pieces of an item out of stock.

            Args:
                item: Name of the item.
                pieces: How many to take.
            """
            context.progress(f"taking {pieces} {item}")
            self.counts[item] -= pieces
            return {"left": self.counts[item]}

        return [stock_of, take]


async def main(provider: Provider) -> dict[str, int]:
    """Let the model sell apples with our two tools and nothing else, and return what is left in stock."""
    stock = Stock({"apples": 7, "pears": 2})
    async with InteractiveSession(
        cwd=".",
        provider=provider,
        default_tools=stock.tools(),  # in place of the built-in ones; additional_tools adds to them
        allowed_tools=["take(apples)"],  # selling apples needs no further approval
    ) as session:
        session.on("tool_progress", lambda event: print("…", event.text))
        handle = await session.submit("A customer wants three apples. Do we have them? Then take them.")
        print((await handle.completed).response)
    return stock.counts


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
