"""Shows a PDF document as the text of its pages.

What has no text layer (scans) is said so, page by page. Source of the format: ISO 32000; read with pypdf.
"""

import io
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentframework._base.bounded import cut_middle, head_and_tail

from ._paths import RefusalError

MAX_FILE_BYTES = 100_000_000
MAX_PAGES = 20  # in one call
PAGE_CHARACTERS = 100_000  # of one page; more is no page for reading

_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})?)?\s*")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PdfText:
    """``text`` of the pages ``first`` to ``last`` of ``total``, each under a line with its number."""

    text: str
    first: int
    last: int
    total: int


def page_range(asked: str) -> tuple[int, int | None]:
    """``"3"``, ``"1-5"`` or ``"10-"`` (to the end: None). Raises `RefusalError`."""
    match = _RANGE.fullmatch(asked)
    first = int(match[1]) if match else 0
    last = int(match[2]) if match and match[2] else (None if match and "-" in asked else first)
    if first < 1 or (last is not None and last < first):
        raise RefusalError(f'pages must look like "3", "1-5" or "10-", not {head_and_tail(repr(asked))}')
    return first, last


def pdf_text(data: bytes, pages: tuple[int, int | None], check: Callable[[], None]) -> PdfText:
    """The text of ``pages``, at most `MAX_PAGES` of them. ``check`` is called before each and may raise.

    Raises `RefusalError` for a document that cannot be read, and for pages beyond its end.
    """
    document = _open(data)
    total = len(document)
    first = pages[0]
    if first > total:
        raise RefusalError(f"it has {total} pages; page {first} is beyond the end")
    last = min(total, first + MAX_PAGES - 1, pages[1] or total)
    lines: list[str] = []
    for number in range(first, last + 1):
        check()
        lines += (f"--- page {number} of {total} ---", _text(document[number - 1]))
    return PdfText("\n".join(lines) + "\n", first, last, total)


def _open(data: bytes) -> Any:
    from pypdf import PdfReader  # noqa: PLC0415 - heavy, and few files are PDF

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports each oddity of a file on stderr
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise RefusalError("the document is encrypted and needs a password")
        len(reader.pages)
    except RefusalError:
        raise
    except Exception as error:  # the library lets all kinds through for damaged files
        raise RefusalError(f"the document is damaged and cannot be read: {_brief(error)}") from None
    return reader.pages


def _text(page: Any) -> str:
    try:
        text = _CONTROLS.sub("", page.extract_text())
    except Exception as error:
        return f"[this page cannot be read: {_brief(error)}]"
    return cut_middle(text.strip(), PAGE_CHARACTERS) or "[no text on this page; it may be a scan]"


def _brief(error: Exception) -> str:
    return head_and_tail(" ".join(f"{type(error).__name__}: {error}".split()), 200)
