from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from gatekit import Bench
from hypothesis import given, settings
from hypothesis import strategies as st

from agentframework.permissions import PermissionRules, parse_rules
from agentframework.permissions.paths import compile_paths
from agentframework.permissions.patterns import Gap, Glob, intersect

SHELL_WORDS = (
    ["git", "rm", "ls", "cat", "echo", "status", "push", "-rf", ".env", "a", "b", "$X", "'x y'", '"$(rm f)"', "*"]
    + [";", "&&", "||", "|", "&", "\n", "(", ")", "{", "}", "<", ">", ">>", "2>&1", "`", "'", '"', "\\", "$(", "${"]
    + ["env", "sudo", "timeout 5", "xargs", "sh -c", "eval", "if", "then", "fi", "for", "do", "done", "X=rm", "cd"]
)
commands = st.lists(st.sampled_from(SHELL_WORDS), max_size=12).map(" ".join) | st.text(max_size=40)
patterns = st.text("abc*/.~?[]{},! :-", max_size=12) | st.sampled_from(["git:*", "rm *", "**", "//x/**", "~/a", "*"])
names = st.sampled_from(
    ["Bash", "Shell", "Read", "Edit", "Write", "Grep", "WebFetch", "note", "mcp__srv", "mcp__*", "*"]
)
rules = (
    st.builds("{}({})".format, names, patterns)
    | names
    | st.text(max_size=20)
    | st.none()
    | st.integers()
    | st.lists(st.integers(), max_size=1)
)
paths = st.lists(st.sampled_from(["a", "b", "..", ".", "", "c.py", ".env", "~"]), min_size=1, max_size=6).map("/".join)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with TemporaryDirectory() as place:
        yield Path(place)


@settings(max_examples=150, deadline=None)
@given(
    command=commands,
    allow=st.lists(rules, max_size=3),
    deny=st.lists(rules, max_size=3),
    mode=st.sampled_from(["default", "bypassPermissions"]),
)
def test_no_rule_and_no_command_make_the_gate_fail(
    command: str, allow: list[object], deny: list[object], mode: str, root: Path
) -> None:
    bench = Bench(root, mode=mode, allow=allow, deny=deny, home=root, read_only_commands=True)
    assert bench.explain("Bash", command=command).stage != "fault"
    assert bench.explain("Write", file_path=command).stage != "fault"
    assert bench.explain("WebFetch", url=command).stage != "fault"


@settings(max_examples=150, deadline=None)
@given(command=commands, allow=st.lists(rules, max_size=2), deny=rules)
def test_a_deny_rule_is_never_outweighed(command: str, allow: list[object], deny: object, root: Path) -> None:
    for name, arguments in (("Bash", {"command": command}), ("Write", {"file_path": command or "a"})):
        strict = Bench(root, mode="bypassPermissions", deny=[deny]).outcome(name, **arguments)
        if strict in ("deny", "ask"):
            both = Bench(root, mode="bypassPermissions", allow=[*allow, deny, "Bash", "Edit(*)"], deny=[deny])
            found = both.outcome(name, **arguments)
            assert found == strict or (strict == "ask" and name == "Write")
            if strict == "deny":
                assert found == "deny"


@settings(max_examples=150, deadline=None)
@given(path=paths, pattern=st.sampled_from(["a/**", "**/.env", "b", "/a/b", "./c.py", "a/*.py"]))
def test_what_an_allow_rule_covers_a_deny_rule_of_the_same_text_forbids(path: str, pattern: str, root: Path) -> None:
    if Bench(root, allow=[f"Edit({pattern})"]).outcome("Edit", file_path=path) == "allow":
        assert (
            Bench(root, mode="bypassPermissions", deny=[f"Edit({pattern})"]).outcome("Edit", file_path=path) == "deny"
        )


@settings(max_examples=150, deadline=None)
@given(command=commands, pattern=st.sampled_from(["git:*", "git status", "echo *", "ls*", "* a", "rm -rf *"]))
def test_a_covered_command_is_restricted_by_the_same_pattern(command: str, pattern: str, root: Path) -> None:
    if Bench(root, allow=[f"Bash({pattern})"]).bash(command) == "allow":
        assert Bench(root, mode="bypassPermissions", deny=[f"Bash({pattern})"]).bash(command) == "deny"


@settings(max_examples=300, deadline=None)
@given(pattern=st.text("ab*", max_size=8), text=st.text("ab", max_size=8))
def test_could_match_agrees_with_matches_on_known_text(pattern: str, text: str) -> None:
    glob = Glob(pattern)
    assert glob.could_match([text]) == glob.matches(text)
    if glob.matches(text):
        cut = len(text) // 2
        assert glob.could_match([text[:cut], Gap.ANY])
        assert glob.could_match([Gap.ANY, text[cut:]])
        assert intersect([*text], [Gap.ONE] * len(text))


@settings(max_examples=200, deadline=None)
@given(text=patterns)
def test_path_patterns_compile_or_say_why_not(text: str) -> None:
    for wide in (True, False):
        with suppress(ValueError):
            for pattern in compile_paths(text, base="/w/ws", home="/home/u", wide=wide):
                assert pattern.could_match("/w/ws/a/b") >= pattern.matches("/w/ws/a/b")
                assert pattern.could_match("/w/ws/a*/b") in (True, False)
                assert pattern.reaches_below("/") in (True, False)


@settings(max_examples=100, deadline=None)
@given(entries=st.lists(rules | st.binary(max_size=3) | st.floats(), max_size=5))
def test_every_entry_becomes_a_rule_or_a_warning(entries: list[object]) -> None:
    parsed = parse_rules(PermissionRules(deny=entries), base="/w", home="/h")  # type: ignore[arg-type]
    assert len(parsed.deny) + len(parsed.warnings) == len(entries)
