"""Gives a new file the access that the one it replaces had: owner, mode, access control list, extended attributes.

Each as far as the system has it and lets us. Where the old group cannot be kept, no other group gets its rights.
Sources: acl(5), xattr(7); on macOS fcopyfile(3).
"""

import ctypes
import os
import stat
import sys
from contextlib import suppress

_ACL = "system.posix_acl_access"
# Of the content that was, not of that which comes: program privileges, and hashes of what stood there.
_OF_THE_CONTENT = ("security.capability", "security.ima", "security.evm")
_COPYFILE_ACL_AND_XATTR = 1 << 0 | 1 << 2


def keep_access(fd: int, before: os.stat_result, place: tuple[int, str]) -> None:
    """``before`` is the status of the old file, which is at ``place``: an open directory and a name in it."""
    same_group = _keep_owner(fd, before)
    mode = stat.S_IMODE(before.st_mode)
    if not same_group:
        # Another group must not get what was meant for the old one.
        mode = (mode & ~0o2070) | (mode & 0o007) << 3
    if hasattr(os, "removexattr"):
        with suppress(OSError):
            os.removexattr(fd, _ACL)  # what the directory has handed down
    os.fchmod(fd, mode)
    if same_group:
        _keep_attributes(fd, before, place)


def _keep_owner(fd: int, before: os.stat_result) -> bool:
    """Whether the file belongs to the old group now."""
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(fd, before.st_uid, before.st_gid)
        except PermissionError:
            with suppress(PermissionError):
                os.fchown(fd, -1, before.st_gid)
    return os.fstat(fd).st_gid == before.st_gid


def _keep_attributes(fd: int, before: os.stat_result, place: tuple[int, str]) -> None:
    directory, name = place
    try:
        old = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except OSError:
        return
    try:
        if os.path.samestat(os.fstat(old), before):
            copy_attributes(old, fd)
    finally:
        os.close(old)


def copy_attributes(old: int, new: int) -> None:
    """Access control list and extended attributes, from descriptor to descriptor; what is refused is left out."""
    if sys.platform == "darwin":
        library = ctypes.CDLL(None)
        library.fcopyfile(old, new, None, _COPYFILE_ACL_AND_XATTR)
        return
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(old)
    except OSError:
        return
    for name in names:
        if name not in _OF_THE_CONTENT:
            with suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))
