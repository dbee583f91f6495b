"""However large, deep or odd a text is, the view is there soon and claims nothing it does not know."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shellkit import Machine

from agentframework.permissions.shell import parse_command_line

LARGE = {
    "commands": "a; " * 66_000,
    "words": "x " * 100_000,
    "assignments": "X=1 " * 50_000,
    "variables": "".join(f"V{number}=1; " for number in range(20_000)),
    "and": "a && " * 40_000 + "b",
    "pipes": "a | " * 50_000 + "b",
    "newlines": "\n" * 200_000,
    "continuations": "a\\\n" * 70_000,
    "escapes": "\\" * 200_000,
    "single quotes": "'" * 200_001,
    "double quotes": 'echo "' + "x$y" * 60_000 + '"',
    "backquotes": "`" * 200_000,
    "ansi quotes": "$'" * 100_000,
    "dollars": "$" * 200_000,
    "braces": "{a,b}" * 40_000,
    "open braces": "{" * 200_000,
    "open parentheses": "(" * 200_000,
    "redirections": ">f " * 60_000,
    "subscripts": "a[" * 100_000,
    "tests": "[[ " * 60_000,
    "expanding here-document": "cat > f <<E\n" + "line $a $(b)\n" * 16_000 + "E\n",
    "here-documents": "cat " + "<<E " * 50_000 + "\n",
    "separators": "; " * 100_000,
    "empty subshells": "( ;" * 60_000,
    "cases": "case x in " * 20_000,
    "conditions": "if a; then " * 18_000,
}
DEEP = {
    "substitutions": "$(" * 2_000 + "x" + ")" * 2_000,
    "quoted substitutions": '"$(' * 2_000 + "x" + ')"' * 2_000,
    "parameters": "${x:-" * 2_000 + "}" * 2_000,
    "arithmetic": "$((" * 2_000 + "1" + "))" * 2_000,
    "arithmetic commands": "((" * 2_000 + "1" + "))" * 2_000,
    "subshells": "( " * 2_000 + "x" + " )" * 2_000,
    "groups": "{ " * 2_000 + "x;" + " };" * 2_000,
    "conditions": "if a; then " * 2_000 + "b;" + " fi;" * 2_000,
    "loops": "while a; do " * 2_000 + "b;" + " done;" * 2_000,
    "functions": "f() { " * 2_000 + "b;" + " };" * 2_000,
    "wrappers": "sudo " * 2_000 + "ls",
    "evals": "eval " * 2_000 + "ls",
    "arrays": "x=(" * 2_000 + ")" * 2_000,
    "expansions in braces": "{a," * 2_000 + "}" * 2_000,
    "mixed": "(( $( " * 2_000,
}


def _seconds(line: str) -> float:
    before = time.process_time()
    parse_command_line(line, cwd="/w")
    return time.process_time() - before


@pytest.mark.parametrize("kind", LARGE)
def test_a_large_line_is_answered_within_two_seconds(kind: str) -> None:
    assert _seconds(LARGE[kind]) < 2


@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_line_is_answered_within_two_seconds_and_without_claims(kind: str) -> None:
    assert _seconds(DEEP[kind]) < 2
    if kind not in ("arithmetic commands", "expansions in braces"):
        assert not parse_command_line(DEEP[kind]).complete


def test_a_large_file_written_from_a_here_document_is_understood() -> None:
    view = parse_command_line("cat > f <<'E'\n" + "it's (a $line) `with` \"quotes\n" * 6_000 + "E\nls")
    assert view.complete
    assert [command.name for command in view.commands] == ["cat", "ls"]


def test_text_beyond_the_limit_is_not_read() -> None:
    view = parse_command_line("a" * 1_000_001)
    assert not view.complete
    assert not view.commands


def test_a_nearly_full_stack_of_the_caller_gives_an_incomplete_view() -> None:
    def below(depth: int) -> bool:
        return parse_command_line(f"{line} ").complete if depth == 0 else below(depth - 1)

    line = "echo " + '"$(a ' * 18 + ')"' * 18
    assert parse_command_line(line).complete
    assert not below(sys.getrecursionlimit() - 150)
    assert parse_command_line(f"{line} ").complete


@settings(deadline=2_000, max_examples=300)
@given(st.text(st.characters(), max_size=200))
def test_no_text_makes_it_raise(line: str) -> None:
    parse_command_line(line, cwd="/w")


@settings(deadline=2_000, max_examples=300)
@given(st.text("ab1 \t\n\r\"'`$(){}[]<>|&;\\#*?~=!:-+@%,/EX", max_size=60))
def test_no_shell_syntax_makes_it_raise(line: str) -> None:
    assert parse_command_line(line, cwd="/w").text == line


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=st.text("ab1c23 \t\n\r\"'`$(){}[]<>|&;\\#*?=!-E", max_size=40))
def test_random_syntax_that_is_understood_agrees_with_bash(line: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    machine = Machine(Path(tmp_path_factory.mktemp("machine")))
    assert machine.untold(line) is None


def test_threads_may_read_lines_at_the_same_time() -> None:
    line = "a && b | c; $(d) `e`; if f; then g; fi"
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: parse_command_line(line), range(200)))
    assert all(view == parse_command_line(line) for view in found)


def test_importing_the_package_does_not_load_the_parser() -> None:
    code = "import sys, agentframework.permissions.shell; print('tree_sitter' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "False"
