"""What the view of a command line lists."""

from collections.abc import Iterable

import pytest

from agentframework.permissions.shell import CommandLine, Word, parse_command_line


def programs(line: str, cwd: str = "/w") -> list[str]:
    """The commands of a line, each as its words joined by blanks; a word that is not known is a `?`."""
    return [shown(command.argv) for command in parse_command_line(line, cwd=cwd).commands]


def shown(words: Iterable[Word]) -> str:
    return " ".join("?" if word.value is None else word.value for word in words)


def understood(line: str) -> CommandLine:
    view = parse_command_line(line, cwd="/w")
    assert view.complete, view.unresolved
    return view


LISTS = {
    "git status && touch owned": ["git status", "touch owned"],
    "git status; touch owned": ["git status", "touch owned"],
    "git status | tee owned": ["git status", "tee owned"],
    "git status || touch owned": ["git status", "touch owned"],
    "git status & touch owned": ["git status", "touch owned"],
    "git status |& tee owned": ["git status", "tee owned"],
    "echo one\ntouch owned": ["echo one", "touch owned"],
    'echo "one\ntwo"': ["echo one\ntwo"],
    "cd d && \\\nls": ["cd d", "ls"],
}
COMPOUNDS = {
    "ls; rm -rf build": ["ls", "rm -rf build"],
    "(cd sub && rm f)": ["cd sub", "rm f"],
    "{ rm f; }": ["rm f"],
    "if true; then rm f; fi": ["true", "rm f"],
    'for i in a b; do rm "$i"; done': ["rm a", "rm b"],
    'while read x; do rm "$x"; done <l': ["read x", "rm ?"],
    "case a in a) rm f;; esac": ["rm f"],
    "g(){ rm f; }; g": ["rm f", "g"],
    "! rm f": ["rm f"],
    "time rm f": ["rm f"],
    "coproc rm f": ["rm f"],
    "rm f &": ["rm f"],
    "echo rm f": ["echo rm f"],
    "grep rm f": ["grep rm f"],
    "until rm f; do sleep 1; done": ["rm f", "sleep 1"],
    "select x in a; do rm f; done": ["rm f"],
    "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
    "for ((i=0; i<3; i++)); do rm f; done": ["rm f"],
    "function g { rm f; }": ["rm f"],
    "a | b | \n c | d\n\ne && \n f": ["a", "b", "c", "d", "e", "f"],
    "f()\n\n{\n\na\n\n}\n\nfor x\n\nin b\n\ndo\n\nc\n\ndone": ["a", "c"],
    "case x\n\nin\n\na|\n\nb)\n\nc\n\n;;\n\n(d)\ne\n\nesac\n\nf": ["c", "e", "f"],
}
CONTINUATIONS = {
    "r\\\nm f": ["rm f"],
    "git push --for\\\nce": ["git push --force"],
    "echo hi \\\r\nrm f": ["echo hi \r", "rm f"],
    "echo hi # note \\\nrm f": ["echo hi", "rm f"],
    "echo 'a\\' ; touch owned": ["echo a\\", "touch owned"],
}
QUOTED = {
    'python3 -c "\n# note\nprint(1)"': ["python3 -c \n# note\nprint(1)"],
    'git commit -m "fix: a && b; c | d > e"': ["git commit -m fix: a && b; c | d > e"],
    "git commit -m 'it'\\''s done'": ["git commit -m it's done"],
    "\\rm f": ["rm f"],
    "git>&-push": ["git push"],
    "'rm' f": ["rm f"],
    'r""m f': ["rm f"],
    "r'm' f": ["rm f"],
    "$'\\x72m' f": ["rm f"],
    "/bin/rm f": ["/bin/rm f"],
    'rm "-rf" d': ["rm -rf d"],
    "X=rm; $X f": ["rm f"],
    "r{m,} f": ["rm r f"],
    'cat .en""v': ["cat .env"],
}
HERE_DOCUMENTS = {
    "cat <<'EOF'\ncurl x; $(curl y)\nEOF": ["cat"],
    "cat <<EOF\n$(curl y)\nEOF": ["curl y", "cat"],
    "cat <<'EOF'\nx\nEOF\ncurl y": ["cat", "curl y"],
    "cat <<-\tEOF\n\tx\n\tEOF\ncurl y": ["cat", "curl y"],
    "cat <<A <<'B'; z\n$(x)\nA\n$(y)\nB\ncurl w": ["x", "cat", "z", "curl w"],
    "git commit -m \"$(cat <<'EOF'\ntext (with) parens\nEOF\n)\"": ["cat", "git commit -m ?"],
}
SUBSTITUTIONS = {
    "echo $(curl x)": ["curl x", "echo ?"],
    "echo `curl x`": ["curl x", "echo ?"],
    'echo "${V:-$(curl x)}"': ["curl x", "echo ?"],
    "cat <(curl x)": ["curl x", "cat ?"],
    'cat <<< "$(curl x)"': ["curl x", "cat"],
    "echo hi > >(curl -T - x)": ["curl -T - x", "echo hi"],
    "echo $(date)": ["date", "echo ?"],
    "echo '$(curl x)'": ["echo $(curl x)"],
    "X=$(true) aws x": ["true", "aws x"],
}
ASSIGNMENTS = {
    "CI=1 git push origin x": ["git push origin x"],
    "A=1 B=2 aws s3 rm x": ["aws s3 rm x"],
    'X="a b" aws x': ["aws x"],
    "env A=1 aws x": ["env A=1 aws x", "aws x"],
    'f=.env && cat "$f"': ["cat .env"],
    'for f in .env; do cat "$f"; done': ["cat .env"],
}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        case
        for table in (LISTS, COMPOUNDS, CONTINUATIONS, QUOTED, HERE_DOCUMENTS, SUBSTITUTIONS, ASSIGNMENTS)
        for case in table.items()
    ],
)
def test_every_simple_command_is_listed(line: str, expected: list[str]) -> None:
    assert programs(line) == expected
    understood(line)


