import asyncio
import os
from pathlib import Path

import pytest
from settingskit import repository, service, session_in, write

from agentframework import InteractiveSession
from agentframework.events import ContextFileRefreshed, WarningEvent
from agentframework.prompt import Instructions
from agentframework.prompt.instructions import MAX_CHARACTERS, imports
from agentframework.settings import ProjectFiles
from agentframework.testing import ScriptedProvider


def instructions(root: Path, below: str = ".") -> Instructions:
    found = Instructions(ProjectFiles(str(root)), os.path.realpath(root / below))
    found.refresh()
    return found


def system_of(session: InteractiveSession) -> str:
    provider = session._parts.settings.provider
    assert isinstance(provider, ScriptedProvider)
    return provider.requests[-1].system


async def run(session: InteractiveSession) -> str:
    """One turn; the system prompt that the model got."""
    async with asyncio.timeout(30):
        await (await session.submit("go")).completed
    return system_of(session)


async def test_a_trusted_project_is_heard_from_its_root_down_to_the_working_directory(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    files = {"AGENTS.md": "one", "CLAUDE.md": "two", "a/b/AGENTS.md": "three", "c/AGENTS.md": "aside"}
    for path, text in files.items():
        write(root / path, text)
    (root / "a/b").mkdir(exist_ok=True, parents=True)
    system = await run(session_in(root / "a/b", await service(tmp_path).grant(root), "ok"))
    assert [system.index(text) for text in ("one", "two", "three")] == sorted(
        system.index(text) for text in ("one", "two", "three")
    )
    assert "Instructions from a/b/AGENTS.md:\n\nthree" in system
    assert "aside" not in system


@pytest.mark.parametrize("kind", ["none", "restricted", "bare"])
async def test_without_trust_or_with_bare_no_instruction_is_heard(kind: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / "AGENTS.md", "secret words")
    trust = service(tmp_path)
    access = None if kind == "none" else await (trust.grant(root) if kind == "bare" else trust.inspect(root))
    session = session_in(root, access, "ok", bare=kind == "bare")
    assert "secret words" not in await run(session)


async def test_a_changed_file_is_read_again_at_the_next_turn_an_unchanged_one_changes_no_byte(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / "AGENTS.md", "first")
    session = session_in(root, await service(tmp_path).grant(root), "a", "b", "c", "d")
    heard: list[str] = []
    session.on(ContextFileRefreshed, lambda event: heard.append(event.file_path))
    before = await run(session)
    assert await run(session) == before
    assert heard == []
    write(root / "AGENTS.md", "second one")
    assert "second one" in await run(session)
    assert heard == ["AGENTS.md"]
    (root / "AGENTS.md").unlink()
    assert "second one" not in await run(session)
    assert heard == ["AGENTS.md", "AGENTS.md"]


async def test_a_revocation_silences_the_instructions(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / "AGENTS.md", "listen to me")
    trust = service(tmp_path)
    session = session_in(root, await trust.grant(root), "a", "b")
    assert "listen to me" in await run(session)
    await trust.revoke(root)
    assert "listen to me" not in await run(session)


def test_a_file_counts_once_whatever_leads_to_it(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "shared")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    assert instructions(tmp_path).text.count("shared") == 1
    (tmp_path / "CLAUDE.md").unlink()
    write(tmp_path / "CLAUDE.md", "@AGENTS.md\n")
    assert instructions(tmp_path).text.count("shared") == 1


def test_imports_are_followed_inside_the_project_and_end(tmp_path: Path) -> None:
    root = tmp_path / "app"
    write(tmp_path / "out.md", "outside")
    write(root / "docs/a.md", "A @b.md")
    write(root / "docs/b.md", "B @a.md @../deep/0.md")
    for number in range(9):
        write(root / f"deep/{number}.md", f"deep{number} @{number + 1}.md")
    (root / "link.md").symlink_to(tmp_path / "out.md")
    write(root / "CLAUDE.md", f"@docs/a.md @../out.md @{tmp_path}/out.md @~/x.md @link.md @missing.md")
    found = instructions(root)
    assert "A @b.md" in found.text
    assert "B @a.md" in found.text
    assert "deep0" in found.text
    assert "deep8" not in found.text
    assert "outside" not in found.text
    said = "\n".join(f"{path}: {reason}" for path, reason in found.problems)
    assert said.count("leads out of the project") == 4
    assert "files deep" in said
    assert "missing" not in said


def test_names_in_prose_code_and_addresses_are_no_imports() -> None:
    text = "Ask @anna or me@example.org about `@code.md`.\n```\n@fenced.md\n```\nSee @docs/real.md, (@no.md) @other.md."
    assert imports(text) == ["docs/real.md", "other.md"]


def test_what_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    write(tmp_path / "AGENTS.md", "x" * (MAX_CHARACTERS + 7))
    found = instructions(tmp_path)
    assert "[7 characters are left out here]" in found.text
    assert "7 characters were left out" in found.problems[0][1]


def test_binary_files_pipes_and_folders_are_no_instructions(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    os.mkfifo(tmp_path / "CLAUDE.md")
    found = instructions(tmp_path)
    assert found.text == ""
    assert [path for path, _ in found.problems] == ["AGENTS.md", "CLAUDE.md"]


async def test_a_file_that_cannot_be_used_is_a_warning(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / "CLAUDE.md", "@../secret.md")
    session = session_in(root, await service(tmp_path).grant(root), "ok")
    warnings: list[str] = []
    session.on(WarningEvent, lambda event: warnings.append(event.message))
    await run(session)
    assert warnings == ["CLAUDE.md: @../secret.md leads out of the project and is not read"]
