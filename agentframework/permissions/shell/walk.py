"""Following the structure of a command line: which commands run in which scope.

The tree of `outline.py` says how commands are combined; the words come from our own tokens. Both must give
the same account of the line: every token has to be used exactly once, and commands have to be bounded by
operators or reserved words. Where that fails the line is reported as not understood.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentframework.permissions.shell.builtins import INTERPRETED
from agentframework.permissions.shell.commands import CommandReader
from agentframework.permissions.shell.disturbance import Disturbance, disturbance, gives_numbers
from agentframework.permissions.shell.expand import expand
from agentframework.permissions.shell.lexer import RESERVED
from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.outline import PREFIXES, Outline
from agentframework.permissions.shell.scope import Choice, Match, Outcome, Scope, Unknown, join, unchanged
from agentframework.permissions.shell.tokens import Expression, Fragment, Keyword, Operator, Redirect, ShellWord, Token

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_CHOICES = 16
MISUNDERSTOOD = "the command line is not valid or has a form that is not understood"
_REDIRECTABLE = frozenset({
    "subshell", "compound_statement", "if_statement", "while_statement", "for_statement", "case_statement",
})  # fmt: skip
_ENDS_OF_BRANCH = frozenset({"elif_clause", "else_clause", "fi"})
_FORGOTTEN = "a loop or function changes variables or the directory in a way that is not followed"


class FragmentWalker:
    """Follows one fragment."""

    def __init__(self, fragment: Fragment, reader: CommandReader) -> None:
        self._outline = Outline(fragment)
        self._tokens = fragment.tokens
        self._text = fragment.source.text
        self._reader = reader
        self._notes = reader.notes
        self._used = bytearray(len(self._tokens))

    def walk(self, scope: Scope) -> Outcome:
        self._notes.enter()
        root = self._outline.root
        outcome = self._sequence(root.children, scope)
        for token, used in zip(self._tokens, self._used, strict=True):
            if used != 1 and isinstance(token, ShellWord | Redirect | Expression):
                self._notes.problem(MISUNDERSTOOD)
        if root.has_error:
            self._notes.problem(MISUNDERSTOOD)
        self._notes.leave()
        return outcome

    # -- lists ---------------------------------------------------------------------------------------------

    def _sequence(self, nodes: Sequence[Node], scope: Scope) -> Outcome:
        """Commands one after the other; the outcome is that of the last one."""
        outcome = unchanged(scope)
        for index, node in enumerate(nodes):
            if not node.is_named:
                continue
            outcome = self._statement(node, outcome.either)
            following = nodes[index + 1].type if index + 1 < len(nodes) else ""
            if following == "&":
                outcome = unchanged(scope)
            scope = outcome.either
        return outcome

    def _statement(self, node: Node, scope: Scope) -> Outcome:
        if node.type == "command":
            outcome = self._command(node, scope)
        else:
            handler = _HANDLERS.get(node.type, FragmentWalker._group)
            self._notes.enter()
            outcome = handler(self, node, scope)
            self._notes.leave()
            if node.type in _REDIRECTABLE:
                names = self._trailing_redirections(node, scope)
                if names:
                    outcome = Outcome(outcome.success.counted(names), outcome.failure.counted(names))
        prefixes = self._prefixes(self._outline.span(node)[0])
        if "coproc" in prefixes:
            return unchanged(scope)
        return unchanged(outcome.either) if "!" in prefixes else outcome

    def _prefixes(self, first: int) -> list[str]:
        """The reserved words in front of a command that the outline leaves out."""
        found: list[str] = []
        while first > 0 and isinstance(token := self._tokens[first - 1], Keyword):
            if token.text in RESERVED and token.text not in PREFIXES:
                break
            found.append(token.text)
            first -= 1
        return found

    def _trailing_redirections(self, node: Node, scope: Scope) -> list[str]:
        """The redirections after a compound command, opened before anything in it runs; the names they set."""
        start = end = self._outline.span(node)[1]
        while end < len(self._tokens) and isinstance(self._tokens[end], Redirect):
            end += 1
        redirects = [token for token in self._tokens[start:end] if isinstance(token, Redirect)]
        self._use(start, end)
        self._reader.open(redirects, self._text, scope)
        return _descriptor_names(redirects)

    def _use(self, start: int, end: int) -> None:
        for index in range(start, end):
            self._used[index] = min(self._used[index] + 1, 2)

    def _command(self, node: Node, scope: Scope) -> Outcome:
        """A simple command, `(( ))` or `[[ ]]`, with the redirections around it."""
        start, end = self._outline.span(node)
        while start > 0 and isinstance(self._tokens[start - 1], Redirect):
            start -= 1
        while end < len(self._tokens) and isinstance(self._tokens[end], Redirect):
            end += 1
        tokens = self._tokens[start:end]
        self._use(start, end)
        if not self._bounded(start, end):
            self._notes.problem(MISUNDERSTOOD)
        words = [token for token in tokens if isinstance(token, ShellWord)]
        redirects = [token for token in tokens if isinstance(token, Redirect)]
        expressions = [token for token in tokens if isinstance(token, Expression)]
        if len(words) + len(redirects) + len(expressions) != len(tokens) or (words and expressions):
            self._notes.problem(MISUNDERSTOOD)
        if names := _descriptor_names(redirects):
            scope = scope.counted(names)
        for expression in expressions:
            scope = self._reader.evaluate(expression, scope)
        if not words:
            self._reader.open(redirects, self._text, scope)
            return unchanged(scope)
        text = self._text[tokens[0].start : tokens[-1].end]
        return self._reader.simple(words, redirects, self._text, text, scope)

    def _bounded(self, start: int, end: int) -> bool:
        """True when an operator or a reserved word stands before the command, and an operator after it."""
        before = self._tokens[start - 1] if start else None
        after = self._tokens[end] if end < len(self._tokens) else None
        if isinstance(before, Operator) and before.text == ")" and not before.pattern:
            return False
        if isinstance(after, Operator) and after.text == "(":
            return False
        return isinstance(before, Operator | Keyword | None) and isinstance(after, Operator | None)

    def _list(self, node: Node, scope: Scope) -> Outcome:
        """`a && b || c`, which the grammar nests to the left."""
        steps: list[tuple[str, Node]] = []
        while node.type == "list" and node.child_count == 3:
            left, operator, right = node.children
            steps.append((operator.type, right))
            node = left
        # anything else than three children comes from an error in the line
        outcome = self._sequence(node.children, scope) if node.type == "list" else self._statement(node, scope)
        for operator, right in reversed(steps):
            before = outcome.success if operator == "&&" else outcome.failure
            after = self._statement(right, before)
            if operator == "&&":
                outcome = Outcome(after.success, join(outcome.failure, after.failure))
            else:
                outcome = Outcome(join(outcome.success, after.success), after.failure)
        return outcome

    def _isolated(self, node: Node, scope: Scope) -> Outcome:
        """A subshell or pipeline: what it changes is gone afterwards."""
        if node.type == "pipeline":
            for child in node.children:
                if child.is_named:
                    self._statement(child, scope)
        else:
            self._sequence(node.children, scope)
        return unchanged(scope)

    def _group(self, node: Node, scope: Scope) -> Outcome:
        return self._sequence(node.children, scope)

    # -- compound commands ---------------------------------------------------------------------------------

    def _if(self, node: Node, scope: Scope) -> Outcome:
        result, otherwise = self._conditional(node.children, scope)
        for child in node.children:
            if child.type == "elif_clause":
                body, otherwise = self._conditional(child.children, otherwise)
                result = join(result, body)
            elif child.type == "else_clause":
                otherwise = self._sequence(child.children, otherwise).either
        return unchanged(join(result, otherwise))

    def _conditional(self, children: Sequence[Node], scope: Scope) -> tuple[Scope, Scope]:
        """The scope after the body of an `if` or `elif`, and the one where its condition failed."""
        types = [child.type for child in children]
        then = types.index("then") if "then" in types else len(types)
        last = next((index for index, name in enumerate(types) if name in _ENDS_OF_BRANCH), len(types))
        condition = self._sequence(children[1:then], scope)
        return self._sequence(children[then + 1 : last], condition.success).either, condition.failure

    def _while(self, node: Node, scope: Scope) -> Outcome:
        changed = self._disturbance(node)
        entry = changed.applied(scope)
        children = node.children
        body = children[-1]
        condition = self._sequence(children[1:-1], entry.fresh())
        until = children[0].type == "until"
        after = self._statement(body, condition.failure if until else condition.success)
        self._check(changed, entry, join(condition.either, after.either))
        return unchanged(entry)

    def _for(self, node: Node, scope: Scope) -> Outcome:
        body = node.children[-1]
        first, last = self._outline.span(node)[0], self._outline.span(body)[0]
        head = [token for token in self._tokens[first:last] if isinstance(token, ShellWord | Expression)]
        self._use(first, last)
        changed = self._disturbance(node)
        for token in head[1:]:
            scope = self._reader.visit(token.parts, scope)
        entry = changed.applied(scope)
        if head and isinstance(head[0], Expression):
            entry = self._reader.evaluate(head[0], entry)
            inside = entry.fresh()
        else:
            inside = self._with_variable(head, scope, entry.fresh())
        after = self._statement(body, inside)
        self._check(changed, entry, join(inside, after.either))
        return unchanged(entry)

    def _with_variable(self, head: Sequence[Token], scope: Scope, entry: Scope) -> Scope:
        """The scope inside a `for`: its variable has one of the values of the list, when that is short and known."""
        words = [token for token in head if isinstance(token, ShellWord)]
        if not words:
            return entry
        self._reader.findings.unknown(words[0].text)
        items = [item for word in words[1:] for item in expand(word, scope)]
        numbers = len(words) > 1 and all(gives_numbers(word) for word in words[1:])
        kind = Unknown.NUMBER if numbers else Unknown.ANYTHING
        values = tuple(dict.fromkeys(_value_of(item) for item in items))
        if not values or len(values) > _MOST_CHOICES or None in values:
            return entry.assign(words[0].text, kind)
        known = tuple(value for value in values if value is not None)
        return entry.assign(words[0].text, known[0] if len(known) == 1 else Choice(known, kind))

    def _case(self, node: Node, scope: Scope) -> Outcome:
        """The branches of a `case`; `;&` may lead from one into the next."""
        first = self._outline.span(node)[0]
        items = [child for child in node.children if child.type == "case_item"]
        scope = self._visit_words(first, "in", scope)
        result = scope
        for item in items:
            scope = self._visit_words(self._outline.span(item)[0], ")", scope)
            body = [
                child
                for index, child in enumerate(item.children)
                if child.is_named and item.field_name_for_child(index) != "value"
            ]
            result = join(result, self._sequence(body, join(scope, result)).either)
        return unchanged(result)

    def _visit_words(self, start: int, end: str, scope: Scope) -> Scope:
        """Follow the expansions in the words up to the token `end`."""
        for index in range(start, len(self._tokens)):
            token = self._tokens[index]
            if isinstance(token, ShellWord):
                self._use(index, index + 1)
                scope = self._reader.visit(token.parts, scope)
            elif isinstance(token, Keyword | Operator) and token.text == end:
                break
        return scope

    def _function(self, node: Node, scope: Scope) -> Outcome:
        """A definition counts as a call: its body is followed, at an unknown time in an unknown scope."""
        body = node.children[-1]
        first, start = self._outline.span(node)[0], self._outline.span(body)[0]
        for token in self._tokens[first:start]:
            if isinstance(token, ShellWord) and (token.literal is None or token.literal in INTERPRETED):
                self._notes.problem("a function takes the name of a builtin")
        self._use(first, start)
        changed = self._disturbance(body)
        entry = Scope(opaque=True)
        self._check(changed, entry, self._statement(body, entry).either)
        return unchanged(changed.applied_for_good(scope))

    # -- changes that come back ----------------------------------------------------------------------------

    def _disturbance(self, node: Node) -> Disturbance:
        start, end = self._outline.span(node)
        return disturbance(self._tokens[start:end])

    def _check(self, changed: Disturbance, before: Scope, after: Scope) -> None:
        if changed.misses(before, after):
            self._notes.problem(_FORGOTTEN)


def _value_of(item: Word) -> str | None:
    """What a word of the list of a `for` gives its variable: a text, or the name of a file that fits a pattern."""
    if item.value is None or item.tilde or item.splits:
        return None
    return Match(item.value) if item.glob else item.value


def _descriptor_names(redirects: Sequence[Redirect]) -> list[str]:
    """The variables of `{name}>file`, which get the number of the descriptor."""
    return [redirect.fd[1:-1] for redirect in redirects if redirect.fd.startswith("{")]


_HANDLERS: dict[str, Callable[[FragmentWalker, Node, Scope], Outcome]] = {
    "list": FragmentWalker._list,
    "pipeline": FragmentWalker._isolated,
    "subshell": FragmentWalker._isolated,
    "if_statement": FragmentWalker._if,
    "while_statement": FragmentWalker._while,
    "for_statement": FragmentWalker._for,
    "case_statement": FragmentWalker._case,
    "function_definition": FragmentWalker._function,
}
