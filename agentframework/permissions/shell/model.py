"""What a command line does, as plain data.

These are the values the rest of the permission layer reads. They say nothing about whether something is
allowed; they only name programs, words, files and the places where the text alone does not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_STANDARD_STREAMS = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True, slots=True)
class Word:
    """One argument after expansion.

    `value` is the text the program receives, or None when it is known only while the line runs. `text` is how
    it was spelled. With `glob` the value still holds unexpanded `* ? [` patterns, with `tilde` it still starts
    with an unexpanded `~`. `splits` marks an unknown word that may become any number of words, none included;
    `foreign` one that may hold any text at all, such as the output of a command; `stream` one that names the pipe of
    a process substitution.
    """

    value: str | None
    text: str
    glob: bool = False
    tilde: bool = False
    splits: bool = False
    foreign: bool = False
    stream: bool = False

    @property
    def exact(self) -> bool:
        """True when `value` is, letter for letter, what the program receives."""
        return self.value is not None and not self.glob and not self.tilde


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, `name+=value` or `name[subscript]=value`; an array literal has a value of None."""

    name: str
    value: Word
    append: bool = False
    subscript: str | None = None


@dataclass(frozen=True, slots=True)
class Redirection:
    """One redirection; `reads` and `writes` say whether it opens `target` as a file, and how.

    Here-documents, here-strings, `< <(...)` and the copying or closing of descriptors (`2>&1`, `>&-`) open no
    file: both are False and `target` is None. A file whose name is not known has a target with value None.
    `fd` is None for `&>` and for `{name}>`. `directories` are those a relative target may start from (empty:
    not known).
    """

    operator: str
    target: Word | None
    reads: bool
    writes: bool
    fd: int | None
    text: str
    directories: tuple[str, ...] = ()

    @property
    def cwd(self) -> str | None:
        """The one directory a relative target starts from, None when there are several or none is known."""
        return self.directories[0] if len(self.directories) == 1 else None

    @property
    def connects(self) -> bool:
        """True when bash opens a connection instead of a file."""
        return self.target is not None and (self.target.value or "").startswith(("/dev/tcp/", "/dev/udp/"))

    @property
    def harmless(self) -> bool:
        """True when no file of the user is touched: no file at all, or /dev/null and the standard streams."""
        if not (self.reads or self.writes):
            return True
        return self.target is not None and self.target.exact and self.target.value in _STANDARD_STREAMS


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program (or shell builtin) with its arguments.

    `argv[0]` is the program. `directories` are the working directories it may start in (empty: not known):
    `cd a; ls` has two, since the `cd` may fail. `via` names the wrappers that lead to it, outermost first.
    `assignments` are those given to this command alone. `stdin` is the text that a here-document or here-string
    feeds it, None when there is none or it is not known.
    """

    argv: tuple[Word, ...]
    text: str
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    directories: tuple[str, ...] = ()
    via: tuple[str, ...] = ()
    stdin: str | None = None

    @property
    def program(self) -> Word:
        return self.argv[0]

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.argv[1:]

    @property
    def name(self) -> str | None:
        """The program's name without its directory, None when it is known only while the line runs."""
        value = self.program.value
        if value is None or self.program.glob:
            return None
        return value.rsplit("/", 1)[-1]

    @property
    def cwd(self) -> str | None:
        """The one working directory it starts in, None when there are several or none is known."""
        return self.directories[0] if len(self.directories) == 1 else None


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Everything a command line may run, open and set.

    `redirections` lists all of the line, those of single commands included. `assignments` are the ones that
    change the shell itself (`X=1`, `export X=1`, `read X`, `for X in ...`), not those given to one command.
    `unresolved` says, in words for a person, what the text alone does not tell; while it is not empty the line
    may do more than is listed.
    """

    text: str
    commands: tuple[SimpleCommand, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    unresolved: tuple[str, ...] = field(default=())

    @property
    def complete(self) -> bool:
        """True when everything the line may run is listed."""
        return not self.unresolved
