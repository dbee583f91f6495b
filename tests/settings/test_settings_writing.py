import json
import subprocess
import sys
from pathlib import Path

import pytest
from settingskit import write

from agentframework import SettingsError
from agentframework.settings import add_permission_rules

WRITER = """
import sys
from pathlib import Path
from agentframework.settings import add_permission_rules
path, name = Path(sys.argv[1]), sys.argv[2]
for number in range(5):
    add_permission_rules(path, "allow", [f"Bash({name} {number})"], shown="s", within=str(path.parent))
"""


def add(path: Path, *entries: str) -> None:
    add_permission_rules(path, "allow", entries, shown=path.name, within=str(path.parent))


def test_programs_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    target = write(tmp_path / "s.json", {"theirs": {"a": 1}, "permissions": {"deny": ["Bash(rm:*)"]}})
    command = [sys.executable, "-c", WRITER, str(target)]
    running = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    while any(one.poll() is None for one in running):
        json.loads(target.read_text())  # whole at every moment
    assert [one.wait(60) for one in running] == [0, 0, 0]
    found = json.loads(target.read_text())
    assert sorted(found["permissions"]["allow"]) == [f"Bash({name} {n})" for name in "abc" for n in range(5)]
    assert (found["theirs"], found["permissions"]["deny"]) == ({"a": 1}, ["Bash(rm:*)"])


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    target = write(tmp_path / "s.json", '{"permissions":   {"allow": ["Read"]}}')
    before = target.stat().st_mtime_ns, target.read_text()
    add(target, "Read")
    assert (target.stat().st_mtime_ns, target.read_text()) == before


@pytest.mark.parametrize(
    "text", ['{"permissions":{"allow":["Bash(', "[]", '{"permissions": []}', '{"permissions": {"allow": {}}}']
)
def test_a_file_that_holds_something_else_is_left_as_it_is(text: str, tmp_path: Path) -> None:
    target = write(tmp_path / "s.json", text)
    with pytest.raises(SettingsError):
        add(target, "Read")
    assert target.read_text() == text


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "s.json", "{}")
    project = tmp_path / "app"
    project.mkdir()
    (project / "s.json").symlink_to(outside)
    (project / "d").symlink_to(outside.parent)
    for path in (project / "s.json", project / "d" / "s.json"):
        with pytest.raises(SettingsError, match="link"):
            add_permission_rules(path, "allow", ["Read"], shown="s", within=str(project))
    assert outside.read_text() == "{}"


def test_a_new_file_is_its_owners_only(tmp_path: Path) -> None:
    target = tmp_path / ".claude" / "settings.local.json"
    add_permission_rules(target, "allow", ["Read"], shown="s", within=str(tmp_path))
    assert target.stat().st_mode & 0o777 == 0o600
