"""Generated command lines, run by real bash and compared with their view.

A view may say that it is not complete; if it does not, it has to list every program that was started, with its
arguments and directory, and every file that was written. The same lines are tried each time, so that a run says
something about the code and not about chance; `make fuzz` tries others.
"""

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from shellkit import DUMMIES, Machine

FIRST_SEED = int(os.environ.get("AF_SHELL_SEED", "0"))
SEEDS = range(FIRST_SEED, FIRST_SEED + int(os.environ.get("AF_SHELL_SEEDS", "10")))
LINES, JUMBLES = 200, 60  # for each seed

Rule = str | Callable[[int], str]

PLAIN_WORDS = [
    "x", "y1", "-f", "z/w", "2.5", ",", "'a b'", '"a;b && c"', r"\;", r"$'\x61\n'", "a\\\nb", '"$X"', "$X", "$Y",
    "${X}", '"${Y}z"', "$1", '"$@"', "$?", "${#X}", "${X:-q r}", '"${X:-q r}"', "${Z+w}", "${X%1}", '"${X:0:1}"',
    "${Q:=v}", "{p,q}", "x{1..3}", "{a,b}{c,d}", "{}", "{a,$X}", "{,z}", "a{b", "*", "d/*", "[ab]", '"*"', "~", "a~",
    "x=~/y", '""', '"$Z"', "'it'\\''s'", '"q\\"r"', '"a\\\nb"', "'a\\\nb'", '"#"', "a#b", r"\#", "$", '"$"', "!",
    "a=b", "--", "\t", "é", "\\\r", "if", "then", "fi", "do", "done", "esac", "{", "}", "time", "[[", "$((1+2))",
    "$[1+1]", "$(( I++ ))",
]  # fmt: skip
REDIRECTIONS = [
    ">f", "2>&1", ">>g", "<f", ">/dev/null", "&>h", ">|k", "<<<x", '<<<"a b"', "1<>l", "2>&-", '> "m n"', ">d/o",
    "{fd}>q", ">&j", ">$X", ">{f,g}",
]  # fmt: skip
SETTINGS = [
    "X=a1", "X=b2", "Y=c3", "X=", 'X="a1 x"', "X=$Y", "X+=x", "unset X", "export X=c3", "X=a1 Y=b2", "declare X=b2",
    "read X <<< b2", "I=1", "I=$((I+1))", "((I++))", "Q=(a1 b2)", "Q[1]=x", 'X="$1"', "set -- a1 b2", "IFS=1",
    "printf -v X c3", "readonly R=1", "let I=2", "Y=~", "local X=b2", "cd d", "cd ..", "cd d/e", "cd nope", "cd",
    "pushd d", "popd", "cd -- d", "cd -", "{cd,d}", "command cd d", "eval cd d", "true", "false", ":", "[[ -n x ]]",
    "[[ a =~ (a|b) ]]", "(( I > 0 ))", "[ -n x ]", "> f", "shift",
]  # fmt: skip
SEPARATORS = ["; ", "\n", " && ", " || ", " | ", " |& ", " & ", " &&\n", "; # c\n", "\n\n", "; # \\\n"]


