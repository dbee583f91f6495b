"""Permission rules: ``Tool``, ``Tool(pattern)``, ``mcp__server``, ``mcp__server__tool``, ``mcp__*``.

Parsing only; `agentframework.permissions.matching` says which calls a rule covers. One broken entry never takes
others with it: it is reported and has no effect.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from agentframework.errors import ConfigurationError
from agentframework.permissions.paths import PathPattern, compile_paths
from agentframework.permissions.patterns import Glob
from agentframework.permissions.shell import parse_command_line
from agentframework.permissions.subject import EDIT_NAMES, READ_NAMES, SHELL_NAMES, Family, family_of

Effect = Literal["allow", "deny", "ask"]

_ENTRY = re.compile(r"([^\s()]+)\s*(?:\((.*)\))?", re.DOTALL)
_KEYWORDS = frozenset({
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select",
    "then", "time", "until", "while", "{", "}",
})  # fmt: skip
_PREFIXES = frozenset({"!", "coproc", "time"})
_WELL_KNOWN = SHELL_NAMES | READ_NAMES | EDIT_NAMES | {"AskUserQuestion", "WebFetch", "WebSearch"}


@dataclass(frozen=True, slots=True)
class PermissionRules:
    """Rules as a person writes them, for example ``PermissionRules(allow=["Bash(git status:*)"])``.

    Deny beats ask, ask beats allow. Raises `ConfigurationError` if a list is no list; a broken entry in a list is
    reported as a warning when the rules are used.
    """

    allow: Iterable[str] = ()
    deny: Iterable[str] = ()
    ask: Iterable[str] = ()

    def __post_init__(self) -> None:
        for item in fields(self):
            entries: object = getattr(self, item.name)
            if isinstance(entries, str | bytes) or not isinstance(entries, Iterable):
                raise ConfigurationError(
                    f"permissions.{item.name} must be a list of rules, not {entries!r}",
                    details={"field": f"permissions.{item.name}"},
                )
            object.__setattr__(self, item.name, tuple(cast("Iterable[Any]", entries)))


@dataclass(frozen=True, slots=True)
class CommandScope:
    """Commands of a shell line; ``verbatim`` covers a whole line that is letter for letter the same."""

    verbatim: str
    globs: tuple[Glob, ...]


@dataclass(frozen=True, slots=True)
class PathScope:
    """Files."""

    patterns: tuple[PathPattern, ...]


@dataclass(frozen=True, slots=True)
class DomainScope:
    """A host and everything below it."""

    domain: str


@dataclass(frozen=True, slots=True)
class TextScope:
    """The key argument as text."""

    glob: Glob


Scope = CommandScope | PathScope | DomainScope | TextScope


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. ``scope`` None means every call of the tool; ``text`` is how it was written, ``origin`` where, if that
    is a file."""

    effect: Effect
    text: str
    tool: str
    scope: Scope | None
    origin: str = field(default="", compare=False)

    @property
    def shown(self) -> str:
        """The text, and where it was written."""
        return f"{self.text} ({self.origin})" if self.origin else self.text

    @property
    def family(self) -> Family:
        """The tools that share this rule if it has a scope."""
        return family_of(self.tool)

    def names(self, tool_name: str) -> bool:
        """True if the tool part of the rule means this tool."""
        if self.tool in SHELL_NAMES:
            return tool_name in SHELL_NAMES
        if "*" in self.tool:
            return Glob(self.tool).matches(tool_name)
        return tool_name == self.tool or (self.tool.startswith("mcp__") and tool_name.startswith(f"{self.tool}__"))


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Parsed rules, and ``warnings`` about the entries that could not be used. Sets add up with ``+``."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = ()

    def __add__(self, other: "RuleSet") -> "RuleSet":
        if self == _NO_RULES:
            return other
        return RuleSet(
            self.allow + other.allow,
            self.deny + other.deny,
            self.ask + other.ask,
            self.warnings + other.warnings,
        )

    def unknown(self, known: Iterable[str], awaited: tuple[str, ...] = ()) -> tuple[Rule, ...]:
        """The rules that name none of the ``known`` tools. They stay in force.

        Names that begin with one of ``awaited`` may still come.
        """
        names = frozenset(known)
        return tuple(
            rule
            for rule in (*self.deny, *self.ask, *self.allow)
            if rule.tool not in _WELL_KNOWN
            and not rule.tool.startswith(awaited)
            and not any(rule.names(name) for name in names)
        )

    def unknown_tools(self, known: Iterable[str], awaited: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A warning for each rule of `unknown`."""
        return tuple(
            f"the {rule.effect} rule {rule.text!r} names the tool {rule.tool}, which this session does not have"
            for rule in self.unknown(known, awaited)
        )


_NO_RULES = RuleSet()


def parse_rules(rules: PermissionRules, *, base: str, home: str | None = None, source: str = "permissions") -> RuleSet:
    """All of ``rules`` that can be understood.

    ``base`` (absolute, without links) anchors relative paths and those with one slash, ``home`` those with ``~``.

    ``source`` names the place in warnings, such as a settings file.
    """
    parsed: dict[str, list[Rule]] = {"allow": [], "deny": [], "ask": []}
    warnings: list[str] = []
    effects: tuple[Effect, ...] = ("allow", "deny", "ask")
    for effect in effects:
        for number, entry in enumerate(cast("tuple[object, ...]", getattr(rules, effect))):
            rule, problem = read_entry(entry, effect, base=base, home=home)
            if problem is not None:
                warnings.append(f"{source}.{effect}[{number}]: {problem}")
            if rule is not None:
                parsed[effect].append(rule)
    return RuleSet(tuple(parsed["allow"]), tuple(parsed["deny"]), tuple(parsed["ask"]), tuple(warnings))


def read_entry(
    entry: object, effect: Effect, *, base: str, home: str | None = None, origin: str = ""
) -> tuple[Rule | None, str | None]:
    """The rule that an entry of a list stands for, and what is wrong with the entry, quoted."""
    try:
        rule = parse_rule(entry, effect, base=base, home=home)
    except ValueError as error:
        return None, f"{entry!r} {error}; the entry has no effect"
    rule = replace(rule, origin=origin) if origin else rule
    if isinstance(rule.scope, CommandScope) and _fits_no_command(rule.scope.verbatim):
        return rule, f"{entry!r} fits no command: rules are held against single commands, not against a line"
    return rule, None


def parse_rule(entry: object, effect: Effect, *, base: str, home: str | None = None) -> Rule:
    """One rule. Raises ``ValueError`` with what is wrong, worded to follow the quoted entry."""
    if not isinstance(entry, str):
        raise ValueError("is not a text")
    text = entry.strip()
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise ValueError(_complaint(text))
    tool, pattern = match[1], match[2]
    if "*" in tool and effect == "allow" and not tool.startswith("mcp__"):
        raise ValueError("has a * in the tool name; only mcp__ names may have one in an allow rule")
    if pattern is None:
        return Rule(effect, text, tool, None)
    pattern = pattern.strip()
    if not pattern:
        raise ValueError("has empty parentheses; write the name alone to mean every call")
    return Rule(effect, text, tool, _scope(tool, pattern, effect, base, home))


def _fits_no_command(pattern: str) -> bool:
    """True for a piece of shell syntax, and for several commands with a wildcard.

    Several commands without one fit the line that is letter for letter the same.
    """
    wild = "*" in pattern
    first = pattern.split(None, 1)[0].partition(":")[0]
    if first in _KEYWORDS:
        return (wild and first in _PREFIXES) or not parse_command_line(pattern).complete
    if not (wild and any(mark in pattern for mark in ";&|\n")):
        return False
    line = parse_command_line(pattern.replace("*", "x"))
    return sum(not command.via for command in line.commands) > 1


def _complaint(text: str) -> str:
    if not text:
        return "is empty"
    if "(" in text and not text.endswith(")"):
        return "has text after its parentheses" if ")" in text else "has no closing parenthesis"
    return "is neither Tool nor Tool(pattern)"


def _scope(tool: str, pattern: str, effect: Effect, base: str, home: str | None) -> Scope | None:
    family = family_of(tool)
    if family is Family.SHELL:
        return None if pattern == "*" else CommandScope(pattern, _command_globs(pattern))
    if family in (Family.READ, Family.EDIT):
        return PathScope(compile_paths(pattern, base=base, home=home, wide=effect != "allow"))
    if tool == "WebFetch" and pattern.startswith("domain:"):
        domain = pattern.removeprefix("domain:").strip().strip(".").lower().removeprefix("*.")
        if not domain or "*" in domain or "/" in domain:
            raise ValueError("names no domain")
        return DomainScope(domain)
    return TextScope(Glob(pattern, lines=effect != "allow"))


def _command_globs(pattern: str) -> tuple[Glob, ...]:
    """``git push:*`` and ``git push *`` mean the bare command too, and end at a word; ``git*`` does neither."""
    for ending in (":*", " *"):
        if pattern.endswith(ending):
            prefix = pattern.removesuffix(ending).rstrip()
            if not prefix:
                raise ValueError("names no command")
            return (Glob(prefix), Glob(f"{prefix} *"))
    return (Glob(pattern),)
