import errno
import os
import struct
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from agentframework.tools import ToolContext, ToolResult
from tools_builtin._access import copy_attributes
from tools_builtin._atomic import replace_by_named, replace_by_nameless
from tools_builtin._ledger import FileLedger
from tools_builtin.edit import edit_tool
from tools_builtin.write import write_tool

Call = Callable[..., Awaitable[ToolResult]]
ACL, DEFAULT_ACL = "system.posix_acl_access", "system.posix_acl_default"
NOBODY = 65534


def acl(*entries: tuple[int, int, int]) -> bytes:
    """The binary form: tag (1 owner, 2 user, 4 group, 16 mask, 32 other), permissions, id."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NO_ID = 0xFFFFFFFF
SHARED = acl((1, 6, NO_ID), (2, 6, NOBODY), (4, 4, NO_ID), (16, 6, NO_ID), (32, 0, NO_ID))


def set_or_skip(path: Path, name: str, value: bytes) -> None:
    if not hasattr(os, "setxattr"):
        pytest.skip("no extended attributes on this system")
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM):
            pytest.skip(f"no {name} on this filesystem")
        raise


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shared"
    path.write_text("old text")
    return path


async def test_an_edit_keeps_the_access_control_list(file: Path, context: ToolContext, call: Call) -> None:
    set_or_skip(file, ACL, SHARED)
    await call(edit_tool(FileLedger()), context, file_path="shared", old_string="old", new_string="new")
    assert file.read_text() == "new text"
    assert os.getxattr(file, ACL) == SHARED


async def test_a_list_that_the_directory_hands_down_does_not_widen_access(
    tmp_path: Path, file: Path, context: ToolContext, call: Call
) -> None:
    file.chmod(0o600)
    set_or_skip(tmp_path, DEFAULT_ACL, SHARED)
    result = await call(write_tool(FileLedger()), context, file_path="shared", content="new")
    assert not result.is_error
    assert ACL not in os.listxattr(file)
    assert file.stat().st_mode & 0o777 == 0o600
    await call(write_tool(FileLedger()), context, file_path="another", content="new")
    assert ACL in os.listxattr(tmp_path / "another")  # a new file is as the directory wants it


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.mark.parametrize("way", [replace_by_named, replace_by_nameless])
def test_extended_attributes_are_kept_on_every_way(file: Path, directory: int, way: Callable[..., object]) -> None:
    set_or_skip(file, "user.origin", b"somewhere")
    way(directory, "shared", b"new", file.stat())
    assert os.getxattr(file, "user.origin") == b"somewhere"


def test_a_file_that_takes_no_attributes_is_written_all_the_same() -> None:
    reader, writer = os.pipe()
    copy_attributes(reader, writer)
    os.close(reader)
    os.close(writer)
