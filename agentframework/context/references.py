"""``@file`` in a prompt: the file goes to the model with the prompt, so that it need not be asked for.

What looks like a path and names no file is left alone, for ``@`` means other things as well. A file that is there and
cannot be added is named with the reason, and the prompt goes on without it. What is opened, and whether it may be, is
up to a `FileSource`; this module decides what counts as a reference and how much is taken.
"""

import base64
import html
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from agentframework.messages import ImagePart, TextPart, UserPart, image_type

MAX_REFERENCES = 8
MAX_DEPTH = 2
MAX_FILE_BYTES = 64 * 1024
MAX_TOTAL_BYTES = 256 * 1024
MAX_IMAGE_BYTES = 5 * 1024 * 1024
OPENING, CLOSING = "<file_references>", "</file_references>"

_TOKEN = re.compile(r'(?:(?<=[\s(\[{])|(?<![\s\S]))@(?:"([^"\n]+)"|([^\s"`@]+))')
_TRAILING = ".,;:!?)]}>'*"
_CLOSING_TAG = re.compile(r"</(?=file(?:_references)?\s*>)", re.IGNORECASE)


class NotReadableError(Exception):
    """The file is there and is not to be had; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that a reference leads to: where it is, how to name it, its first bytes and how many it has."""

    path: str
    shown: str
    data: bytes
    size: int


class FileSource(Protocol):
    """Opens files."""

    def open(self, path: str, limit: int) -> Found | None:
        """The file with at most ``limit`` bytes of it; None if there is none. Raises `NotReadableError`."""
        ...


@dataclass(frozen=True, slots=True)
class Reference:
    """A file that was added. ``reason`` is ``prompt``, or the file that mentions it."""

    original_reference: str
    source_path: str
    relative_path: str
    reason: str
    depth: int
    byte_length: int


@dataclass(slots=True)
class References:
    """What the references of a prompt come to: ``parts`` for the model, and what went wrong."""

    parts: list[UserPart] = field(default_factory=list[UserPart])
    added: list[Reference] = field(default_factory=list[Reference])
    problems: list[str] = field(default_factory=list[str])


def has_references(text: str) -> bool:
    """Whether anything in ``text`` looks like one."""
    return "@" in text and next(mentioned(text), None) is not None


def mentioned(text: str) -> Iterator[str]:
    """The paths that ``text`` refers to, in order.

    ``@path`` at the beginning or after white space or an opening bracket; it holds a dot or a slash and is no address.
    ``@"a path"`` may hold spaces. ``\\@path`` is none.
    """
    for quoted, bare in _TOKEN.findall(text):
        path = quoted or bare.rstrip(_TRAILING)
        if "://" not in path and ("." in path or "/" in path) and path.strip("./~"):
            yield path


def resolve_references(text: str, source: FileSource) -> References:
    """Open what ``text`` refers to, and what those files refer to in turn. Reads files; takes a while."""
    reading = _Reading(source)
    reading.take(text, "", "prompt", 1)
    found = reading.found
    if reading.blocks:
        found.parts.insert(0, TextPart("\n".join([OPENING, *reading.blocks, CLOSING])))
    return found


class _Reading:
    def __init__(self, source: FileSource) -> None:
        self._source = source
        self._seen: set[str] = set()
        self._left = MAX_TOTAL_BYTES
        self.blocks: list[str] = []
        self.found = References()

    def take(self, text: str, folder: str, reason: str, depth: int) -> None:
        nested: list[tuple[str, str, str]] = []
        for path in mentioned(text):
            try:
                found = self._open(path, folder)
                if found is None or found.path in self._seen:
                    continue
                self._seen.add(found.path)
                content = self._content(found)
            except NotReadableError as error:
                if depth == 1:  # what files mention is not what somebody asked for
                    self.found.problems.append(f"@{path} was not added: {error}")
                continue
            self._add(path, found, content, reason, depth)
            if content is not None:
                nested.append((content, os.path.dirname(found.path), found.shown))
        if depth < MAX_DEPTH:
            for content, place, shown in nested:
                self.take(content, place, shown, depth + 1)

    def _open(self, path: str, folder: str) -> Found | None:
        """Beside the file that mentions it, else from the working directory."""
        expanded = os.path.expanduser(path)
        beside = self._source.open(os.path.join(folder, expanded), MAX_IMAGE_BYTES) if folder else None
        return beside or self._source.open(expanded, MAX_IMAGE_BYTES)

    def _content(self, found: Found) -> str | None:
        """The text; None for an image. Raises `NotReadableError`."""
        if len(self.found.added) >= MAX_REFERENCES:
            raise NotReadableError(f"a prompt may refer to {MAX_REFERENCES} files")
        if image_type(found.data) is not None:
            if found.size > MAX_IMAGE_BYTES:
                raise NotReadableError(f"an image of {found.size:,} bytes, the limit is {MAX_IMAGE_BYTES:,}")
            return None
        if found.size > MAX_FILE_BYTES:
            raise NotReadableError(f"it has {found.size:,} bytes, the limit is {MAX_FILE_BYTES:,}")
        if found.size > self._left:
            raise NotReadableError(f"all files together would have over {MAX_TOTAL_BYTES:,} bytes")
        try:
            if b"\0" in found.data:
                raise ValueError
            return found.data.decode("utf-8-sig")
        except ValueError:
            raise NotReadableError("it is binary") from None

    def _add(self, path: str, found: Found, content: str | None, reason: str, depth: int) -> None:
        self.found.added.append(Reference(path, found.path, found.shown, reason, depth, found.size))
        name, why = html.escape(found.shown), html.escape(reason)
        if content is None:
            kind = image_type(found.data)
            assert kind is not None
            self.found.parts.append(ImagePart(kind, base64.b64encode(found.data).decode()))
            self.blocks.append(f'<file path="{name}" bytes="{found.size}" reason="{why}">[image]</file>')
            return
        self._left -= found.size
        told = _CLOSING_TAG.sub(r"<\\/", content)
        self.blocks.append(f'<file path="{name}" bytes="{found.size}" reason="{why}">\n{told}\n</file>')