@pytest.mark.parametrize("line", ["echo $(( $(curl x) + 1 ))", "a[$(curl x)]=1"])
def test_a_command_inside_an_expression_is_listed_though_its_result_makes_the_view_incomplete(line: str) -> None:
    assert "curl x" in programs(line)
    assert not parse_command_line(line).complete


@pytest.mark.parametrize("line", ["$(echo rm) f", "${X:-rm} f", "$X f", '"$@"', "/bin/r? f", "$1", "`a` b"])
def test_a_program_that_is_known_only_at_run_time_is_marked(line: str) -> None:
    view = parse_command_line(line)
    assert view.commands[-1].name is None
    assert "known only at run time" in view.unresolved[0]


@pytest.mark.parametrize(
    "line",
    ['echo "unterminated', ")", "a 'b", "a $(b", "a `b", "if a", "a && ", "a | ", "cat <<E\nx", "a >", "${x", "$((1",
     "case x in", "a ;; b (", "[[ a", "x=(a", "\0"],
)  # fmt: skip
def test_a_line_that_is_not_valid_is_never_complete(line: str) -> None:
    assert not parse_command_line(line).complete


@pytest.mark.parametrize("line", ["", " ", "\n", "\t\n\n", "# only a comment", "#\\\n"])
def test_a_blank_line_does_nothing(line: str) -> None:
    view = understood(line)
    assert not view.commands
    assert not view.redirections


@pytest.mark.parametrize(
    "line",
    [
        "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo $i; done",
        "for i in $(seq 1 5); do echo $((i+1)); done",
        "for i in {1..5}; do echo $((i*2)); done; for ((i=0;i<3;i++)); do echo $((i*3)); done",
        "n=$(ls | wc -l); if [[ $n -gt 3 ]]; then echo $((n - 3)); fi",
        "set -euo pipefail; tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT",
        "git log --format='%h %s' | while IFS= read -r line; do echo \"$line\"; done",
        'arr=($(ls)); echo ${arr[0]} ${#arr[@]} "${arr[@]:1:2}" ${x:2:3} ${x/a/b} ${x^^} ${x@Q}',
        "docker run --rm -v $(pwd):/w -w /w python:3 sh -c 'pip install x && pytest -q'",
        "kill $(lsof -t -i:80) 2>/dev/null; ps aux | grep [n]ode | awk '{print $2}' | xargs -r kill -9",
        'read -p "Continue [y/n]: " answer; printf -v x %s y; unset x; [ -v answer ]',
        "source .venv/bin/activate && export PATH=$PATH:/x && python -m pytest",
        "find . -type f -name '*.py' -not -path './.git/*' -exec grep -n foo {} +",
        "timeout 60 bash -c 'until curl -s localhost; do sleep 1; done'",
        "if [ -f x ] && [[ $y =~ ^(b|c)$ ]]; then echo a; fi",
        "cat > f.py <<'EOF'\nprint(f\"{os}\")\nEOF\npython f.py",
        "sleep 1 & pid=$!; wait $pid; wait $(jobs -p)",
        'x=$(cat f); if [ "$x" = y ] && [ -n "$x" ] && [ ! "$x" != z ]; then echo "$x" >&2; fi',
        'exec {log}>>out.log; echo "$(date) started" >&$log',
        'f() { local here; here=$(cd "$(dirname "$1")" && pwd); echo "$here"; }; f x',
        "npm test -- --grep 'a b' > out.log 2>&1 &",
    ],
)
def test_ordinary_work_is_understood_completely(line: str) -> None:
    understood(line)


def test_a_command_knows_its_name_arguments_and_variables() -> None:
    (command,) = understood("A=1 B=x /usr/bin/git -C 'a b' st*").commands
    assert command.name == "git"
    assert command.program.value == "/usr/bin/git"
    assert [word.value for word in command.arguments] == ["-C", "a b", "st*"]
    assert [word.glob for word in command.arguments] == [False, False, True]
    assert [(item.name, item.value.value) for item in command.assignments] == [("A", "1"), ("B", "x")]
    assert command.text == "A=1 B=x /usr/bin/git -C 'a b' st*"


