import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin._ledger import FileLedger
from tools_builtin._notebook import render_notebook
from tools_builtin.edit import edit_tool
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]

NOTEBOOK: dict[str, Any] = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {"widgets": {"state": "w" * 50_000}},
    "cells": [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "id": "plot",
            "execution_count": 3,
            "metadata": {},
            "source": "draw(1)\nprint(2)",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": [f"row {i}\n" for i in range(20_000)]},
                {"output_type": "display_data", "data": {"image/png": "A" * 400_000, "text/plain": "<Figure>"}},
                {
                    "output_type": "error",
                    "ename": "ValueError",
                    "evalue": "no",
                    "traceback": ["\x1b[0;31mValueError\x1b[0m", "no"],
                },
                {"output_type": "execute_result", "data": {"application/json": {"é": 1}}},
            ],
        },
        {"cell_type": "code", "metadata": {}, "source": "", "outputs": []},
    ],
}


async def test_a_notebook_is_shown_as_its_cells(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a.ipynb").write_text(json.dumps(NOTEBOOK))
    result = await call(read_tool(FileLedger()), context, file_path="a.ipynb")
    text = result.content
    assert not result.is_error
    assert len(text) < 10_000
    for part in ("markdown intro", "# Title", "code plot [3]", "draw(1)", "row 0", "row 19999", "cell-2", '{"é": 1}'):
        assert part in text
    assert "image/png, 300000 bytes, not shown" in text
    assert "\x1b" not in text
    assert "ValueError" in text
    assert "AAAA" not in text
    assert "wwww" not in text
    assert "characters in all" in text
    assert text.index("markdown intro") < text.index("code plot") < text.index("cell-2")


async def test_a_notebook_of_the_old_format_is_shown_too(tmp_path: Path, context: ToolContext, call: Call) -> None:
    old = {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 1, "source": "Old"},
                    {
                        "cell_type": "code",
                        "prompt_number": 7,
                        "input": ["1 + 1"],
                        "outputs": [
                            {"output_type": "pyout", "text": ["2"], "png": "AAAA"},
                            {"output_type": "stream", "stream": "stderr", "text": "warned"},
                            {"output_type": "pyerr", "ename": "E", "evalue": "v"},
                        ],
                    },
                ]
            }
        ],
    }
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    text = (await call(read_tool(FileLedger()), context, file_path="old.ipynb")).content
    parts = ["heading cell-0", "Old", "code cell-1 [7]", "1 + 1", "2", "image/png, 3 bytes", "stderr", "warned", "E: v"]
    assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize("content", ["{not json", "[1, 2]", '{"cells": 5}', "[" * 100_000])
async def test_what_is_no_notebook_is_shown_as_text_with_a_note(
    tmp_path: Path, context: ToolContext, call: Call, content: str
) -> None:
    (tmp_path / "a.ipynb").write_text(content)
    result = await call(read_tool(FileLedger()), context, file_path="a.ipynb")
    assert "no readable notebook" in result.content
    assert content[:20] in result.content
    assert len(result.content) <= MAX_RESULT_CHARACTERS


async def test_the_text_of_a_notebook_is_edited_byte_for_byte(tmp_path: Path, context: ToolContext, call: Call) -> None:
    files = FileLedger()
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(NOTEBOOK, indent=1) + "\n")
    before = path.read_bytes()
    await call(read_tool(files), context, file_path="a.ipynb")
    result = await call(
        edit_tool(files), context, file_path="a.ipynb", old_string="draw(1)\\nprint(2)", new_string="draw(2)"
    )
    assert not result.is_error
    assert path.read_bytes() == before.replace(b"draw(1)\\nprint(2)", b"draw(2)")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["cells", "worksheets", "source", "outputs", "data", "text", "traceback", "output_type", "image/png"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_a_notebook_or_none(value: object) -> None:
    rendered = render_notebook(json.dumps(value).encode())
    assert rendered is None or isinstance(rendered, str)
