import base64
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentframework import builtin_tools
from agentframework.tools import ToolContext, ToolResult

Call = Callable[..., Awaitable[ToolResult]]

GOLDEN = Path(__file__).parent / "golden"
# A run with this variable set writes the files anew; the change is then to be looked at like any other.
RENEW = "AGENTFRAMEWORK_RENEW_GOLDEN" in os.environ
SHOWN = 400

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACCAIAAADwyuo0AAAAC0lEQVR4nGNgwAUAABoAAbw84EEAAAAASUVORK5CYII="

CALLS: Mapping[str, list[dict[str, Any]]] = {
    "Read": [
        {"file_path": "src/app.py"},
        {"file_path": "src/app.py", "offset": 2, "limit": 1},
        {"file_path": "long.txt"},
        {"file_path": "wide.txt"},
        {"file_path": "latin.txt"},
        {"file_path": "empty.txt"},
        {"file_path": "picture.png"},
        {"file_path": "notes.ipynb"},
        {"file_path": "src/app.py", "offset": 99},
        {"file_path": "program"},
        {"file_path": "pipe"},
        {"file_path": "missing"},
        {"file_path": "/etc/passwd"},
    ],
    "Write": [
        {"file_path": "new/file.txt", "content": "text\n"},
        {"file_path": "latin.txt", "content": "text\n"},
        {"file_path": "dos.txt", "content": "one\ntwo\n"},
        {"file_path": "locked.txt", "content": "x"},
        {"file_path": "src/", "content": "x"},
        {"file_path": "../outside", "content": "x"},
    ],
    "Edit": [
        {"file_path": "src/app.py", "old_string": "return 1", "new_string": "return 2"},
        {"file_path": "long.txt", "old_string": "line ", "new_string": "row ", "replace_all": True},
        {"file_path": "src/app.py", "old_string": "def", "new_string": "class"},
        {"file_path": "src/app.py", "old_string": "    return 2", "new_string": "x"},
        {"file_path": "src/app.py", "old_string": "return 22", "new_string": "x"},
        {"file_path": "src/app.py", "old_string": "def", "new_string": "def"},
        {"file_path": "missing", "old_string": "a", "new_string": "b"},
    ],
    "MultiEdit": [
        {
            "file_path": "src/app.py",
            "edits": [{"old_string": "def one", "new_string": "def uno"}, {"old_string": "two", "new_string": "due"}],
        },
        {
            "file_path": "src/app.py",
            "edits": [{"old_string": "uno", "new_string": "one"}, {"old_string": "?", "new_string": ""}],
        },
    ],
    "NotebookEdit": [
        {"notebook_path": "notes.ipynb", "cell_id": "a1", "new_source": "x = 2"},
        {"notebook_path": "notes.ipynb", "cell_id": "a1", "edit_mode": "delete"},
        {"notebook_path": "notes.ipynb", "cell_id": "zz", "new_source": "x"},
        {"notebook_path": "src/app.py", "cell_id": "a1", "new_source": "x"},
    ],
    "Glob": [
        {"pattern": "**/*.py"},
        {"pattern": "*", "path": "src"},
        {"pattern": "many/*"},
        {"pattern": "*.nothing"},
        {"pattern": "*", "path": "missing"},
        {"pattern": "/etc/*"},
    ],
    "Grep": [
        {"pattern": "def"},
        {"pattern": "def", "output_mode": "content", "-A": 1},
        {"pattern": "def", "output_mode": "count"},
        {"pattern": "line", "path": "long.txt", "output_mode": "content", "head_limit": 2},
        {"pattern": "line", "path": "long.txt", "output_mode": "content"},
        {"pattern": "needle", "path": "wide.txt", "output_mode": "content"},
        {"pattern": "nowhere to be found"},
        {"pattern": "("},
        {"pattern": "x", "path": "missing"},
    ],
    "AskUserQuestion": [{"questions": [{"question": "Which one?", "options": ["a", "b"]}]}],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def one():\n\treturn 1\n\n\ndef two():\n\treturn one()\n")
    (tmp_path / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 3_001)))
    (tmp_path / "wide.txt").write_text("x" * 5_000 + "needle" + "y" * 5_000)
    (tmp_path / "latin.txt").write_bytes(b"x = 1\n# caf\xe9\n")
    (tmp_path / "dos.txt").write_bytes(b"a\r\nb\r\n")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "program").write_bytes(b"\x7fELF" + bytes(60))
    (tmp_path / "locked.txt").write_text("x")
    (tmp_path / "locked.txt").chmod(0o444)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "picture.png").write_bytes(base64.b64decode(PICTURE))
    cell = {"cell_type": "code", "id": "a1", "execution_count": 1, "metadata": {}, "source": "x = 1\nprint(x)"}
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1\n"}]
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notes.ipynb").write_text(json.dumps(notebook, indent=1) + "\n")
    for number, path in enumerate(sorted(tmp_path.rglob("*"))):
        if path.is_file():
            os.utime(path, (number, number))
    return tmp_path


def _add_many(folder: Path) -> None:
    """More files than are listed, each newer than the one before."""
    folder.mkdir()
    for number in range(1_005):
        path = folder / f"{number:04}"
        path.touch()
        os.utime(path, (number, number))


def _shown(arguments: Mapping[str, Any], result: ToolResult) -> str:
    """The call, and its answer as the model sees it; of a long answer beginning and end."""
    text = result.content
    if len(text) > SHOWN:
        left = f"\n~~~ {len(text)} characters in all; this file leaves out what is between ~~~\n"
        text = text[: SHOWN // 2] + left + text[-SHOWN // 2 :]
    images = "".join(f"\n<{image.mime_type}, {image.width} x {image.height}>" for image in result.images)
    kind = "error" if result.is_error else "success"
    return f"=== {json.dumps(arguments, ensure_ascii=False)}\n--- {kind}\n{text}{images}\n\n"


@pytest.mark.parametrize("name", CALLS)
async def test_the_answers_of_a_tool_look_like_this_to_the_model(
    name: str, workspace: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    tool = builtin_tools().pick(name)[0]
    if name == "Glob":
        _add_many(workspace / "many")
    seen = "".join([_shown(one, await call(tool, make_context(workspace), one)) for one in CALLS[name]])
    seen = seen.replace(str(workspace), "<workspace>")
    path = GOLDEN / f"{name}.txt"
    if RENEW:
        path.write_text(seen, encoding="utf-8")
    assert seen == path.read_text(encoding="utf-8")
