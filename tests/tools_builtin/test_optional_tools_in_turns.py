import json
from pathlib import Path

from agentframework import InteractiveSession, PermissionRules, builtin_tools
from agentframework.testing import ScriptedProvider, call, say

NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
NEW = {"new_source": "x = 1", "cell_type": "code", "edit_mode": "insert"}


async def test_rules_about_edits_hold_for_notebooks_and_for_many_edits(tmp_path: Path) -> None:
    for name in ("open", "secret"):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(NOTEBOOK))
        (tmp_path / f"{name}.txt").write_text("old")
    edits = [{"old_string": "old", "new_string": "new"}]
    provider = ScriptedProvider(
        say(
            *(call("NotebookEdit", notebook_path=f"{name}.ipynb", **NEW) for name in ("open", "secret")),
            *(call("MultiEdit", file_path=f"{name}.txt", edits=edits) for name in ("open", "secret")),
        ),
        "done",
    )
    outcomes: list[str] = []
    async with InteractiveSession(
        cwd=tmp_path,
        provider=provider,
        default_tools=builtin_tools().plus("MultiEdit", "NotebookEdit"),
        permission_mode="acceptEdits",
        permissions=PermissionRules(deny=["Edit(secret.*)"]),
    ) as session:
        session.on("tool_end", lambda event: outcomes.append(event.outcome))
        await session.submit("go")
    assert outcomes == ["success", "denied", "success", "denied"]
    assert (tmp_path / "open.txt").read_text() == "new"
    assert (tmp_path / "secret.txt").read_text() == "old"
    assert len(json.loads((tmp_path / "open.ipynb").read_text())["cells"]) == 1
    assert json.loads((tmp_path / "secret.ipynb").read_text()) == NOTEBOOK