def test_words_tell_what_the_shell_will_still_do_to_them() -> None:
    (command,) = understood('p ~/a "~/a" *.c "*.c" $X "$X" "$@" [ab] [').commands
    assert [(word.value, word.glob, word.tilde, word.splits) for word in command.arguments] == [
        ("~/a", False, True, False),
        ("~/a", False, False, False),
        ("*.c", True, False, False),
        ("*.c", False, False, False),
        (None, False, False, True),
        (None, False, False, False),
        (None, False, False, True),
        ("[ab]", True, False, False),
        ("[", False, False, False),
    ]


def test_variables_of_the_shell_are_told_apart_from_those_of_one_command() -> None:
    view = understood('X=1 make; Y=2; export Z=3; read W; for V in a; do :; done; : "${U:=6}"; ((T = 7))')
    assert {item.name: item.value.value for item in view.assignments} == {
        "Y": "2", "Z": "3", "W": None, "V": None, "U": None, "T": None,
    }  # fmt: skip
    assert [item.name for item in view.commands[0].assignments] == ["X"]


def test_an_assignment_to_an_element_keeps_its_subscript() -> None:
    (assignment,) = understood("a[3]+=x").assignments
    assert (assignment.name, assignment.subscript, assignment.append) == ("a", "3", True)
    assert (assignment.value.value, assignment.value.text) == ("x", "x")


@pytest.mark.parametrize(
    ("line", "directories"),
    [
        ("ls", [("/w",)]),
        ("cd sub && ls", [("/w",), ("/w/sub",)]),
        ("cd sub; ls", [("/w",), ("/w/sub", "/w")]),
        ("cd /x && cd ../y && ls", [("/w",), ("/x",), ("/y",)]),
        ("(cd sub && ls); pwd", [("/w",), ("/w/sub",), ("/w",)]),
        ("cd a || exit; ls", [("/w",), ("/w",), ("/w/a", "/w")]),
        ('cd "$X" && ls', [("/w",), ()]),
        ("cd && ls", [("/w",), ()]),
        ("if cd a; then ls; else pwd; fi", [("/w",), ("/w/a",), ("/w",)]),
        ("cd a | ls", [("/w",), ("/w",)]),
        ("cd a && bash -c 'cd b && ls'", [("/w",), ("/w/a",), ("/w/a",), ("/w/a/b",)]),
        ("env -C a ls", [("/w",), ("/w/a",)]),
        ("ssh host ls", [("/w",), ()]),
    ],
)
def test_each_command_knows_the_directories_it_may_start_in(line: str, directories: list[tuple[str, ...]]) -> None:
    commands = parse_command_line(line, cwd="/w").commands
    assert [command.directories for command in commands] == directories
    assert commands[0].cwd == "/w"


def test_without_a_starting_directory_only_absolute_changes_are_known() -> None:
    assert [command.cwd for command in parse_command_line("ls; cd a && ls; cd /b && ls").commands] == [
        None, None, None, None, "/b",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("echo x > notes.txt", [(">", "notes.txt", False, True, 1)]),
        ("git status >> ../out", [(">>", "../out", False, True, 1)]),
        ("echo x &> f", [("&>", "f", False, True, None)]),
        ("echo x >| f", [(">|", "f", False, True, 1)]),
        ("echo x 1<> f", [("<>", "f", True, True, 1)]),
        ("echo x 2>f", [(">", "f", False, True, 2)]),
        ("echo x >& f", [(">&", "f", False, True, 1)]),
        ("wc -l < notes.txt", [("<", "notes.txt", True, False, 0)]),
        ('echo x > "$HOME/f"', [(">", None, False, True, 1)]),
        ("while a; do b; done > f", [(">", "f", False, True, 1)]),
        ("> f", [(">", "f", False, True, 1)]),
        ("X=f; a > $X.log", [(">", "f.log", False, True, 1)]),
    ],
)
def test_redirections_to_files_are_listed(line: str, expected: list[tuple[object, ...]]) -> None:
    assert [
        (item.operator, item.target.value if item.target else None, item.reads, item.writes, item.fd)
        for item in understood(line).redirections
    ] == expected
    assert not any(item.harmless for item in understood(line).redirections)


@pytest.mark.parametrize(
    "line",
    ["git status 2>&1", "git status >/dev/null 2>&1", "a >&-", "a <&3-", "a <<< x", "a <<E\nx\nE", "a < <(b)",
     "a > >(b)", "echo x >/dev/stderr", "a &>/dev/null", "a 3>&2"],
)  # fmt: skip
def test_redirections_that_touch_no_file_of_the_user_are_harmless(line: str) -> None:
    redirections = understood(line).redirections
    assert redirections
    assert all(item.harmless for item in redirections)


def test_a_redirection_belongs_to_its_command_and_knows_where_it_opens() -> None:
    view = understood("cd a && { b > c; } 2> d")
    assert [(item.target.value if item.target else None, item.cwd) for item in view.redirections] == [
        ("c", "/w/a"), ("d", "/w/a"),
    ]  # fmt: skip
    assert [len(command.redirections) for command in view.commands] == [0, 1]
