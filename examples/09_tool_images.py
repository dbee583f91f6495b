"""Tools that answer with pictures, report how far they are, and fail in words that the model can use.

Run it with ``python examples/09_tool_images.py`` and ANTHROPIC_API_KEY set.
"""

import asyncio

from agentframework import AnthropicProvider, ImagePart, InteractiveSession, Provider, ToolContext, ToolResult, tool

# Stands for what your camera gives; ImagePart.from_path reads a file.
DATA = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAC0lEQVR4nGNgwAUAABoAAbw84EEAAAAASUVORK5CYII="
PICTURE = ImagePart("image/png", DATA)
CAMERAS = ("door", "yard")


@tool(risk="inspect")
async def look(camera: str, pictures: int, context: ToolContext) -> ToolResult:
    """Take pictures with a camera.

    Args:
        camera: Name of the camera.
        pictures: How many to take.
    """
    if camera not in CAMERAS:
        raise ValueError(f"there is no camera {camera!r}; there are {', '.join(CAMERAS)}")
    for number in range(1, pictures + 1):
        context.progress(f"picture of the {camera}", number, pictures)
    return ToolResult(f"{pictures} pictures of the {camera}", content_blocks=(PICTURE,) * pictures)


async def main(provider: Provider) -> str:
    """Ask what can be seen; prints the progress of the tool and returns the answer."""
    async with InteractiveSession(cwd=".", provider=provider, default_tools=[look]) as session:
        session.on("tool_progress", lambda event: print(f"{event.text}: {event.progress} of {event.total}"))
        session.on("tool_end", lambda event: print(event.outcome))
        handle = await session.submit("Is anybody at the gate?")
        return (await handle.completed).response


if __name__ == "__main__":
    print(asyncio.run(main(AnthropicProvider())))
