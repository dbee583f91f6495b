"""HTML to Markdown, and bytes to text as browsers read them.

Above is ``web_fetch``, which imports this module when it is first needed and runs it in a thread; below are
beautifulsoup4 on lxml, which puts in the end tags that HTML lets authors leave out and stays linear on hostile input,
and markdownify.

Sources: WHATWG "Encoding" (labels, byte order marks), WHATWG HTML "Determining the character encoding".
"""

import codecs
import re
from dataclasses import dataclass
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import MarkdownConverter

# Parsing costs some seconds per million characters; more Markdown than the result may hold comes of far less.
MAX_HTML_CHARACTERS = 1_000_000
_SNIFF_BYTES = 1024

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""")
# Python has codecs that are no character sets (punycode, unicode_escape, rot13), some of them slow on purpose-made
# input.
_KNOWN = re.compile(r"(utf|iso|windows|cp|koi8|gb|big5|euc|shift|sjis|us-ascii|ascii|latin|mac)[a-z0-9_:.-]*")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_BULK_START = re.compile(r"<(script|style)\b", re.IGNORECASE)
_NO_CONTENT = ["script", "style", "template", "svg", "iframe", "object", "canvas", "head"]
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")


def decoded(body: bytes, charset: str | None, *, may_declare: bool) -> str:
    """Text of ``body``: by its byte order mark, else ``charset`` (of the HTTP header), else what it declares itself.

    ``may_declare``: whether this is HTML or XML, which can. Else UTF-8, else windows-1252. Bad bytes become U+FFFD.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    declared = _CHARSET.search(body[:_SNIFF_BYTES]) if may_declare else None
    for label in (charset, declared[1].decode("ascii") if declared else None):
        encoding = _codec(label)
        # A declaration that can be read as ASCII is not in UTF-16.
        if encoding is not None and not (label != charset and encoding.startswith("utf-16")):
            return body.decode(encoding, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def _codec(label: str | None) -> str | None:
    name = (label or "").strip("\"' ").lower()
    if not _KNOWN.fullmatch(name):
        return None
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    # The web means windows-1252 by these.
    return "cp1252" if found in ("iso8859-1", "ascii") else found


@dataclass(frozen=True, slots=True)
class Document:
    """``shortened``: the page was longer than what is converted."""

    title: str
    markdown: str
    shortened: bool


class _Converter(MarkdownConverter):
    class Options:
        heading_style = "atx"
        bullets = "-"
        escape_asterisks = False
        escape_underscores = False
        table_infer_header = True

        @staticmethod
        def code_language_callback(element: Tag) -> str | None:
            code = element.find("code")
            classes = [*_classes(element), *(_classes(code) if isinstance(code, Tag) else [])]
            named = [name.partition("-")[2] for name in classes if name.startswith(("language-", "lang-"))]
            return named[0] if named else None


def _classes(element: Tag) -> list[str]:
    value = element.get("class")
    return [] if value is None else value.split() if isinstance(value, str) else list(value)


def to_document(html: str, url: str) -> Document:
    """``html`` as Markdown without scripts, styles and embedded data; links are absolute by ``url``."""
    shortened = False
    if len(html) > MAX_HTML_CHARACTERS:
        html = _without_bulk(html)
        shortened = len(html) > MAX_HTML_CHARACTERS
        html = html[:MAX_HTML_CHARACTERS]
    soup = BeautifulSoup(html, "lxml")
    title = " ".join(soup.title.get_text().split()) if soup.title else ""
    base = soup.find("base", href=True)
    if isinstance(base, Tag):
        url = urljoin(url, str(base["href"]))
    for element in soup.find_all(_NO_CONTENT):
        element.decompose()
    for element in soup.find_all(["a", "img"]):
        _settle_link(element, url)
    try:
        text = _Converter().convert_soup(soup)
    except RecursionError:
        text = soup.get_text("\n", strip=True)
    return Document(title, _BLANK_LINES.sub("\n\n", text).strip(), shortened)


def _settle_link(element: Tag, url: str) -> None:
    name = "href" if element.name == "a" else "src"
    target = str(element.get(name) or "").strip()
    if name == "src" and (not target or target.startswith("data:")):
        element.replace_with(str(element.get("alt") or ""))
        return
    if target.lower().startswith(("javascript:", "data:", "#")) or not target:
        element.attrs.pop(name, None)
        return
    try:
        element[name] = urljoin(url, target)
    except ValueError:  # such as a broken IPv6 address
        element.attrs.pop(name, None)


def _without_bulk(html: str) -> str:
    """``html`` without the contents of scripts and styles, in one pass."""
    kept: list[str] = []
    at = 0
    while start := _BULK_START.search(html, at):
        kept.append(html[at : start.start()])
        end = re.compile(rf"</{start[1]}\s*>", re.IGNORECASE).search(html, start.end())
        if end is None:
            return "".join(kept)
        at = end.end()
    kept.append(html[at:])
    return "".join(kept)
