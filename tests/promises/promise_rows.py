"""Reads the manifest: what three published systems promise, in our own words, and what became of each promise.

A folder per system holds TOML files; a file holds whole sections of that system's document. A row has exactly one
of three states: kept (``tests`` that check it), not yet built (``open``, naming the part that will keep it), or
``diverges`` with its reason and where ours is shown (``shown_by``). Whether those places exist is for
`promise_bindings` to say.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

DOCUMENTS: Mapping[str, str] = {
    "lotagate": "LotaGate agent-sdk",
    "mimik": "mimik agent-kit",
    "robota": "Robota agent-framework",
}
# What a row may wait for.
PARTS = frozenset({
    "agent", "background", "checkpoints", "cli", "context", "docs", "hooks", "mcp", "permissions", "plugins",
    "providers", "sandbox", "session", "settings", "skills", "slash", "stores", "subagents", "tools",
    "transports",
})  # fmt: skip
_STATES = ("tests", "open", "diverges")
_KEYS = frozenset({"id", "promise", "shown_by", "note", *_STATES})
_ID = re.compile(r"([a-z]+)\.([a-z0-9]+(?:-[a-z0-9]+)*)\.([1-9][0-9]*)")

State = Literal["kept", "open", "diverging"]


class ManifestError(Exception):
    """A file of the manifest that cannot be read as one; the message names the file and the row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One promise. ``place`` says where it is written, ``section`` is the title in the published document."""

    place: str
    id: str
    document: str
    section: str
    promise: str
    tests: tuple[str, ...] = ()
    open: str | None = None
    diverges: str | None = None
    shown_by: tuple[str, ...] = ()
    note: str | None = None

    @property
    def state(self) -> State:
        """What became of the promise."""
        if self.open is not None:
            return "open"
        return "kept" if self.diverges is None else "diverging"


def load_manifest(folder: Path) -> tuple[Row, ...]:
    """Every row below ``folder``. Raises `ManifestError`."""
    rows: list[Row] = []
    places: dict[str, str] = {}
    for document in DOCUMENTS:
        files = sorted((folder / document).glob("*.toml"))
        if not files:
            raise ManifestError(f"{folder / document}: no promises of {DOCUMENTS[document]}")
        for path in files:
            for row in _read_file(path, f"{document}/{path.name}", document):
                if row.id in places:
                    raise ManifestError(f"{row.place}: the id is taken by {places[row.id]}")
                places[row.id] = row.place
                rows.append(row)
    return tuple(rows)


def summary_lines(rows: Iterable[Row]) -> list[str]:
    """How many promises of each document are kept, open and diverging, and of all together."""
    states: dict[str, list[State]] = {document: [] for document in DOCUMENTS}
    for row in rows:
        states[row.document].append(row.state)
    everything = [state for found in states.values() for state in found]
    named = [(DOCUMENTS[document], found) for document, found in states.items()]
    width = max(len(name) for name in DOCUMENTS.values())
    return [
        f"{name:<{width}}  {found.count('kept'):>4} kept  {found.count('open'):>4} open  "
        f"{found.count('diverging'):>4} diverging  {len(found):>4} in all"
        for name, found in [*named, ("together", everything)]
    ]


def _read_file(path: Path, name: str, document: str) -> Iterator[Row]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError(f"{name}: {error}") from None
    if unknown := data.keys() - {"sections", "row"}:
        raise ManifestError(f"{name}: unknown key {min(unknown)!r}")
    titles = {_slug(title): title for title in _strings(data, "sections", name)}
    rows = data.get("row")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ManifestError(f"{name}: 'row' has to be an array of tables")
    order: list[tuple[str, int]] = []
    for number, raw in enumerate(cast("list[dict[str, Any]]", rows), 1):
        place = f"{name}: row {number} ({raw.get('id', 'without id')})"
        order.append(_parse_id(raw, place, document, titles))
        yield _row(raw, place, document, titles[order[-1][0]])
    _check_order(order, titles, name)


def _parse_id(
    raw: Mapping[str, Any], place: str, document: str, titles: Mapping[str, str]
) -> tuple[str, int]:
    found = _ID.fullmatch(_text(raw, "id", place))
    if found is None or found[1] != document:
        raise ManifestError(f"{place}: an id is {document}.<section>.<number>")
    if found[2] not in titles:
        raise ManifestError(f"{place}: the file lists no section whose title would be written {found[2]!r}")
    return found[2], int(found[3])


def _check_order(order: Sequence[tuple[str, int]], titles: Mapping[str, str], name: str) -> None:
    """Sorted, and numbered without gaps, so that a row that disappears is missed."""
    expected = [
        (section, number)
        for section in sorted(titles)
        for number in range(1, 1 + sum(found == section for found, _ in order))
    ]
    for index, (found, wanted) in enumerate(zip(order, expected, strict=True), 1):
        if found != wanted:
            raise ManifestError(
                f"{name}: row {index} is {found[0]}.{found[1]} where {wanted[0]}.{wanted[1]} belongs: rows are "
                "sorted by section and numbered from 1 without gaps"
            )
    if empty := titles.keys() - {section for section, _ in order}:
        raise ManifestError(f"{name}: the section {titles[min(empty)]!r} has no row")


def _row(raw: Mapping[str, Any], place: str, document: str, section: str) -> Row:
    if unknown := raw.keys() - _KEYS:
        raise ManifestError(f"{place}: unknown key {min(unknown)!r}")
    states = [key for key in _STATES if key in raw]
    if len(states) != 1:
        raise ManifestError(f"{place}: has {' and '.join(states) or 'no state'}; give one of {', '.join(_STATES)}")
    if ("diverges" in raw) != ("shown_by" in raw):
        raise ManifestError(f"{place}: 'diverges' and 'shown_by' come together")
    row = Row(
        place=place,
        id=raw["id"],
        document=document,
        section=section,
        promise=_text(raw, "promise", place),
        tests=_strings(raw, "tests", place) if "tests" in raw else (),
        open=_text(raw, "open", place) if "open" in raw else None,
        diverges=_text(raw, "diverges", place) if "diverges" in raw else None,
        shown_by=_strings(raw, "shown_by", place) if "shown_by" in raw else (),
        note=_text(raw, "note", place) if "note" in raw else None,
    )
    if row.open is not None and row.open not in PARTS:
        raise ManifestError(f"{place}: open for an unknown part {row.open!r}; parts are {', '.join(sorted(PARTS))}")
    return row


def _text(raw: Mapping[str, Any], key: str, place: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value or value != " ".join(value.split()):
        raise ManifestError(f"{place}: {key!r} has to be text on one line, without blanks around it")
    return value


def _strings(raw: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    value = raw.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise ManifestError(f"{place}: {key!r} has to be a list of strings that is not empty")
    items = cast("list[str]", value)
    if len(set(items)) != len(items):
        raise ManifestError(f"{place}: {key!r} names something twice")
    return tuple(items)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
