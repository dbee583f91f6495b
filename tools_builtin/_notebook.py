"""Shows a Jupyter notebook as the text a person sees in it, instead of JSON full of images and widget state.

Formats 3 and 4; source: the nbformat documentation ("The notebook file format").
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from agentframework._base.bounded import cut_middle

MAX_FILE_BYTES = 50_000_000
OUTPUT_CHARACTERS = 4_000

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Formats before 4 keep the data of an output under short names beside its type.
_OLD_NAMES = {"text": "text/plain", "png": "image/png", "jpeg": "image/jpeg", "svg": "image/svg+xml"}


def render_notebook(data: bytes) -> str | None:
    """The cells in their order with their ids, and their outputs; None if this is no notebook."""
    try:
        notebook: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(notebook, dict):
        return None
    cells = _cells(cast("Mapping[str, Any]", notebook))
    if cells is None:
        return None
    lines: list[str] = []
    for index, cell in enumerate(cells):
        if isinstance(cell, dict):
            lines += _cell(index, cast("Mapping[str, Any]", cell))
    return "\n".join(lines) + "\n" if lines else ""


def _cells(notebook: Mapping[str, Any]) -> list[Any] | None:
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cast("list[Any]", cells)
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found: list[Any] = []
    for sheet in _list(sheets):
        if isinstance(sheet, dict):
            found += _list(cast("dict[str, Any]", sheet).get("cells"))
    return found


def _cell(index: int, cell: Mapping[str, Any]) -> Iterable[str]:
    kind = cell.get("cell_type", "cell")
    name = cell.get("id") or f"cell-{index}"
    count = cell.get("execution_count", cell.get("prompt_number"))
    yield f"# --- {kind} {name}" + (f" [{count}]" if count is not None else "")
    yield from _text(cell.get("source", cell.get("input", ""))).splitlines()
    for output in _list(cell.get("outputs")):
        if isinstance(output, dict):
            yield from _output(cast("Mapping[str, Any]", output))


def _output(output: Mapping[str, Any]) -> Iterable[str]:
    kind = output.get("output_type")
    if kind == "stream":
        label = str(output.get("name", output.get("stream", "stdout")))
        yield from _block(label, _text(output.get("text")))
    elif kind in ("error", "pyerr"):
        trace = "\n".join(str(line) for line in _list(output.get("traceback")))
        yield from _block("error", trace or f"{output.get('ename')}: {output.get('evalue')}")
    else:
        data = output.get("data")
        if not isinstance(data, dict):
            data = {full: output[short] for short, full in _OLD_NAMES.items() if short in output}
        yield from _data(cast("Mapping[str, Any]", data))


def _data(data: Mapping[str, Any]) -> Iterable[str]:
    for mime_type, value in data.items():
        if mime_type.startswith("image/"):
            yield f"# output: {mime_type}, {len(_text(value)) * 3 // 4} bytes, not shown"
    for mime_type in ("text/plain", "text/markdown", "text/html", "application/json"):
        if mime_type in data:
            value = data[mime_type]
            text = _text(value) if isinstance(value, str | list) else json.dumps(value, ensure_ascii=False)
            yield from _block(mime_type, text)
            return


def _block(label: str, text: str) -> Iterable[str]:
    yield f"# output: {label}"
    yield from cut_middle(_ANSI.sub("", text), OUTPUT_CHARACTERS).splitlines()


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(piece) for piece in _list(cast("Any", value)))
    return value if isinstance(value, str) else ""
