from pathlib import Path
from typing import Any

import pytest

from agentframework import InMemorySessionStore, JsonlSessionStore
from agentframework.testing.store_conformance import JOURNAL_CHECKS, STORE_CHECKS, StoreCheck

CHECKS = pytest.mark.parametrize("check", [*STORE_CHECKS, *JOURNAL_CHECKS], ids=lambda check: check.__name__)


@CHECKS
async def test_the_store_of_this_process_keeps_its_word(check: StoreCheck) -> None:
    await check(InMemorySessionStore())


@CHECKS
async def test_the_store_of_files_keeps_its_word(check: StoreCheck, tmp_path: Path) -> None:
    store = JsonlSessionStore(tmp_path / "sessions")
    await check(store)
    await store.aclose()


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
async def test_the_files_alone_hold_everything(check: StoreCheck, tmp_path: Path) -> None:
    class Forgetful(JsonlSessionStore):
        """Lets go after each change, as if every call came from a process of its own."""

        async def create(self, state: Any) -> None:
            await super().create(state)
            await self.aclose()

        async def update(self, session_id: str, patch: Any) -> None:
            await super().update(session_id, patch)
            await self.aclose()

    await check(Forgetful(tmp_path))
