import os
from pathlib import Path
from typing import Any

import pytest
from gatekit import Bench

from agentframework import InteractiveSession, PermissionRules
from agentframework.messages import ToolMessage
from agentframework.sandbox import LocalSandbox, OutsideWorkspaceError
from agentframework.testing import ScriptedProvider, call, say

SECRET = "KEY=1"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A project with links of every kind, and what must stay out of its reach beside it."""
    root = tmp_path / "w" / "ws"
    for folder in (root / "src", root / "secrets", tmp_path / "w" / "ws-evil", tmp_path / "outside"):
        folder.mkdir(parents=True)
    (tmp_path / "w" / "ws-evil" / "a").write_text(SECRET)
    (tmp_path / "outside" / "x").write_text(SECRET)
    (root / "secrets" / "k").write_text(SECRET)
    (root / "README.md").write_text("hello")
    for name, target in {
        "pub": "secrets", "h": str(tmp_path / "outside" / "x"), "n": str(tmp_path / "outside" / "new.txt"),
        "d": str(tmp_path / "outside"), "up": "..", "in": "src", "loop": "loop", "far": "d/../../outside", "chain": "n",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    return root


ESCAPES = (
    "../ws-evil/a", "{base}/w/ws-evil/a", "src/../../ws-evil/a", "./././../ws-evil/a", "/{base}//w//ws-evil/a", "h",
    "d/x", "in/../h", "far/x", "up/ws-evil/a", "{base}/w/ws/../ws-evil/a", "/proc/self/root{base}/outside/x",
    "/proc/self/cwd/../x", "/dev/fd/0", "loop", "loop/x", "src/../up/../outside/x", "in/../up/ws-evil/a",
    "d/../outside/x", "up/ws/d/x",
)  # fmt: skip
NEW = ("n", "chain", "d/new", "up/new", "far/new", "../new", "{base}/w/new", "in/../../new", "d/sub/new", "n/x")


async def _run(world: Path, *calls: Any, **options: Any) -> list[str]:
    """The results of calls that a person says yes to, whatever they are."""
    provider = ScriptedProvider(*(say(one) for one in calls), "done")
    session = InteractiveSession(cwd=world, provider=provider, permission_mode="bypassPermissions", **options)
    async with session:
        session.on("permission_request", lambda event: session.resolve_permission(event.id, True))
        await session.submit("go")
        return [m.content[0].content for m in session.get_messages() if isinstance(m, ToolMessage)]


async def test_nothing_beyond_the_roots_is_read(world: Path, tmp_path: Path) -> None:
    paths = [path.format(base=tmp_path) for path in ESCAPES]
    results = await _run(world, *(call("Read", file_path=path) for path in paths))
    assert len(results) == len(paths)
    for path, result in zip(paths, results, strict=True):
        assert SECRET not in result, path
        assert result.startswith("Error") or "outside" in result or "loop" in result, (path, result)


async def test_nothing_beyond_the_roots_is_written_even_after_a_yes(world: Path, tmp_path: Path) -> None:
    paths = [path.format(base=tmp_path) for path in (*ESCAPES, *NEW)]
    before = _files(tmp_path, world)
    calls = [call("Write", file_path=path, content="owned") for path in paths]
    calls += [call("Edit", file_path=path, old_string="KEY", new_string="owned") for path in paths]
    await _run(world, *calls)
    assert _files(tmp_path, world) == before


def _files(base: Path, root: Path) -> dict[str, str]:
    outside = (path for path in base.rglob("*") if path.is_file() and not path.is_relative_to(root))
    return {str(path): path.read_text() for path in outside}


async def test_searches_find_nothing_beyond_the_roots(world: Path) -> None:
    results = await _run(
        world,
        call("Grep", pattern="KEY", path=".", output_mode="content"),
        call("Grep", pattern="KEY", path="d", output_mode="content"),
        call("Glob", pattern="d/**"),
        call("Glob", pattern="up/**/a"),
        call("Glob", pattern="**/x"),
        call("Glob", pattern="../**/a"),
    )
    assert "outside" not in results[0]
    assert "secrets/k" in results[0]
    for result in results[1:]:
        assert SECRET not in result
        assert "ws-evil" not in result.replace("up/**/a", "").replace("../**/a", "")


async def test_a_denied_folder_is_denied_through_its_links(world: Path) -> None:
    rules = PermissionRules(deny=["Read(secrets/**)"])
    results = await _run(
        world,
        call("Read", file_path="pub/k"),
        call("Read", file_path="secrets/k"),
        call("Grep", pattern="KEY", path=".", output_mode="content"),
        call("Grep", pattern="KEY", path="pub", output_mode="content"),
        call("Bash", command="cat pub/k"),
        call("Bash", command="cd pub && cat k"),
        permissions=rules,
    )
    assert all(SECRET not in result for result in results)


async def test_links_that_stay_inside_work(world: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(world)
    for cwd in (world, tmp_path / "link"):
        results = await _run(
            cwd,
            call("Write", file_path="in/new.txt", content="one"),
            call("Read", file_path="src/new.txt"),
            call("Edit", file_path="in/../src/new.txt", old_string="one", new_string="two"),
            call("Read", file_path="src/../README.md"),
            call("Read", file_path=str(cwd / "README.md")),
        )
        assert (world / "src" / "new.txt").read_text() == "two"
        assert "hello" in results[3]
        assert "hello" in results[4]
        (world / "src" / "new.txt").unlink()


@pytest.mark.parametrize("path", [*ESCAPES, *NEW])
def test_the_sandbox_resolves_component_by_component(path: str, world: Path, tmp_path: Path) -> None:
    with pytest.raises(OutsideWorkspaceError):
        LocalSandbox(world).resolve(path.format(base=tmp_path))


def test_an_allow_rule_does_not_climb_out_of_its_folder(world: Path) -> None:
    bench = Bench(world, allow=["Edit(src/**)"], deny=["Read(*.env)"])
    assert bench.outcome("Write", file_path="src/x") == "allow"
    for path in ("src/../x", "src/../.env", "src/./../../ws/x", "in/../x", "srcs/x", "src/../pub/k"):
        assert bench.outcome("Write", file_path=path) == "ask", path


async def test_a_link_swapped_in_after_the_decision_is_not_followed(world: Path, tmp_path: Path) -> None:
    (world / "gap").mkdir()
    (world / "gap" / "x").write_text("mine")

    def swap(event: Any) -> None:
        if event.tool_name != "Write":
            return
        (world / "gap").rename(world / "moved")
        (world / "gap").symlink_to(tmp_path / "outside")

    provider = ScriptedProvider(say(call("Write", file_path="gap/x", content="owned")), "done")
    session = InteractiveSession(cwd=world, provider=provider, permission_mode="acceptEdits")
    session.on("permission_decision", swap)
    async with session:
        await session.submit("go")
    assert (tmp_path / "outside" / "x").read_text() == SECRET
    assert not os.path.exists(tmp_path / "outside" / "new")


async def test_a_round_cannot_make_a_link_and_write_through_it(world: Path, tmp_path: Path) -> None:
    target = tmp_path / "outside"
    bench = Bench(world, mode="bypassPermissions")
    for command in (f"ln -s {target} door", f"ln -sfn {target} in", f"cp -s {target}/x door", f"ln {target}/x door"):
        link, write = await bench.decide(
            bench.call("Bash", command=command), bench.call("Write", file_path="door/new", content="owned")
        )
        assert link.kind == "deny", command
        assert write.kind == "allow"
    assert bench.bash(f"ln -s {target} door && echo x > door/x") == "ask"
    assert bench.bash("ln -s ../../outside door; echo x > door/x") == "ask"
