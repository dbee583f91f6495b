import json
import os
import shutil
import stat
from pathlib import Path

import pytest
from settingskit import git, repository, service

from agentframework import WorkspaceTrustError, create_workspace_trust_service


async def test_trust_is_recorded_inspected_and_taken_back(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    trust = service(tmp_path)
    before = await trust.inspect(root)
    assert (before.status, before.trust_state, before.root) == ("restricted", "untrusted", str(root))
    granted = await trust.grant(root)
    assert (granted.status, granted.trusted) == ("trusted", True)
    assert (await service(tmp_path).inspect(root)).status == "trusted"
    revoked = await trust.revoke(root)
    assert (revoked.status, revoked.trust_state) == ("restricted", "revoked")
    assert (granted.status, granted.trust_state) == ("restricted", "revoked")
    assert (await trust.inspect(root)).reason == "trust in this project was taken back"


async def test_the_store_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    store = tmp_path / "home" / "trusted.json"
    await create_workspace_trust_service(store).grant(repository(tmp_path / "app"))
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    store.chmod(0o644)
    await create_workspace_trust_service(store).revoke(tmp_path / "app")
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


async def test_subfolders_belong_to_the_project_nested_projects_and_parents_do_not(tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner")
    (outer / "src").mkdir()
    (inner / "src").mkdir()
    trust = service(tmp_path)
    await trust.grant(outer / "src")
    assert (await trust.inspect(outer)).trusted
    assert not (await trust.inspect(inner / "src")).trusted
    await trust.revoke(outer)
    await trust.grant(inner)
    assert not (await trust.inspect(outer)).trusted


async def test_each_linked_worktree_is_a_project_of_its_own(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=root)
    git("worktree", "add", "-q", str(tmp_path / "linked"), cwd=root)
    trust = service(tmp_path)
    await trust.grant(root)
    assert not (await trust.inspect(tmp_path / "linked")).trusted
    assert (await trust.grant(tmp_path / "linked")).root == str((tmp_path / "linked").resolve())


async def test_another_clone_of_the_same_remote_is_not_trusted(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    shutil.copytree(root, tmp_path / "clone")
    trust = service(tmp_path)
    await trust.grant(root)
    assert not (await trust.inspect(tmp_path / "clone")).trusted


@pytest.mark.parametrize("kind", ["plain", "empty .git", "inside .git", "missing", "broken link"])
async def test_what_is_no_working_tree_stays_restricted_even_if_granted(kind: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    places = {
        "plain": tmp_path / "plain",
        "empty .git": root / "empty",
        "inside .git": root / ".git" / "hooks",
        "missing": root / "missing",
        "broken link": root / "linked",
    }
    (tmp_path / "plain").mkdir()
    (root / "empty" / ".git").mkdir(parents=True)
    (root / "linked").mkdir()
    (root / "linked" / ".git").symlink_to("nowhere")
    trust = service(tmp_path)
    await trust.grant(root)
    access = await trust.grant(places[kind])
    assert (access.status, access.trust_state, access.root) == ("restricted", "identity-unavailable", None)
    with pytest.raises(WorkspaceTrustError):
        access.files()


async def test_a_link_to_a_project_is_that_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    (tmp_path / "link").symlink_to(root)
    trust = service(tmp_path)
    await trust.grant(tmp_path / "link")
    assert (await trust.inspect(root)).trusted


async def test_a_decision_on_an_old_view_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    trust = service(tmp_path)
    seen = await trust.inspect(root)
    await service(tmp_path).revoke(root)
    with pytest.raises(WorkspaceTrustError, match="has changed meanwhile"):
        await trust.grant(root, expected_generation=seen.generation)
    assert not (await trust.inspect(root)).trusted
    now = await trust.inspect(root)
    assert (await trust.grant(root, expected_generation=now.generation)).trusted


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"workspaces": []}', '{"workspaces": {"ROOT": {"state": "yes"}}}', "\xff"]
)
async def test_a_damaged_store_trusts_nobody_and_is_not_overwritten(text: str, tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    trust = service(tmp_path)
    held = await trust.grant(root)
    store = tmp_path / "home" / "trusted.json"
    store.write_bytes(text.replace("ROOT", str(root)).encode("latin-1"))
    access = await trust.inspect(root)
    assert (access.status, access.trust_state) == ("restricted", "store-unavailable")
    assert held.status == "restricted"
    with pytest.raises(WorkspaceTrustError, match="damaged"):
        await trust.grant(root)
    assert store.read_bytes() == text.replace("ROOT", str(root)).encode("latin-1")


async def test_a_store_that_everybody_may_write_trusts_nobody(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    await service(tmp_path).grant(root)
    (tmp_path / "home" / "trusted.json").chmod(0o666)
    access = await service(tmp_path).inspect(root)
    assert (access.status, access.trust_state) == ("restricted", "store-unavailable")
    assert "chmod 600" in access.reason


async def test_two_services_on_one_store_keep_each_others_decisions(tmp_path: Path) -> None:
    roots = [repository(tmp_path / name) for name in ("a", "b")]
    first, second = service(tmp_path), service(tmp_path)
    await first.grant(roots[0])
    await second.grant(roots[1])
    assert (await first.inspect(roots[1])).trusted
    found = json.loads((tmp_path / "home" / "trusted.json").read_text())
    assert sorted(found["workspaces"]) == sorted(map(str, roots))
    assert not [name for name in os.listdir(tmp_path / "home") if name.endswith(".tmp")]
