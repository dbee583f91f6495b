"""Cutting a command line into words, operators, redirections and reserved words.

tree-sitter-bash reads the structure of a line well but misreads parts of its text (here-documents, comments
that end in a backslash, carriage returns, quotes inside expansions). So the text is cut here, by the rules of
POSIX XCU 2.3 and bash 5.2, and the grammar sees only the outline (`outline.py`). Where the two disagree the
line is reported as not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from agentframework.permissions.shell.heredoc import read_body
from agentframework.permissions.shell.quoting import WordReader
from agentframework.permissions.shell.tokens import (
    Expression,
    Fragment,
    Keyword,
    Notes,
    Operator,
    Part,
    Redirect,
    ShellWord,
    Stop,
)

_SPACES = re.compile(r"[ \t]+")
_CONTROL = re.compile(r";;&|;;|;&|;|&&|&|\|\||\|&|\||\(|\)")
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\()")
_DESCRIPTOR = re.compile(r"[0-9]{1,9}|\{[A-Za-z_][A-Za-z0-9_]*\}")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[|\+?=)")
_ELEMENT = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\[.*\]\}", re.DOTALL)
_COPROC_NAME = re.compile(r"[A-Za-z_]\w*(?=[ \t]+(\(|(\{|while|until|if|for|case|select|\[\[)[ \t\n]))")
_ARITHMETIC_TESTS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"})
_MAX_GROUPS = 60

OPENING = frozenset({"if", "then", "elif", "else", "while", "until", "do", "{", "!", "time"})
CLOSING = frozenset({"fi", "done", "esac", "}"})
RESERVED = OPENING | CLOSING | {"for", "select", "case", "function", "coproc", "[["}

_Expecting = Literal["", "subject", "case in", "variable", "for in", "function name", "time", "coproc"]


@dataclass(slots=True)
class _State:
    """Where in the grammar the reader is, as far as words are read differently there."""

    reserved: bool = True  # a reserved word is one here
    assignable: bool = True  # an assignment is one here
    expecting: _Expecting = ""
    groups: list[Literal["(", "pattern", "body"]] = field(default_factory=list)
    pattern_begun: bool = False

    @property
    def in_pattern(self) -> bool:
        return bool(self.groups) and self.groups[-1] == "pattern"

    def start_command(self) -> None:
        self.reserved = self.assignable = True

    def open(self, group: Literal["(", "pattern"]) -> None:
        self.groups.append(group)
        if len(self.groups) > _MAX_GROUPS:
            raise Stop("the command line is nested too deeply to be read")


class Lexer(WordReader):
    """Reads fragments; `fragment` is the outermost one and keeps what was read when reading stops early."""

    def __init__(self, text: str, notes: Notes) -> None:
        super().__init__(text, notes)
        self.fragment = Fragment(self.source)

    def read(self) -> Fragment:
        """Read everything. Raises Stop, with the tokens so far in `fragment`."""
        return self._read_tokens(self.fragment, nested=False)

    def read_commands(self, *, nested: bool) -> Fragment:
        outer, self.pending = self.pending, []
        fragment = self._read_tokens(Fragment(self.source), nested=nested)
        self.pending = outer
        if _loses_separator(fragment):
            self.notes.problem("bash 5.2 loses a ; after a here-document inside a substitution")
        return fragment

    def read_separately(self, text: str) -> Fragment:
        return Lexer(text, self.notes).read()

    def _read_tokens(self, fragment: Fragment, *, nested: bool) -> Fragment:
        state = _State()
        while True:
            char = self._skip_blanks()
            if not char:
                break
            if char in "<>&" and (operator := self.match(_REDIRECTION)):
                self._redirect(fragment, state, operator, "", self.pos - len(operator))
            elif char in ";&|\n()" and (operator := self._control(char)):
                if operator == ")" and nested and not state.groups:
                    return self._finish(fragment)
                self._operator(fragment, state, operator, nested=nested)
            else:
                self._word(fragment, state)
        if nested:
            raise Stop("a $( or <( is not closed")
        return self._finish(fragment)

    def _finish(self, fragment: Fragment) -> Fragment:
        if self.pending:
            self.notes.problem("a here-document is not ended")
            self.pending = []
        return fragment

    def _skip_blanks(self) -> str:
        """Step over blanks and comments; returns the character that comes next."""
        while True:
            char = self.peek()
            if char and char in " \t":
                self.match(_SPACES)
            elif char == "#":
                end = self.source.text.find("\n", self.pos)
                self.pos = len(self.source.text) if end < 0 else end
            else:
                return char

    def _control(self, char: str) -> str:
        if char == "\n":  # a backslash-newline after it may belong to a here-document: leave it
            self.pos += 1
            return char
        return self.match(_CONTROL)

    # -- operators -----------------------------------------------------------------------------------------

    def _operator(self, fragment: Fragment, state: _State, text: str, *, nested: bool) -> None:
        self.notes.step()
        start = self.pos - len(text)
        token = Operator(start, self.pos, text)
        if text == "(" and self._arithmetic_command(fragment, state, start):
            return
        if state.in_pattern:
            self._operator_in_pattern(state, token)
        elif text == "(":
            state.open("(")
            state.expecting = ""
            state.start_command()
        elif text == ")":
            if not state.groups or state.groups.pop() != "(":
                raise Stop("a ) has no opening parenthesis")
            state.start_command()
        else:
            self._separator(state, text)
        fragment.tokens.append(token)
        if text == "\n" and self.pending:
            self._read_bodies(nested=nested)

    def _separator(self, state: _State, text: str) -> None:
        if state.expecting not in ("case in", "for in", "coproc") or text != "\n":
            state.expecting = ""
        state.start_command()
        if text in (";;", ";&", ";;&") and state.groups and state.groups[-1] == "body":
            state.groups[-1] = "pattern"
            state.pattern_begun = False

    def _operator_in_pattern(self, state: _State, token: Operator) -> None:
        token.pattern = token.text == "(" or state.pattern_begun
        state.pattern_begun = token.pattern
        if token.text == ")":
            state.groups[-1] = "body"
            state.start_command()

    def _arithmetic_command(self, fragment: Fragment, state: _State, start: int) -> bool:
        """`((`, when it is one: two parentheses that also close together."""
        if not (state.reserved or state.expecting == "variable") or self.peek() != "(":
            return False
        before, depth, problems = self.pos, self.notes.depth, len(self.notes.problems)
        self.pos += 1
        try:
            parts = self.calculation("(", ")")
        except Stop:
            parts = None
        if parts is None or self.peek() != ")":
            del self.notes.problems[problems:]
            if "<<" in self.source.text[before : self.pos]:
                self.notes.problem("bash 5.2 misreads a here-document in what looks like arithmetic")
            self.pos, self.notes.depth = before, depth
            self.notes.step()
            return False
        self.pos += 1
        self.notes.bash_only = True
        fragment.tokens.append(Expression(start, self.pos, parts, True))
        state.expecting = ""
        state.start_command()
        return True

    # -- redirections --------------------------------------------------------------------------------------

    def _redirect(self, fragment: Fragment, state: _State, operator: str, fd: str, start: int) -> None:
        self.match(_SPACES)
        if operator in ("&>", "&>>", "<<<"):
            self.notes.bash_only = True
        target = self._dash() if operator in ("<&", ">&") and self.peek() == "-" else self.read_word()
        if target is None:
            raise Stop(f"the redirection {operator} has no target")
        redirect = Redirect(start, self.pos, operator, fd, target)
        fragment.tokens.append(redirect)
        state.reserved = False
        if operator in ("<<", "<<-"):
            self.pending.append(redirect)

    def _dash(self) -> ShellWord:
        """The `-` of `>&-`, which is a token of its own: in `git >&-push` the next word is `push`."""
        self.pos += 1
        return ShellWord(self.pos - 1, self.pos, "-", (Part("literal", "-"),))

    def _read_bodies(self, *, nested: bool) -> None:
        pending, self.pending = self.pending, []
        for redirect in pending:
            text, expanded, self.pos = read_body(
                self.source.text, self.pos, redirect, self.notes, nested=nested
            )
            if expanded:
                self.notes.enter()
                redirect.body = Lexer(text, self.notes).read_heredoc_body()
                self.notes.leave()
            else:
                redirect.body = (Part("literal", text, True),)

    # -- words ---------------------------------------------------------------------------------------------

    def _word(self, fragment: Fragment, state: _State) -> None:
        if state.expecting == "coproc" and (name := self.match(_COPROC_NAME)):
            fragment.tokens.append(Keyword(self.pos - len(name), self.pos, name))
            state.expecting = ""
            return
        word = self.read_word(assignable=state.assignable and not state.in_pattern)
        if word is None:
            raise Stop("a character has no meaning here")
        if _ELEMENT.fullmatch(word.text) and self.peek() in ("<", ">"):
            self.notes.problem("a descriptor is put into an element of an array")
        if word.plain:
            if _DESCRIPTOR.fullmatch(word.text) and (operator := self.match(_REDIRECTION)):
                if not operator.startswith("&"):
                    self._redirect(fragment, state, operator, word.text, word.start)
                    return
                self.pos -= len(operator)
            if self._keyword(fragment, state, word):
                return
        self._plain_word(state, word)
        fragment.tokens.append(word)

    def _plain_word(self, state: _State, word: ShellWord) -> None:
        if state.in_pattern:
            word.pattern = state.pattern_begun = True
        elif state.expecting == "subject":
            state.expecting = "case in"
        elif state.expecting == "variable":
            state.expecting = "for in"
        elif state.expecting == "function name":
            state.expecting = ""
            state.start_command()
            return
        else:
            state.expecting = ""
            first = word.parts[0]
            is_assignment = first.kind == "literal" and not first.quoted and _ASSIGNMENT.match(word.text)
            state.assignable = state.assignable and bool(is_assignment)
        state.reserved = False

    def _keyword(self, fragment: Fragment, state: _State, word: ShellWord) -> bool:
        text = word.text
        if state.expecting == "time" and text in ("-p", "--"):
            pass
        elif state.in_pattern:
            if text != "esac" or state.pattern_begun:
                return False
            self._reserved_word(state, text)
        elif state.expecting == "case in" and text == "in":
            state.expecting = ""
            state.open("pattern")
            state.pattern_begun = False
        elif state.expecting == "for in" and text in ("in", "do"):
            state.expecting = ""
            state.reserved = state.assignable = text == "do"
        elif state.reserved and not state.expecting.endswith(("subject", "variable", "name")):
            if text not in RESERVED:
                return False
            self._reserved_word(state, text)
        else:
            return False
        if text == "[[":
            self._test(fragment, word)
        else:
            fragment.tokens.append(Keyword(word.start, word.end, text))
        return True

    def _reserved_word(self, state: _State, text: str) -> None:
        expecting: dict[str, _Expecting] = {
            "case": "subject", "for": "variable", "select": "variable", "function": "function name",
            "time": "time", "coproc": "coproc",
        }  # fmt: skip
        state.expecting = expecting.get(text, "")
        state.start_command()
        if text == "esac" and state.groups and state.groups[-1] in ("pattern", "body"):
            state.groups.pop()
        if text in ("select", "function", "coproc"):
            self.notes.bash_only = True

    def _test(self, fragment: Fragment, opening: ShellWord) -> None:
        """`[[ ... ]]`: operators inside are not those of a command line."""
        self.notes.bash_only = True
        parts: list[Part] = []
        evaluates = False
        while True:
            self.match(_SPACES)
            char = self.peek()
            if not char:
                raise Stop("a [[ is not closed")
            if char == "#":
                self.notes.problem("a # stands inside [[ ]]")
            if char == "\n":
                self.skip_lines()
                continue
            word = self.read_word()
            if word is None:
                self.pos += 1
            elif word.plain and word.text == "]]":
                break
            else:
                evaluates = evaluates or word.text in _ARITHMETIC_TESTS
                parts.extend(word.parts)
        fragment.tokens.append(Expression(opening.start, self.pos, tuple(parts), evaluates))


def _loses_separator(fragment: Fragment) -> bool:
    """True when bash runs something else than is written.

    bash 5.2 prints the command line of a substitution and reads it again. The printer leaves out the first `;`
    after a here-document, so `$(cat <<E ... E; a; b)` runs `a b`.
    """
    after = False
    for token in fragment.tokens:
        if isinstance(token, Redirect):
            after = after or token.operator in ("<<", "<<-")
        elif after and isinstance(token, Operator) and token.text == ";":
            return True
    return False
