import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.errors import ConfigurationError
from agentframework.sandbox import LocalSandbox, OutsideWorkspaceError, is_within


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file.txt").write_text("x")
    (tmp_path / "work-beside").mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    return folder


def test_the_first_root_is_the_canonical_working_directory(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    sandbox = LocalSandbox(tmp_path / "link", [tmp_path / "work-beside"])
    assert sandbox.roots == (str(root), str(tmp_path / "work-beside"))
    assert sandbox.shell_directory == str(root)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("sub/file.txt", "sub/file.txt"),
        ("./sub/../sub//file.txt", "sub/file.txt"),
        (".", "."),
        ("new/deep/file", "new/deep/file"),
        ("sub/file.txt/below-a-file", "sub/file.txt/below-a-file"),
        ("~", "~"),
        ("$HOME", "$HOME"),
        (" ", " "),
        ("a\nb", "a\nb"),
    ],
)
def test_a_path_inside_is_named_from_the_working_directory(root: Path, path: str, shown: str) -> None:
    found = LocalSandbox(root).resolve(path)
    assert (found.path, found.shown) == (os.path.normpath(root / path), shown)
    assert LocalSandbox(root).resolve(str(root / path)) == found


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a\0b",
        "..",
        "../outside.txt",
        "../work-beside",
        "../work-beside/x",
        "sub/../../outside.txt",
        "/",
        "/etc/passwd",
        "/proc/self/root/etc/passwd",
        "//etc/passwd",
    ],
)
def test_a_path_outside_is_refused(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspaceError):
        LocalSandbox(root).resolve(path)


@pytest.mark.parametrize("target", ["../outside.txt", "/etc", "..", "../not-there"])
def test_links_are_followed_before_the_place_is_judged(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    for path in ("link", "link/x", "sub/../link"):
        with pytest.raises(OutsideWorkspaceError, match="outside the working directory"):
            LocalSandbox(root).resolve(path)


def test_links_inside_lead_to_where_they_point(root: Path) -> None:
    (root / "link").symlink_to("sub")
    (root / "dangling").symlink_to("sub/new.txt")
    sandbox = LocalSandbox(root)
    assert sandbox.resolve("link/file.txt").shown == "sub/file.txt"
    assert sandbox.resolve("dangling").shown == "sub/new.txt"


def test_a_loop_of_links_is_refused_and_not_taken_for_a_missing_file(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    for path in ("a", "b", "a/x"):
        with pytest.raises(OutsideWorkspaceError, match="loop"):
            LocalSandbox(root).resolve(path)


def test_further_directories_are_within_reach_and_named_in_full(root: Path, tmp_path: Path) -> None:
    beside = tmp_path / "work-beside"
    sandbox = LocalSandbox(root, [beside])
    found = sandbox.resolve("../work-beside/x")
    assert (found.path, found.shown) == (str(beside / "x"), str(beside / "x"))
    with pytest.raises(OutsideWorkspaceError):
        sandbox.resolve("../outside.txt")


def test_a_root_that_became_a_link_leads_nowhere(root: Path, tmp_path: Path) -> None:
    sandbox = LocalSandbox(root)
    root.rename(tmp_path / "moved")
    root.symlink_to("/etc")
    with pytest.raises(OutsideWorkspaceError):
        sandbox.resolve("passwd")


@pytest.mark.parametrize("place", ["nowhere", "work/sub/file.txt"])
def test_a_root_that_is_no_directory_is_refused_by_name(root: Path, tmp_path: Path, place: str) -> None:
    for make in (lambda: LocalSandbox(tmp_path / place), lambda: LocalSandbox(root, [tmp_path / place])):
        with pytest.raises(ConfigurationError, match=place) as caught:
            make()
        assert caught.value.details["field"] in ("cwd", "additional_directories")


def test_the_whole_disk_may_be_a_root() -> None:
    assert LocalSandbox("/").resolve("/etc/passwd").path == os.path.realpath("/etc/passwd")
    assert is_within("/etc", "/")
    assert not is_within("/etcetera", "/etc")


names = st.text("ab./", min_size=1, max_size=12)


@given(st.lists(names, max_size=4))
def test_what_is_resolved_lies_in_a_root_whatever_the_path(steps: list[str]) -> None:
    sandbox = LocalSandbox(os.path.dirname(__file__))
    try:
        found = sandbox.resolve("/".join(steps))
    except OutsideWorkspaceError:
        return
    assert is_within(found.path, sandbox.roots[0])
    assert found.path == os.path.realpath(found.path)
    assert ".." not in found.shown.split("/")
