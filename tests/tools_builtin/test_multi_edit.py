from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import builtin_tools
from agentframework.errors import ConfigurationError
from agentframework.tools import ToolContext, ToolResult
from tools_builtin._ledger import FileLedger
from tools_builtin.multi_edit import multi_edit_tool
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]


def edit(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"old_string": old, "new_string": new, **more}


async def test_edits_are_made_in_order_in_one_step(tmp_path: Path, context: ToolContext, call: Call) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n# caf\xe9\r\nb = a\r\nb = a\r\n")
    path.chmod(0o755)
    edits = [edit("a = 1\n", "a = 2\nx = \\1\n"), edit("a = 2", "c = 2"), edit("b = a", "b = c", replace_all=True)]
    result = await call(multi_edit_tool(FileLedger()), context, file_path="a.py", edits=edits)
    assert result.content == "Made 3 edits in a.py: line 1; line 1; lines 4, 5."
    assert path.read_bytes() == b"\xef\xbb\xbfc = 2\r\nx = \\1\r\n# caf\xe9\r\nb = c\r\nb = c\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    assert result.diff is not None


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ([edit("one", "1"), edit("missing", "x")], "edit 2 of 2: old_string was not found"),
        ([edit("one", "1"), edit("o", "x")], "edit 2 of 2: old_string is not unique"),
        ([edit("one", "two"), edit("one", "1")], "edit 2 of 2: old_string was not found"),
        ([edit("one", "1"), edit("1", "1")], "edit 2 of 2: old_string and new_string are identical"),
        ([edit("one", "1"), edit("1", "one")], "together the edits change nothing"),
        ([edit("one", "1"), edit("three", "\ud800")], "edit 2 of 2: new_string must be text"),
    ],
)
async def test_if_one_edit_cannot_be_made_none_is(
    tmp_path: Path, context: ToolContext, call: Call, edits: list[dict[str, Any]], says: str
) -> None:
    (tmp_path / "a").write_text("one two too\nthree")
    result = await call(multi_edit_tool(FileLedger()), context, file_path="a", edits=edits)
    assert result.is_error
    assert says in result.content
    assert (tmp_path / "a").read_text() == "one two too\nthree"


async def test_a_file_that_has_changed_since_it_was_read_is_refused(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    files = FileLedger()
    (tmp_path / "a").write_text("one")
    await call(read_tool(files), context, file_path="a")
    (tmp_path / "a").write_text("one more")
    result = await call(multi_edit_tool(files), context, file_path="a", edits=[edit("one", "two")])
    assert "has changed since it was read" in result.content
    await call(read_tool(files), context, file_path="a")
    assert not (await call(multi_edit_tool(files), context, file_path="a", edits=[edit("one", "two")])).is_error
    assert not (await call(multi_edit_tool(files), context, file_path="a", edits=[edit("two", "six")])).is_error


def test_optional_tools_are_offered_only_when_asked_for() -> None:
    tools = builtin_tools()
    assert len(tools) == 10
    assert {made.name for made in tools.optional} >= {"MultiEdit", "NotebookEdit"}
    assert [made.name for made in tools.pick("MultiEdit", "Read")] == ["MultiEdit", "Read"]
    assert [made.name for made in tools.without("Bash", "Shell").plus("NotebookEdit")][-2:] == [
        "AskUserQuestion",
        "NotebookEdit",
    ]
    with pytest.raises(ConfigurationError, match="NotebookEdit"):
        tools.plus("NoSuchTool")
