"""Opens files and directories within reach of the sandbox, and names them in one line.

The sandbox says where a path leads; between that answer and the opening somebody may swap a link in. Whatever
is opened here is therefore asked where it really is, and what is no ordinary file is never opened at all.
Above: every tool that touches files. Below: the sandbox.
"""

import json
import os
import stat
import unicodedata
from collections.abc import Callable
from contextlib import suppress

from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath
from agentframework.tools import ToolContext, ToolResult, error_result

_ATTEMPTS = 3
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "FIFO"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "character device"),
    (stat.S_ISBLK, "block device"),
)


class RefusalError(Exception):
    """A call that cannot be done; ``str()`` is the sentence for the model."""


def answer(error: RefusalError | OutsideWorkspaceError) -> ToolResult:
    """The error result of a call that was refused."""
    return error_result(str(error))


def locate(context: ToolContext, path: str) -> ResolvedPath:
    """Where ``path`` leads. Raises `OutsideWorkspaceError`, its path made printable by `one_line`."""
    try:
        return context.sandbox.resolve(path)
    except OutsideWorkspaceError as error:
        raise OutsideWorkspaceError(str(error).replace(path, one_line(path)) if path else str(error)) from None


def one_line(name: str) -> str:
    """``name`` if it is plain, else as a JSON string with every odd character escaped.

    A tool call that holds this JSON string as its argument names the same file again, also one whose name is
    no UTF-8 (each such byte is a lone surrogate then, as in `os.fsdecode`).
    """
    if name.isascii() and name.isprintable() and not name.startswith('"'):
        return name
    if not any(_is_odd(character) for character in name) and not name.startswith('"'):
        return name
    escaped = json.dumps(name, ensure_ascii=False)
    return "".join(json.dumps(c)[1:-1] if _is_odd(c) else c for c in escaped)


def _is_odd(character: str) -> bool:
    # Cc controls, Cf invisible marks that reorder text, Cs bytes that are no UTF-8, Zl and Zp line breaks
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character != "\u200d"


def kind_of(status: os.stat_result) -> str:
    """``file``, ``directory``, ``FIFO``, ``socket``, ``character device`` …"""
    return next((name for test, name in _KINDS if test(status.st_mode)), "special file")


def refuse_all_but_files(status: os.stat_result, place: ResolvedPath) -> None:
    """Raise `RefusalError` unless ``status`` is that of an ordinary file."""
    kind = kind_of(status)
    if kind != "file":
        hint = "; Glob lists what is in it" if kind == "directory" else " and was not opened"
        raise RefusalError(f"{one_line(place.shown)} is a {kind}, not a file{hint}")


def open_file(place: ResolvedPath) -> tuple[int, os.stat_result]:
    """A descriptor to read ``place`` from, and its status. Neither a FIFO nor a device is ever opened.

    Raises `RefusalError`, and ``OSError`` if it does not exist or may not be read.
    """
    for _ in range(_ATTEMPTS):
        refuse_all_but_files(os.stat(place.path, follow_symlinks=False), place)
        # O_NONBLOCK: should a FIFO take the file's place right now, opening it must not wait for a writer.
        fd = os.open(place.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(fd)
            refuse_all_but_files(status, place)
            if _is_at(fd, place.path):
                return fd, status
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
    raise RefusalError(f"{one_line(place.shown)} was replaced while it was being opened; try again")


def open_directory(path: str, dir_fd: int | None = None) -> int:
    """A descriptor of the directory at a canonical ``path``. Raises ``OSError``, also if it lies elsewhere."""
    fd = os.open(path, _DIRECTORY_FLAGS, dir_fd=dir_fd)
    if dir_fd is None and not _is_at(fd, path):
        os.close(fd)
        raise FileNotFoundError(2, "the directory was replaced while it was being opened", path)
    return fd


def open_or_make_directory(path: str) -> int:
    """Like `open_directory`; creates what is missing of a canonical ``path``."""
    missing: list[str] = []
    there = path
    while not os.path.lexists(there):
        there, name = os.path.split(there)
        missing.append(name)
    fd = open_directory(there)
    while missing:
        name = missing.pop()
        try:
            with suppress(FileExistsError):  # somebody else made it just now; it must only be a directory
                os.mkdir(name, dir_fd=fd)
            below = open_directory(name, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _is_at(fd: int, path: str) -> bool:
    with suppress(OSError):
        return os.readlink(f"/proc/self/fd/{fd}") == path
    # No other system tells a descriptor's path in the spelling of realpath (macOS ignores case).
    return os.path.realpath(path) == path and os.path.samestat(os.stat(path), os.fstat(fd))


def reason(error: OSError) -> str:
    """What the system says, without the number and the path."""
    return (error.strerror or str(error)).lower()
