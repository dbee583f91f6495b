"""Changes one cell in the JSON text of a notebook; every character outside of that cell stays.

Formats from 4 on; source: the nbformat documentation ("The notebook file format").
"""

import json
import re
import secrets
from dataclasses import dataclass
from typing import Any, Literal, cast

from ._paths import RefusalError

_SPACE = re.compile(r"[ \t\r\n]*")
_NOT_EDITABLE = "it is no notebook of format 4 or later; Edit changes its text"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class CellChange:
    """``cell`` is an id, or ``cell-N`` (from 0) where cells have none; None with insert: at the beginning."""

    mode: Literal["replace", "insert", "delete"]
    cell: str | None
    source: str
    kind: Literal["code", "markdown"] | None


@dataclass(frozen=True, slots=True)
class _Cell:
    value: dict[str, Any]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Form:
    """How the file is laid out; ``unit`` is one level of indentation, None if all is on one line."""

    unit: str | None
    newline: str
    ascii_only: bool
    colon: str

    def cell(self, value: dict[str, Any]) -> str:
        separators = (", " if self.unit is None and self.colon == ": " else ",", self.colon)
        text = json.dumps(value, indent=self.unit, ensure_ascii=self.ascii_only, separators=separators)
        return text if self.unit is None else text.replace("\n", self.newline + 2 * self.unit)

    @property
    def between(self) -> str:
        return "" if self.unit is None else self.newline + 2 * self.unit

    @property
    def closing(self) -> str:
        return "" if self.unit is None else self.newline + self.unit


def change_cells(text: str, change: CellChange) -> tuple[str, str]:
    """The changed text, and what was done. Raises `RefusalError`."""
    try:
        notebook: Any = json.loads(text)
        cells, opening = _scan(text)
    except (ValueError, RecursionError):
        raise RefusalError(_NOT_EDITABLE) from None
    form = _form_of(text)
    names = [_name(cell, index) for index, cell in enumerate(cells)]
    at = _index(names, change.cell)
    if change.mode == "delete":
        return _without(text, cells, at), f"Deleted cell {names[at]}"
    if change.mode == "insert":
        assert change.kind is not None
        value = _new_cell(change, needs_id=_has_ids(notebook), taken=names)
        made = _with(text, cells, at, opening, (form, form.cell(value)))
        where = f"after {names[at]}" if at >= 0 else "at the beginning"
        return made, f"Inserted {change.kind} cell {value.get('id') or f'cell-{at + 1}'} {where}"
    cell, made = cells[at], form.cell(_replaced(cells[at].value, change))
    return text[: cell.start] + made + text[cell.end :], f"Replaced cell {names[at]}"


def _scan(text: str) -> tuple[list[_Cell], int]:
    """The cells with their places, and the place behind the bracket that begins their list."""
    at = _skip(text, 0)
    if not text.startswith("{", at):
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while True:
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == "cells":
            return _list(text, at)
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if not text.startswith(",", at):
            raise ValueError("no cells")
        at = _skip(text, at + 1)


def _list(text: str, at: int) -> tuple[list[_Cell], int]:
    if not text.startswith("[", at):
        raise ValueError("cells are no list")
    opening = at + 1
    cells: list[_Cell] = []
    at = _skip(text, opening)
    while not text.startswith("]", at):
        value: Any
        value, end = _DECODER.raw_decode(text, at)
        if not isinstance(value, dict):
            raise ValueError("a cell is no object")
        cells.append(_Cell(cast("dict[str, Any]", value), at, end))
        at = _skip(text, end)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return cells, opening


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _form_of(text: str) -> _Form:
    first = re.match(r"\s*\{(\r?\n)([ \t]*)\"", text)
    colon = ": " if re.search(r'"\s*: ', text) else ":"
    ascii_only = text.isascii() and re.search(r"\\u[0-9a-fA-F]{4}", text) is not None
    if first is None:
        return _Form(None, "", ascii_only, colon)
    return _Form(first.group(2), first.group(1), ascii_only, colon)


def _name(cell: _Cell, index: int) -> str:
    return str(cell.value.get("id") or f"cell-{index}")


def _index(names: list[str], name: str | None) -> int:
    if name is None:
        return -1
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise RefusalError(f"{names.count(name)} cells have the id {name}")
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise RefusalError(f"there is no cell {name}; there are {shown or 'none'}")


def _has_ids(notebook: dict[str, Any]) -> bool:
    """Cells have ids from format 4.5 on."""
    versions = notebook.get("nbformat"), notebook.get("nbformat_minor")
    major, minor = (value if isinstance(value, int) else 0 for value in versions)
    return (major, minor) >= (4, 5)


def _new_cell(change: CellChange, *, needs_id: bool, taken: list[str]) -> dict[str, Any]:
    value: dict[str, Any] = {"cell_type": change.kind}
    if change.kind == "code":
        value["execution_count"] = None
    if needs_id:
        made = secrets.token_hex(4)
        while made in taken:
            made = secrets.token_hex(4)
        value["id"] = made
    value["metadata"] = {}
    if change.kind == "code":
        value["outputs"] = []
    value["source"] = change.source.splitlines(keepends=True)
    return value


def _replaced(cell: dict[str, Any], change: CellChange) -> dict[str, Any]:
    as_text = isinstance(cell.get("source"), str)
    value = {**cell, "source": change.source if as_text else change.source.splitlines(keepends=True)}
    kind = change.kind or value.get("cell_type")
    value["cell_type"] = kind
    if kind == "code":
        value["execution_count"], value["outputs"] = None, []
    else:
        value.pop("execution_count", None)
        value.pop("outputs", None)
    return value


def _with(text: str, cells: list[_Cell], at: int, opening: int, new: tuple[_Form, str]) -> str:
    form, cell = new
    if at >= 0:
        end = cells[at].end
        return f"{text[:end]},{form.between}{cell}{text[end:]}"
    if cells:
        start = cells[0].start
        return f"{text[:start]}{cell},{form.between}{text[start:]}"
    rest = text[_skip(text, opening) :]
    return f"{text[:opening]}{form.between}{cell}{form.closing}{rest}"


def _without(text: str, cells: list[_Cell], at: int) -> str:
    cell = cells[at]
    if at + 1 < len(cells):
        return text[: cell.start] + text[cells[at + 1].start :]
    if at > 0:
        return text[: cells[at - 1].end] + text[cell.end :]
    before, after = text[: cell.start].rstrip(), text[cell.end :].lstrip()
    return before + after
