import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.tools import ToolContext, ToolResult
from tools_builtin._cells import CellChange, change_cells
from tools_builtin._ledger import FileLedger
from tools_builtin._paths import RefusalError
from tools_builtin.notebook_edit import notebook_edit_tool
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]


def notebook(count: int = 3, minor: int = 5, **cell: Any) -> dict[str, Any]:
    cells: list[dict[str, Any]] = []
    for number in range(count):
        made: dict[str, Any] = {"cell_type": "code", "execution_count": number, "metadata": {"ü": [1.50, {}]}}
        made |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": ["x\n"]}], "source": ["a\n", "b"]}
        cells.append({**made, **({"id": f"id{number}"} if minor >= 5 else {}), **cell})
    return {"cells": cells, "metadata": {"k": "cells"}, "nbformat": 4, "nbformat_minor": minor}


def written(value: Any, indent: int | str | None = 1, end: str = "\n") -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False) + end


async def test_a_cell_is_replaced_and_nothing_else_changes(tmp_path: Path, context: ToolContext, call: Call) -> None:
    before = notebook()
    path = tmp_path / "n.ipynb"
    path.write_text(written(before))
    files = FileLedger()
    await call(read_tool(files), context, file_path="n.ipynb")
    result = await call(
        notebook_edit_tool(files), context, notebook_path="n.ipynb", cell_id="id1", new_source="c\nd = '\\n'"
    )
    assert result.content == "Replaced cell id1 in n.ipynb."
    assert result.diff is not None
    after = {**before["cells"][1], "execution_count": None, "outputs": [], "source": ["c\n", "d = '\\n'"]}
    expected = {**before, "cells": [before["cells"][0], after, before["cells"][2]]}
    assert path.read_text() == written(expected)
    again = await call(notebook_edit_tool(files), context, notebook_path="n.ipynb", cell_id="id0", edit_mode="delete")
    assert not again.is_error


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mode", ["replace", "insert", "insert first", "delete"])
@pytest.mark.parametrize("at", [0, 2])
def test_the_form_of_the_file_is_kept(indent: Any, end: str, newline: str, mode: Any, at: int) -> None:
    value = notebook(minor=4)
    text = written(value, indent, end).replace("\n", newline)
    cell = None if mode == "insert first" else f"cell-{at}"
    kind: Any = mode.split()[0]
    made, _ = change_cells(text, CellChange(kind, cell, "s", None if mode == "replace" else "markdown"))
    new = {"cell_type": "markdown", "metadata": {}, "source": ["s"]}
    cells = list(value["cells"])
    if mode == "replace":
        cells[at] = {**cells[at], "execution_count": None, "outputs": [], "source": ["s"]}
    elif mode == "delete":
        del cells[at]
    else:
        cells.insert(at + 1 if mode == "insert" else 0, new)
    expected = written({**value, "cells": cells}, indent, end).replace("\n", newline)
    assert json.loads(made) == json.loads(expected)
    if indent is not None:
        assert made == expected
    else:
        assert ("\n" in made) is (newline in text)


def test_a_new_cell_has_an_id_from_format_four_five_on_and_may_be_the_only_one() -> None:
    for minor, has_id in ((5, True), (4, False)):
        for indent in (1, None):
            text = written(notebook(0, minor), indent)
            made, said = change_cells(text, CellChange("insert", None, "x", "code"))
            (cell,) = json.loads(made)["cells"]
            assert ("id" in cell) is has_id
            assert (cell["source"], cell["outputs"], cell["execution_count"]) == (["x"], [], None)
            assert said == f"Inserted code cell {cell.get('id', 'cell-0')} at the beginning"
            back, _ = change_cells(made, CellChange("delete", cell.get("id", "cell-0"), "", None))
            assert json.loads(back) == json.loads(text)


def test_the_kind_of_a_cell_can_change_and_a_source_that_is_one_text_stays_one() -> None:
    made, _ = change_cells(written(notebook(source="a\nb")), CellChange("replace", "id0", "# T\nx", "markdown"))
    cell = json.loads(made)["cells"][0]
    assert (cell["cell_type"], cell["source"]) == ("markdown", "# T\nx")
    assert "outputs" not in cell
    assert "execution_count" not in cell


def test_escapes_are_kept_as_the_file_has_them() -> None:
    text = json.dumps(notebook(), indent=1)
    assert text.isascii()
    made, _ = change_cells(text, CellChange("replace", "id0", "é", None))
    assert made.isascii()
    assert json.loads(made)["cells"][0]["source"] == ["é"]


@pytest.mark.parametrize(
    ("text", "cell", "says"),
    [
        (written(notebook()), "nope", "there is no cell nope; there are id0, id1, id2"),
        (written(notebook(0)), "x", "there are none"),
        (written(notebook(id="same")), "same", "3 cells have the id same"),
        ('{"worksheets": [], "nbformat": 3}', "x", "no notebook of format 4"),
        ("{", "x", "no notebook of format 4"),
        ("[]", "x", "no notebook of format 4"),
        ("{}", "x", "no notebook of format 4"),
        ('{"cells": {}}', "x", "no notebook of format 4"),
        ('{"cells": [1]}', "x", "no notebook of format 4"),
    ],
)
def test_what_cannot_be_done_is_said(text: str, cell: str, says: str) -> None:
    with pytest.raises(RefusalError, match=says):
        change_cells(text, CellChange("replace", cell, "", None))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"new_source": "x"}, "cell_id is missing"),
        ({"edit_mode": "delete"}, "cell_id is missing"),
        ({"cell_id": "id0"}, "new_source is missing"),
        ({"edit_mode": "insert", "new_source": "x"}, "cell_type is missing"),
        ({"cell_id": "id0", "new_source": "\ud800"}, "lone surrogates"),
        ({"cell_id": "id9", "new_source": "x"}, "n.ipynb was not changed: there is no cell id9"),
    ],
)
async def test_a_call_that_lacks_something_changes_nothing(
    tmp_path: Path, context: ToolContext, call: Call, arguments: dict[str, Any], says: str
) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(written(notebook()))
    result = await call(notebook_edit_tool(FileLedger()), context, notebook_path="n.ipynb", **arguments)
    assert result.is_error
    assert says in result.content
    assert path.read_text() == written(notebook())


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


cells_of_any_kind = st.dictionaries(st.sampled_from(["cell_type", "source", "metadata", "x"]), values)


@given(st.lists(cells_of_any_kind, min_size=1, max_size=4), values, st.data())
def test_other_cells_stay_character_by_character(cells: list[Any], rest: Any, data: st.DataObject) -> None:
    value = {"a": rest, "cells": cells, "z": rest}
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1, 2])), ensure_ascii=False)
    at = data.draw(st.integers(0, len(cells) - 1))
    made, _ = change_cells(text, CellChange("replace", f"cell-{at}", "new", None))
    after = json.loads(made)
    assert after["cells"][at]["source"] in ("new", ["new"])
    assert [cell for index, cell in enumerate(after["cells"]) if index != at] == [
        cell for index, cell in enumerate(cells) if index != at
    ]
    assert (after["a"], after["z"], list(after)) == (rest, rest, list(value))
