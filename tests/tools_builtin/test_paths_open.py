import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.sandbox import ResolvedPath
from agentframework.tools import ToolContext
from tools_builtin._paths import RefusalError, locate, one_line, open_directory, open_file, open_or_make_directory


def place_of(path: Path) -> ResolvedPath:
    return ResolvedPath(str(path), path.name)


def test_a_plain_name_is_shown_as_it_is() -> None:
    for name in ("src/a.py", "with blank", "Été", "日本", "back\\slash", "quote'd", "👩\u200d👩"):
        assert one_line(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", '"a\\nb"'),
        ("a\tb\\", '"a\\tb\\\\"'),
        ("a\x1b[2Jb", '"a\\u001b[2Jb"'),
        ("a\u2028b", '"a\\u2028b"'),
        ("a\u202egnp.exe", '"a\\u202egnp.exe"'),
        (os.fsdecode(b"caf\xe9"), '"caf\\udce9"'),
        ('"quoted"', '"\\"quoted\\""'),
    ],
)
def test_an_odd_name_is_shown_as_a_json_string(name: str, shown: str) -> None:
    assert one_line(name) == shown


@given(st.text())
def test_a_shown_name_is_one_line_and_stands_for_one_name(name: str) -> None:
    shown = one_line(name)
    assert len(shown.splitlines()) <= 1
    assert (json.loads(shown) if shown.startswith('"') else shown) == name


def test_only_ordinary_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    kinds = {"pipe": "FIFO", "folder": "directory", "sock": "socket", "link": "link"}
    try:
        for name, kind in kinds.items():
            with pytest.raises(RefusalError, match=f"{name} is a {kind}"):
                open_file(place_of(tmp_path / name))
    finally:
        listener.close()
    with pytest.raises(RefusalError, match="null is a character device"):
        open_file(ResolvedPath("/dev/null", "null"))


def test_a_link_swapped_in_for_a_directory_is_noticed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("secret")
    (tmp_path / "inside").symlink_to(outside)
    with pytest.raises(RefusalError, match="replaced"):
        open_file(place_of(tmp_path / "inside" / "file"))
    with pytest.raises(OSError, match=r"ot a directory|replaced|symbolic"):
        open_directory(str(tmp_path / "inside"))
    (outside / "below").mkdir()
    with pytest.raises(FileNotFoundError, match="replaced"):
        open_directory(str(tmp_path / "inside" / "below"))
    with pytest.raises(FileNotFoundError, match="replaced"):
        open_or_make_directory(str(tmp_path / "inside" / "below" / "new"))
    assert list((outside / "below").iterdir()) == []


def test_missing_directories_are_made_down_to_the_last(tmp_path: Path) -> None:
    fd = open_or_make_directory(str(tmp_path / "a" / "b" / "c"))
    try:
        assert os.path.samestat(os.fstat(fd), os.stat(tmp_path / "a" / "b" / "c"))
    finally:
        os.close(fd)


def test_no_descriptor_is_left_open_by_refusals(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "inside").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "file").write_text("x")
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        with pytest.raises(RefusalError):
            open_file(place_of(tmp_path / "inside" / "file"))
        with pytest.raises(RefusalError):
            open_file(place_of(tmp_path / "folder"))
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


def test_a_refused_path_is_named_in_one_line(context: ToolContext) -> None:
    with pytest.raises(Exception, match=r"outside") as refused:
        locate(context, "/etc/a\nb")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "spelled",
    ["../ws-evil/a", "{base}/ws-evil/a", "src/../../ws-evil/a", "./././../ws-evil/a", "/{base}//ws-evil/a"],
)
def test_a_sibling_with_the_same_beginning_is_outside(
    tmp_path: Path, make_context: Callable[..., ToolContext], spelled: str
) -> None:
    (tmp_path / "ws" / "src").mkdir(parents=True)
    (tmp_path / "ws-evil").mkdir()
    (tmp_path / "ws-evil" / "a").write_text("secret")
    context = make_context(tmp_path / "ws")
    with pytest.raises(Exception, match="outside the working directory"):
        locate(context, spelled.format(base=tmp_path))
    assert locate(context, "src/../README.md").shown == "README.md"
