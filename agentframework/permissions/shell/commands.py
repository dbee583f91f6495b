"""Running one simple command in thought: its words, its redirections, what it starts and what it changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentframework.permissions.shell import arithmetic
from agentframework.permissions.shell.builtins import effect, enter
from agentframework.permissions.shell.expand import expand, expand_single, split_assignment
from agentframework.permissions.shell.lexer import Lexer
from agentframework.permissions.shell.model import Assignment, Redirection, SimpleCommand
from agentframework.permissions.shell.redirections import expanded_twice, literal_stdin, resolve
from agentframework.permissions.shell.scope import Outcome, Scope, Unknown, unchanged
from agentframework.permissions.shell.tokens import Expression, Fragment, Notes, Part, Redirect, ShellWord
from agentframework.permissions.shell.unwrap import unwrap
from agentframework.permissions.shell.unwrapped import Code, Inner
from agentframework.permissions.shell.variables import Findings, assign, check_assignment

_RUN_WITH_ASSIGNMENTS = frozenset({"eval", "source", ".", "builtin", "command"})
_BASH = frozenset({"", "bash", "rbash"})
_SAME_IN_ZSH = re.compile(
    r"(?!.*\b(?:repeat|noglob|nocorrect|foreach|always)\b)(?!(?:.*\s)?-\s)(?:[\w\s./:,@%+\-&|;\"']|(?<=[\w\-])=)*",
    re.ASCII | re.DOTALL,
)
_EVALUATED = "a value that is known only at run time is read as an expression or a name"


class CommandReader:
    """Collects what the commands of a line do. `walk` follows the command line inside a substitution."""

    def __init__(self, notes: Notes, walk: Callable[[Fragment, Scope], Outcome]) -> None:
        self.notes = notes
        self.walk = walk
        self.commands: list[SimpleCommand] = []
        self.redirections: list[Redirection] = []
        self.findings = Findings(notes)
        self._shell = ""  # the shell that reads the present line, "" for the outermost

    # -- parts of commands ---------------------------------------------------------------------------------

    def visit(self, parts: Sequence[Part], scope: Scope) -> Scope:
        """Follow everything that is run while `parts` are expanded; returns the scope afterwards."""
        for part in parts:
            if part.kind == "literal":
                continue
            if part.commands is not None:
                self.walk(part.commands, scope)
            scope = self.visit(part.parts, scope)
            if part.kind == "parameter":
                problem = arithmetic.parameter_problem(part, scope)
                if problem:
                    self.notes.problem(problem)
                name = arithmetic.set_by_default(part)
                if name:
                    self.findings.unknown(name)
                    scope = scope.assign(name, Unknown.ANYTHING)
            elif part.kind == "arithmetic" or (part.kind == "subscript" and part.text not in ("[@]", "[*]")):
                scope = self.calculate(part.parts, scope)
        return scope

    def calculate(self, parts: Sequence[Part], scope: Scope) -> Scope:
        """Arithmetic: it must not evaluate anything that is not known."""
        if not arithmetic.inert(parts, scope):
            self.notes.problem(_EVALUATED)
        for name in arithmetic.changes(parts):
            self.findings.unknown(name)
        return arithmetic.after_changes(parts, scope)

    def open(self, redirects: Sequence[Redirect], text: str, scope: Scope) -> tuple[Redirection, ...]:
        """The redirections of one command; `text` is what the tokens point into."""
        opened: list[Redirection] = []
        for redirect in redirects:
            if redirect.operator not in ("<<", "<<-"):
                self.visit(redirect.target.parts, scope)
            self.visit(redirect.body or (), scope)
            if redirect.fd.startswith("{"):
                self.findings.unknown(redirect.fd[1:-1])
            if expanded_twice(redirect, scope):
                self.notes.problem("bash expands the file name after >& a second time")
            opened.append(resolve(redirect, scope, text[redirect.start : redirect.end]))
        self.redirections.extend(opened)
        return tuple(opened)

    def evaluate(self, expression: Expression, scope: Scope) -> Scope:
        """`(( ))` and `[[ ]]`."""
        scope = self.visit(expression.parts, scope)
        return self.calculate(expression.parts, scope) if expression.evaluates else scope

    # -- simple commands -----------------------------------------------------------------------------------

    def simple(
        self, words: Sequence[ShellWord], redirects: Sequence[Redirect], source: str, text: str, scope: Scope
    ) -> Outcome:
        """A simple command as written; `source` is what its tokens point into, `text` its own part of it."""
        choice = _choice((*words, *(redirect.target for redirect in redirects)), scope)
        if choice is not None:
            return self._each(choice, words, redirects, source, text, scope)
        expanded = scope
        for word in words:
            expanded = self.visit(word.parts, expanded)
        before = len(self.findings.assignments)
        assignments, assigned, rest = self._leading_assignments(words, expanded)
        argv = tuple(found for word in rest for found in expand(word, scope))
        if argv:  # they are given to this command alone
            del self.findings.assignments[before:]
        opened = self.open(redirects, source, scope)
        if not argv:
            return unchanged(assigned)
        stdin = literal_stdin(redirects, scope)
        command = SimpleCommand(argv, text, assignments, opened, scope.directories, stdin=stdin)
        return self.run(command, expanded, stdin, in_shell=True)

    def _each(
        self,
        name: str,
        words: Sequence[ShellWord],
        redirects: Sequence[Redirect],
        source: str,
        text: str,
        scope: Scope,
    ) -> Outcome:
        """The command with each of the values that the variable `name` may have."""
        self.notes.enter()
        found: Outcome | None = None
        for value in scope.choices(name):
            self.notes.step()
            success, failure = self.simple(words, redirects, source, text, scope.assign(name, value))
            success = success.with_choice_again(scope, name, value)
            failure = failure.with_choice_again(scope, name, value)
            found = Outcome(success, failure) if found is None else found.joined(success, failure)
        self.notes.leave()
        return unchanged(scope) if found is None else found

    def _leading_assignments(
        self, words: Sequence[ShellWord], scope: Scope
    ) -> tuple[tuple[Assignment, ...], Scope, Sequence[ShellWord]]:
        found: list[Assignment] = []
        for index, word in enumerate(words):
            split = split_assignment(word)
            if split is None:
                return tuple(found), scope, words[index:]
            name, append, subscript, parts = split
            prefix = len(name) + (len(subscript.text) if subscript else 0) + append + 1
            value = expand_single(parts, word.text[prefix:], scope)
            assignment = Assignment(name, value, append, subscript.text[1:-1] if subscript else None)
            found.append(assignment)
            scope = assign(assignment, scope, self.findings, arithmetic.kind_of_value(parts, scope))
        return tuple(found), scope, ()

    def run(self, command: SimpleCommand, scope: Scope, stdin: str | None, *, in_shell: bool) -> Outcome:
        """List a command, what it wraps, and find out what it changes. `in_shell`: the shell itself runs it."""
        self.commands.append(command)
        name, program = command.name, command.program.value
        if name is None:
            self.notes.problem(f"the program {command.program.text} is known only at run time")
            return unchanged(scope)
        in_shell = in_shell and name == program
        if name == "alias" and self._shell not in _BASH and command.arguments:
            self.notes.problem(f"{self._shell} replaces aliases in the lines that follow")
        if in_shell and command.assignments and name in _RUN_WITH_ASSIGNMENTS:
            scope = scope.forget(assignment.name for assignment in command.assignments)
        outcome = None
        if unwrapped := unwrap(name, command.arguments, stdin):
            for problem in unwrapped.problems:
                self.notes.problem(f"{name}: {problem}")
            self.notes.enter()
            for inner in unwrapped.inner:
                if isinstance(inner, Inner):
                    fed = None if name == "xargs" else stdin
                    outcome = self._inner(inner, command, name, scope, fed, in_shell=in_shell)
                else:
                    outcome = self._code(inner, command, name, scope)
            self.notes.leave()
        if not in_shell:
            return unchanged(scope)
        if outcome is not None and name in _RUN_WITH_ASSIGNMENTS:
            return outcome
        return effect(name, command.arguments, scope, self.findings)

    def _inner(
        self, inner: Inner, outer: SimpleCommand, name: str, scope: Scope, stdin: str | None, *, in_shell: bool
    ) -> Outcome:
        in_shell = in_shell and inner.in_shell
        there = scope
        if inner.moved:
            there = scope.move(())
        elif inner.directory is not None:
            there = enter(scope, inner.directory)
        for assignment in inner.assignments:
            check_assignment(assignment, self.findings)
        text = " ".join(word.text for word in inner.argv)
        via = (*outer.via, name)
        command = SimpleCommand(inner.argv, text, inner.assignments, (), there.directories, via)
        return self.run(command, there, stdin, in_shell=in_shell)

    def _code(self, code: Code, outer: SimpleCommand, name: str, scope: Scope) -> Outcome:
        """A command line inside a command."""
        plain_bash = self.notes.bash_only
        self.notes.bash_only = False
        fragment = Lexer(code.text, self.notes).read()
        self._check_language(code)
        self.notes.bash_only = plain_bash
        if code.later:
            scope = Scope(opaque=True)
        elif code.shell:
            scope = (scope.move(()) if code.moved else scope).child(known=code.shell in _BASH)
        first = len(self.commands)
        outer_shell, self._shell = self._shell, code.shell or self._shell
        outcome = self.walk(fragment, scope)
        self._shell = outer_shell
        via = (*outer.via, name)
        for index in range(first, len(self.commands)):
            found = self.commands[index]
            self.commands[index] = replace(found, via=via + found.via)
        return unchanged(outcome.either) if code.shell or code.later else outcome

    def _check_language(self, code: Code) -> None:
        if code.shell == "zsh":
            understood = _SAME_IN_ZSH.fullmatch(code.text) is not None
        else:
            understood = code.shell in _BASH or not self.notes.bash_only
        if not understood:
            self.notes.problem(f"{code.shell} may read this differently from bash: {code.text[:80]}")


def _choice(words: Sequence[ShellWord], scope: Scope) -> str | None:
    """A variable in `words` that has one of several known values."""
    for word in words:
        for part in word.parts:
            if part.kind == "parameter" and scope.choices(part.text):
                return part.text
    return None
