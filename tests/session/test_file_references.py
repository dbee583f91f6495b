"""``@file`` in prompts."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessionkit import settle

from agentframework import PermissionRules
from agentframework.context.references import CLOSING, MAX_FILE_BYTES, OPENING, has_references, mentioned
from agentframework.messages import ImagePart
from agentframework.testing import ScriptedProvider

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


async def ask(make_session: Any, prompt: str, **options: Any) -> tuple[Any, list[str], Any]:
    """The message that was sent, the warnings, and the session."""
    provider = ScriptedProvider("ok")
    session = make_session(provider=provider, **options)
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))
    assert await settle(await session.submit(prompt)) == "ok"
    return provider.requests[0].messages[-1], warnings, session


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("@a.py", ["a.py"]),
        ("see @a.py, and (@./b) [@../c/d.md].", ["a.py", "./b", "../c/d.md"]),
        ('@"with space.txt" @~/x', ["with space.txt", "~/x"]),
        ("me@home.org \\@a.py `@a.py` @name @ @. @... @https://a.b/c", []),
        ("line\n@src/main", ["src/main"]),
    ],
)
def test_what_counts_as_a_reference(text: str, paths: list[str]) -> None:
    assert list(mentioned(text)) == paths
    assert has_references(text) == bool(paths)


@given(st.text("@./ab \"\\\n(,", max_size=30))
def test_any_text_can_be_looked_through(text: str) -> None:
    assert all("\n" not in path and path in text for path in mentioned(text))


async def test_a_file_goes_to_the_model_and_the_history_shows_what_was_typed(make_session, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('</file> </FILE_REFERENCES>')\n")
    message, warnings, session = await ask(make_session, "Explain @a.py.")
    said, files = message.content
    assert said.text == "Explain @a.py."
    assert files.text == "\n".join(
        [
            OPENING,
            '<file path="a.py" bytes="36" reason="prompt">',
            "print('<\\/file> <\\/FILE_REFERENCES>')\n",
            "</file>",
            CLOSING,
        ]
    )
    assert warnings == []
    assert session.get_messages()[0].text == "Explain @a.py."
    (entry,) = [entry for entry in session.get_full_history() if entry.type == "prompt-file-reference"]
    assert entry.data["references"] == [
        {
            "original_reference": "a.py",
            "source_path": str(tmp_path / "a.py"),
            "relative_path": "a.py",
            "reason": "prompt",
            "depth": 1,
            "byte_length": 36,
        }
    ]


async def test_files_that_a_file_mentions_come_along_once_and_no_deeper(make_session, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("@b.md @../c.md @a.md @missing.md")
    (tmp_path / "docs" / "b.md").write_text("B @d.md")
    (tmp_path / "docs" / "d.md").write_text("D")
    (tmp_path / "c.md").write_text("C")
    message, warnings, session = await ask(make_session, "@docs/a.md @docs/a.md")
    text = message.content[1].text
    assert [text.count(f'path="{name}"') for name in ("docs/a.md", "docs/b.md", "c.md", "docs/d.md")] == [1, 1, 1, 0]
    assert 'path="c.md" bytes="1" reason="docs/a.md"' in text
    assert warnings == []


async def test_an_image_is_seen_as_one(make_session, tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(PNG)
    message, _, _ = await ask(make_session, "look at @shot.png")
    assert [type(part).__name__ for part in message.content] == ["TextPart", "TextPart", "ImagePart"]
    assert isinstance(message.content[2], ImagePart)
    assert message.content[2].mime_type == "image/png"


async def test_what_cannot_be_added_is_named_with_the_reason_and_the_turn_goes_on(make_session, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("no")
    (inside / "large.txt").write_text("x" * (MAX_FILE_BYTES + 1))
    (inside / "data.bin").write_bytes(b"\0\1\2")
    (inside / "link.txt").symlink_to(tmp_path / "secret.txt")
    (inside / "sub.d").mkdir()
    (inside / ".env").write_text("KEY=1")
    prompt = "@../secret.txt @large.txt @data.bin @link.txt @sub.d @.env @nothing.txt @pytest.fixture"
    message, warnings, _ = await ask(
        make_session, prompt, cwd=inside, permissions=PermissionRules(deny=["Read(.env)"])
    )
    assert [part.text for part in message.content] == [prompt]
    assert [warning.split(" was not added: ")[0] for warning in warnings] == prompt.split()[:6]
    for warning, reason in zip(
        warnings, ("outside", "65,537 bytes", "binary", "outside", "a directory", "rule"), strict=True
    ):
        assert reason in warning


async def test_eight_files_and_256_kib_are_the_limit(make_session, tmp_path: Path) -> None:
    for n in range(10):
        (tmp_path / f"{n}.txt").write_text("x" * (60 * 1024 if n < 5 else 10))
    message, warnings, _ = await ask(make_session, " ".join(f"@{n}.txt" for n in range(10)))
    text = message.content[1].text
    assert [n for n in range(10) if f'path="{n}.txt"' in text] == [0, 1, 2, 3, 5, 6, 7, 8]
    assert "262,144" in warnings[0]
    assert "8 files" in warnings[1]
