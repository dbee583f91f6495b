"""Replaces a file's content as a whole: whoever looks, at any moment, finds the old content or the new one.

The new content is written to a file without a name (Linux) or with a hidden one, flushed, and then takes the
name over (rename(2) is atomic). Everything happens relative to the open directory, so a link swapped in for
any part of the path changes nothing. Other hard links to the old file keep the old content.
"""

import errno
import os
import secrets
import time
from contextlib import suppress

from ._access import keep_access
from ._paths import RefusalError, open_or_make_directory

# A process killed in the wrong moment leaves such a name behind; the next write in the directory removes it.
TEMPORARY_SUFFIX = ".agentframework-tmp"
_NEW_FILE_MODE = 0o666  # the process's umask takes its part
_NO_WAY = (errno.EACCES, errno.EPERM, errno.EROFS)
_ABANDONED_S = 60.0
_UNKNOWN_FLAG = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


def replace_file(path: str, data: bytes, before: os.stat_result | None, old: bytes | None) -> bool:
    """Make ``data`` the content of the file at a canonical ``path``; directories are created.

    ``before`` is the status of the file that is there (its mode and access control list, and where allowed its owner
    and group, are kept) and ``old`` its content. True if it happened in one step. False if the directory may not be
    changed and the file was rewritten in place; should that fail, ``old`` is put back. Raises ``OSError`` and
    `RefusalError`, the old content intact.
    """
    directory = open_or_make_directory(os.path.dirname(path))
    try:
        name = os.path.basename(path)
        _sweep(directory)
        try:
            if not replace_by_nameless(directory, name, data, before):
                replace_by_named(directory, name, data, before)
        except OSError as error:
            if error.errno not in _NO_WAY or before is None or old is None:
                raise
            rewrite_in_place(directory, name, data, before, old)
            return False
        return True
    finally:
        os.close(directory)


def replace_by_nameless(directory: int, name: str, data: bytes, before: os.stat_result | None) -> bool:
    """Through a file that has no name until it is complete. False if this system or filesystem has none."""
    flag: int | None = getattr(os, "O_TMPFILE", None)
    if flag is None or not os.path.isdir("/proc/self/fd"):
        return False
    try:
        fd = os.open(".", os.O_WRONLY | os.O_CLOEXEC | flag, _NEW_FILE_MODE, dir_fd=directory)
    except OSError as error:
        if error.errno in _UNKNOWN_FLAG:
            return False
        raise
    try:
        _fill(fd, data, before, (directory, name))
        if before is None:
            _give_name(fd, directory, name)
            return True
        temporary = _temporary_name()
        _give_name(fd, directory, temporary)
        _take_over(directory, temporary, name, before)
        return True
    finally:
        os.close(fd)


def replace_by_named(directory: int, name: str, data: bytes, before: os.stat_result | None) -> None:
    """Through a hidden file beside it."""
    temporary = _temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, _NEW_FILE_MODE, dir_fd=directory)
    try:
        try:
            _fill(fd, data, before, (directory, name))
        finally:
            os.close(fd)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise
    _take_over(directory, temporary, name, before)


def rewrite_in_place(directory: int, name: str, data: bytes, before: os.stat_result, old: bytes) -> None:
    """Overwrite the file itself; on failure put the old content back."""
    fd = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    try:
        if _version(os.fstat(fd)) != _version(before):
            raise RefusalError("somebody else changed the file at the same time; read it again")
        try:
            _overwrite(fd, data)
        except OSError:
            with suppress(OSError):
                _overwrite(fd, old)
            raise
    finally:
        os.close(fd)


def _temporary_name() -> str:
    return f".{os.getpid()}-{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"


def _sweep(directory: int) -> None:
    """Remove what killed writers left behind. Whatever stands in the way of that is no fault of this write."""
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(TEMPORARY_SUFFIX) and _is_abandoned(entry):
                with suppress(OSError):
                    os.unlink(entry.name, dir_fd=directory)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    """Its writer is gone, and was not just now in another process namespace, where its number means nothing."""
    writer = entry.name.removeprefix(".").partition("-")[0]
    if not writer.isdigit() or not entry.is_file(follow_symlinks=False):
        return False
    if time.time() - entry.stat(follow_symlinks=False).st_mtime < _ABANDONED_S:
        return False
    try:
        os.kill(int(writer), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _give_name(fd: int, directory: int, name: str) -> None:
    # linkat(2) with AT_SYMLINK_FOLLOW, which is what the target directory's descriptor makes os.link use
    os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=directory, follow_symlinks=True)


def _take_over(directory: int, temporary: str, name: str, before: os.stat_result | None) -> None:
    try:
        _refuse_if_changed(directory, name, before)
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise


def _refuse_if_changed(directory: int, name: str, before: os.stat_result | None) -> None:
    """What was decided about ``before`` must not hit something else."""
    try:
        now = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if _version(now) != _version(before):
        raise RefusalError("somebody else changed the file at the same time; read it again")


def _version(status: os.stat_result | None) -> tuple[int, ...] | None:
    if status is None:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _fill(fd: int, data: bytes, before: os.stat_result | None, place: tuple[int, str]) -> None:
    _write(fd, data)
    if before is not None:
        keep_access(fd, before, place)
    os.fsync(fd)


def _overwrite(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    _write(fd, data)
    os.ftruncate(fd, len(data))
    os.fsync(fd)


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