class Grammar:
    """Makes command lines; each rule gets the depth that is left."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def one(self, *rules: Rule, depth: int = 0) -> str:
        rule = self._random.choice(rules)
        return rule if isinstance(rule, str) else rule(depth)

    def program(self, depth: int) -> str:
        name = self.one(*DUMMIES)
        spellings = [
            f"'{name}'", f"\\{name}", f"{name[0]}''{name[1]}", f"{name[0]}\\\n{name[1]}", f"$'{name}'", "$X", '"$Y"',
            f"{{{name},q}}", "${X:-c3}", f"$Z {name}",
        ]  # fmt: skip
        return self.one(*[name] * 30, *spellings)

    def word(self, depth: int) -> str:
        if depth <= 0:
            return self.one(*PLAIN_WORDS)
        return self.one(*PLAIN_WORDS[:20], *[self.substitution] * 10, depth=depth - 1)

    def substitution(self, depth: int) -> str:
        inner = self.line(depth)
        command = self.command(0)
        quoted = command.replace("\\", "\\\\").replace("`", "\\`")
        return self.one(
            f"$({inner})", f'"$({inner})"', f"$({inner} # c )\n)", f"$( ({inner}) )", f"<({inner})", f"`{quoted}`",
            f"${{Z:-$({command})}}", f'"${{Z:-$({command})}}"', f"$(case x in x) {command};; (y) a1; esac)",
        )  # fmt: skip

    def command(self, depth: int) -> str:
        before = self.one("", "", "", "", "V=1 ", "X=b2 ", 'W="a b" ', "V=$(a1) ", ">f ")
        words = [self.word(depth) for _ in range(self._random.randrange(4))]
        after = self.one("", "", "", *REDIRECTIONS[:8], depth=depth)
        blank = self.one(" ", "  ", " \\\n", "\t")
        return before + blank.join([self.program(depth), *words]) + (f" {after}" if after else "")

    def wrapped(self, depth: int) -> str:
        command, line = self.command(0), shlex.quote(self.line(depth))
        inner = self.one("a1", "b2 x", 'c3 "p q"')
        return self.one(
            f"env {command}", f"env V=1 {inner}", f"env -S {shlex.quote(inner)} z", f"timeout 5 {command}",
            f"nice -n 1 {command}", f"nohup {command}", f"command {command}", f"(exec {inner})", f"eval {line}",
            f"bash -c {line}", f"bash -ec {line}", f"sh -c {shlex.quote(command)}", f"echo 1 | xargs {inner}",
            f"echo 1 | xargs -I% {inner} %", f"find . -maxdepth 0 -exec {inner} {{}} \\;", f"time {command}",
            f"! {command}", f"coproc {command}", f"env -S 'V=1 {inner}'", f"find d -type d -exec {inner} {{}} +",
            f"xargs -n1 {inner} <<< 'p q'", f"bash -c '\"$@\"' _ {inner}", f"eval 'X=b2; $X' {self.word(0)}",
            f"set -- {inner}; \"$@\"", f"Q=({inner}); \"${{Q[@]}}\"", f"stdbuf -oL {inner}", f"setsid -w {inner}",
            f". <(echo {inner})", f"{inner} | while read X; do $X; done", f"HOME=d; {inner} ~ ~/x",
            f"shopt -s nullglob; {inner} d/* n*", f"cd d && {inner}", f"(cd d; {inner}); {inner}",
            f"trap {line} EXIT", f"bash <<< {shlex.quote(command)}",
        )  # fmt: skip

    def block(self, depth: int) -> str:
        line = self.line(depth)
        return line if line.endswith("\n") else line + self.one("; ", "\n", " & ")

    def compound(self, depth: int) -> str:
        first, second = self.block(depth), self.block(depth)
        redirection = self.one("", "", *REDIRECTIONS[:4])
        name = self.one("g", "h")
        head = self.one("for X in a1 b2", "for X in d/* a1", "for X in {a1,b2} 'a b'", "for X in $Y b2 c3",
            "select X in a1", "for X in d*", "for X in a1", "for v in {1..2}", "for ((i=0;i<2;i++))", "for v")
        body = self.one(
            f"{{ {first}}}", f"({first})", f"if {first}then {second}fi", f"if {first}then :; else {second}fi",
            f"{head}; do {first}done", f"while {first}do {second}break; done", f"until {first}do {second}break; done",
            f"case x in y|x) {first};; *) {second};; esac".replace("; ;;", ";;").replace("& ;;", "&\n;;"),
            f"case $X in a*) {first};& b2) {second};;& *) :;; esac".replace("; ;", ";").replace("& ;", "&\n;"),
            f"for X in a1 b2; do $X $X \"$X\"; {first}done", "for X in a1 d/*; do c3 \"$X\" >$X.o; done",
            f"while read -r X Y; do {first}done <<< 'a1 b2'", f"[[ -d d ]] && {{ {first}}}",
            f"! {{ {first}}}", f"time {{ {first}}}", f"coproc N {{ {first}}}", f"( ({first}) )",
        )  # fmt: skip
        definition = self.one(f"{name}() {{ {first}}}; {name}", f"function {name} {{ {first}}}\n{name} a1")
        return self.one(*[f"{body} {redirection}"] * 4, definition)

    def here_document(self, depth: int) -> str:
        mark = self.one("E", "'E'", "\\E", '"E"')
        body = self.one("x", "$X", "$(a1)", "`b2`", "\\$(a1)", "a\\\nb", '"$(b2)"', "${Z:-$(c3)}", "'", "E E", "\\\\")
        rest = self.one("", "; a1", " | b2", " > f", " x")
        reader = self.one("a1", "b2 x", "{ c3; }", "read X", "bash")
        return f"{reader} <<{mark}{rest}\n{body}\nE\n"

    def statement(self, depth: int) -> str:
        simple: list[Rule] = [self.command] * 4
        if depth <= 0:
            return self.one(*simple)
        setting: list[Rule] = [lambda _: self.one(*SETTINGS)] * 3
        nested: list[Rule] = [self.wrapped, self.wrapped, self.compound, self.compound, self.here_document]
        return self.one(*simple, *setting, *nested, depth=depth - 1)

    def line(self, depth: int) -> str:
        text = self.statement(depth)
        for _ in range(self._random.randrange(3) if depth > 0 else 0):
            text += ("" if text.endswith("\n") else self.one(*SEPARATORS)) + self.statement(depth)
        return text

    def whole(self) -> str:
        return self.one("X=a1 Y=b2\n", "") + self.line(self._random.randint(1, 3))


FRAGMENTS = [
    *DUMMIES, *DUMMIES, "x", '"', "'", "\\", "\n", ";", "&&", "||", "|", "&", "|&", "(", ")", "{", "}", "if", "then",
    "else", "fi", "for", "in", "do", "done", "while", "case", "esac", ";;", "!", "time", "coproc", "[[", "]]", "((",
    "))", "$(", "`", "$((", "${X:-", "$X", "X=a1", "X=b2", "<<E", "<<-E", "<<'E'", "E\n", "<<<", ">", ">f", "2>&1",
    "<(", "#", "$'", '$"', "*", "[", "]", "{a1,b2}", "=", "a[", "function", "g()", "eval", "command", "env", "xargs",
    "timeout 5", "\t", "\r", "\\\n", "bash -c", "cd d", "cd ..", "break", "true", "false", "${", "x=(", "read X",
    '"$(', "\\$", "<&", " ", " ", " ",
]  # fmt: skip


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(Path(tmp_path_factory.mktemp("machine")))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_valid_line_does_nothing_that_its_view_does_not_tell(seed: int, machine: Machine) -> None:
    grammar = Grammar(Random(seed))
    assert machine.first_untold([grammar.whole() for _ in range(LINES)]) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_a_jumble_of_syntax_does_nothing_that_its_view_does_not_tell(seed: int, machine: Machine) -> None:
    random = Random(seed)
    lines = [random.choice(("", " ")).join(random.choices(FRAGMENTS, k=random.randrange(15))) for _ in range(JUMBLES)]
    assert machine.first_untold(lines) is None
