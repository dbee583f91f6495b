"""A session on a scripted provider, in a directory of its own."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession
from agentframework.testing import ScriptedProvider

Make = Callable[..., InteractiveSession]


@pytest.fixture
async def make_session(tmp_path: Path) -> AsyncIterator[Make]:
    """Makes sessions and shuts them down at the end."""
    made: list[InteractiveSession] = []

    def make(*steps: Any, provider: ScriptedProvider | None = None, **options: Any) -> InteractiveSession:
        options.setdefault("default_tools", [])
        options.setdefault("cwd", tmp_path)
        session = InteractiveSession(provider=provider or ScriptedProvider(*steps), **options)
        made.append(session)
        return session

    yield make
    for session in made:
        await session.shutdown()
