import os
import random
import resource
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools_builtin._atomic import (
    TEMPORARY_SUFFIX,
    replace_by_named,
    replace_by_nameless,
    replace_file,
    rewrite_in_place,
)
from tools_builtin._paths import RefusalError

OLD, NEW = b"old " * 500_000, b"new content " * 1_000_000

KILLED = """
import os, sys
from tools_builtin._atomic import replace_file
path = sys.argv[1]
data = b"new content " * 1_000_000
print("ready", flush=True)
sys.stdin.readline()
replace_file(path, data, os.stat(path), None)
print("done", flush=True)
sys.stdin.readline()
"""


# `make crash-test` asks for more.
KILLS = int(os.environ.get("AF_KILLS", "10"))


@pytest.mark.parametrize("attempt", range(KILLS))
def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new_content(tmp_path: Path, attempt: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.stdin.write("go\n")
            process.stdin.flush()
            # A moment within the few milliseconds that it takes; whenever it comes, the outcome must be right.
            try:
                process.wait(timeout=random.Random(attempt).uniform(0, 0.03))
            except subprocess.TimeoutExpired:
                process.kill()
        finally:
            process.kill()
    assert path.read_bytes() in (OLD, NEW)
    # Between the name for the new content and the rename lies a moment in which a kill leaves that name behind.
    left = [name for name in os.listdir(tmp_path) if name != "file"]
    assert all(name.startswith(f".{process.pid}-") and name.endswith(TEMPORARY_SUFFIX) for name in left)
    for name in left:
        os.utime(tmp_path / name, (0, 0))
    replace_file(str(path), NEW, path.stat(), path.read_bytes())
    assert os.listdir(tmp_path) == ["file"]


def test_only_what_a_dead_writer_left_long_ago_is_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    names = {
        f".{gone.pid}-aa{TEMPORARY_SUFFIX}": False,
        f".{os.getpid()}-bb{TEMPORARY_SUFFIX}": True,
        f".{gone.pid}-cc{TEMPORARY_SUFFIX}": True,
        f"notes{TEMPORARY_SUFFIX}": True,
    }
    for name in names:
        (tmp_path / name).write_text("left")
        if "-cc" not in name:  # that one is recent
            os.utime(tmp_path / name, (0, 0))
    replace_file(str(tmp_path / "new"), b"x", None, None)
    assert {name for name, stays in names.items() if stays} | {"new"} == set(os.listdir(tmp_path))


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


Replace = Callable[[int, str, bytes, os.stat_result | None], object]
WAYS = [replace_by_nameless, replace_by_named] if hasattr(os, "O_TMPFILE") else [replace_by_named]


@pytest.mark.parametrize("replace", WAYS)
def test_each_way_creates_and_replaces_and_leaves_nothing_else(
    tmp_path: Path, directory: int, replace: Replace
) -> None:
    replace(directory, "a", b"one", None)
    (tmp_path / "a").chmod(0o710)
    replace(directory, "a", b"two", os.stat(tmp_path / "a"))
    assert (tmp_path / "a").read_bytes() == b"two"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o710
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("replace", WAYS)
def test_each_way_refuses_what_changed_meanwhile_and_leaves_nothing_else(
    tmp_path: Path, directory: int, replace: Replace
) -> None:
    (tmp_path / "a").write_bytes(b"one")
    before = os.stat(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"other")
    with pytest.raises(RefusalError, match="at the same time"):
        replace(directory, "a", b"two", before)
    with pytest.raises((RefusalError, FileExistsError)):
        replace(directory, "a", b"two", None)
    assert (tmp_path / "a").read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("replace", WAYS)
def test_a_link_in_the_name_of_a_new_file_is_not_followed(tmp_path: Path, directory: int, replace: Replace) -> None:
    (tmp_path / "a").symlink_to("elsewhere")
    with pytest.raises((RefusalError, FileExistsError)):
        replace(directory, "a", b"two", None)
    assert not (tmp_path / "elsewhere").exists()


FULL = """
import os, resource, sys
from tools_builtin import _atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
path, way = sys.argv[1:]
before = os.stat(path)
try:
    if way == "replace":
        _atomic.replace_file(path, b"n" * 1_000_000, before, b"")
    else:
        directory = os.open(os.path.dirname(path), os.O_RDONLY)
        more = [b"old" * 30_000] if way == "rewrite_in_place" else []
        getattr(_atomic, way)(directory, "file", b"n" * 1_000_000, before, *more)
except OSError as error:
    print(error.errno)
"""


@pytest.mark.parametrize("way", ["replace", "replace_by_named", "rewrite_in_place"])
def test_a_full_disk_leaves_the_old_content(tmp_path: Path, way: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old" * 30_000)
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(path), way], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == "27"  # EFBIG
    assert path.read_bytes() == b"old" * 30_000
    assert os.listdir(tmp_path) == ["file"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100_000


def test_rewriting_in_place_keeps_the_file_itself(tmp_path: Path, directory: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a longer old content")
    path.chmod(0o604)
    before = os.stat(path)
    rewrite_in_place(directory, "a", b"new", before, b"a longer old content")
    assert path.read_bytes() == b"new"
    assert os.path.samestat(os.stat(path), before)
    with pytest.raises(RefusalError, match="at the same time"):
        rewrite_in_place(directory, "a", b"newer", before, b"new")


FIXED = """
import os, sys
path = sys.argv[1]
from tools_builtin import _atomic
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print(_atomic.replace_file(path, b"new", os.stat(path), b"old"))
try:
    _atomic.replace_file(path + "2", b"new", None, None)
except PermissionError:
    print("refused")
"""


def test_in_a_directory_that_may_not_be_changed_a_file_is_rewritten_in_place() -> None:
    # Not below pytest's own directory, which another user may not enter.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(b"old")
        path.chmod(0o666)
        os.chmod(folder, 0o555)
        try:
            run = subprocess.run([sys.executable, "-c", FIXED, str(path)], capture_output=True, text=True, timeout=60)
        finally:
            os.chmod(folder, 0o755)
        assert run.stdout.split() == ["False", "refused"], run.stderr
        assert path.read_bytes() == b"new"
        assert os.listdir(folder) == ["file"]


def test_a_directory_is_created_on_the_way(tmp_path: Path) -> None:
    assert replace_file(str(tmp_path / "a" / "b"), b"x", None, None)
    assert (tmp_path / "a" / "b").read_bytes() == b"x"
