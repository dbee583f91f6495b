"""Which files a command reads, for programs that are known, and which it is told of, for those that are not.

Which operands a program opens is taken widely: whatever may be a path counts as one.
"""

import re
from collections.abc import Iterator, Sequence

from agentframework.permissions.argv import Named, Syntax, read_arguments, same_option
from agentframework.permissions.git_words import split_git
from agentframework.permissions.scripts import files_of_awk, files_of_sed
from agentframework.permissions.shell.model import SimpleCommand, Word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEARCHERS = frozenset({"ack", "ag", "egrep", "fgrep", "grep", "rg", "zgrep"})
_SCRIPTED = _SEARCHERS | {"awk", "gawk", "jq", "mawk", "sed", "yq"}
_GREP_OPTIONS = Syntax(
    "ABCDdefm",
    (
        "--regexp", "--file", "--max-count", "--context", "--after-context", "--before-context", "--include",
        "--exclude", "--exclude-from", "--exclude-dir", "--label", "--binary-files", "--devices", "--directories",
    ),
)  # fmt: skip
_PATTERN_GIVEN = frozenset({"-e", "-f", "--regexp", "--file", "--files", "--type-list"})
_SEARCH_OPTIONS = {
    **dict.fromkeys(("egrep", "fgrep", "grep", "zgrep"), _GREP_OPTIONS),
    "rg": Syntax(
        "ABCEMTdefgjmrt",
        (
            "--regexp", "--file", "--glob", "--iglob", "--type", "--type-not", "--type-add", "--max-count", "--context",
            "--after-context", "--before-context", "--max-depth", "--max-columns", "--max-filesize", "--sort",
            "--sortr", "--replace", "--threads", "--encoding", "--engine", "--color", "--colors", "--ignore-file",
            "--pre", "--pre-glob",
        ),
    ),
}  # fmt: skip
# They create no files that others on the line could come upon.
LOOKING = _SEARCHERS | _words("cat cd cut echo false head ls printf pwd sort tail tar tr true uniq wc")
_COPIERS = frozenset({"cp", "install", "ln", "mv", "rsync", "scp"})
_READERS = (
    _SCRIPTED
    | _COPIERS
    | _words(
        """. 7z base32 base64 bash bat batcat bunzip2 bzcat bzip2 cat cksum cmp colordiff column comm csplit curl
    cut dash dd diff diff3 ed emacs expand file fmt fold gpg git gunzip gzip head hd hexdump iconv join ksh less look ls
    md5sum more nano nl nvim node od openssl paste perl php pr python python3 rev ruby sh sha1sum sha224sum
    sha256sum sha384sum sha512sum shuf sort source split strings sum tac tail tar tee tree uniq vi view vim wc wget
    xargs xxd xz xzcat zcat zip zsh zstd zstdcat"""
    )
)
_ALWAYS_RECURSIVE = frozenset({"ack", "ag", "rg", "rsync", "tar", "zip"})
_SOMETIMES_RECURSIVE = {"cp": "aRr", "diff": "r", "egrep": "Rr", "fgrep": "Rr", "grep": "Rr", "scp": "r"}
_SCRIPT_OPTIONS = ("--expression", "--file", "--files", "--from-file", "--regexp")
_FETCHERS = frozenset({"curl", "git", "wget"})
# They do not open what they are given, or are known to only write it.
_NO_READERS = frozenset({
    "[", "basename", "cd", "chdir", "chmod", "chown", "command", "declare", "dirname", "echo", "export", "false",
    "gzip", "kill", "local", "man", "mkdir", "popd", "printf", "pushd", "pwd", "readlink", "realpath", "rm", "rmdir",
    "set", "stat", "test", "touch", "true", "truncate", "type", "unlink", "unset", "whereis", "which",
})  # fmt: skip
_INTERPRETERS = re.compile(
    r"(python|pypy|perl|ruby|node|nodejs|php|lua|luajit|bun|deno|tclsh|osascript|Rscript|R|julia|octave|groovy|scala|jshell"
    r"|kotlin|clojure|bb|guile|racket|sbcl|elixir|erl|iex|swift|tsx|ts-node|emacs|ghci|runghc|raku|jjs|expect|pwsh)[\d.]*"
)
_LITERAL = re.compile(r"'([^'\n]{1,300})'|\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`")


def read_by(command: SimpleCommand) -> Iterator[Named]:
    """What the program itself reads; its redirections are not among it."""
    name = command.name
    if name is None or name not in _READERS:
        return
    words: Sequence[Word] = command.arguments
    for word in _named_in_script(name, words):
        yield Named(word)
    if name == "git":
        leading, subcommand, rest = split_git(words)
        words = (*leading, *rest)
        if subcommand is not None and subcommand.value == "grep":
            yield Named(Word(".", "."), True)
    whole = _recursive(name, words)
    options = True
    for word in _operands(name, words):
        options = options and word.value != "--"
        if name in _FETCHERS and "://" in word.text and "file:" not in word.text:
            continue
        for candidate in _candidates(word, options):
            yield Named(candidate, whole)
    if whole and name in _SEARCHERS and not _names_a_place(name, words):
        yield Named(Word(".", "."), whole)


def _names_a_place(name: str, words: Sequence[Word]) -> bool:
    """True if a search says where to look; without that it looks in the working directory."""
    syntax = _SEARCH_OPTIONS.get(name)
    if syntax is None:
        return False
    found = read_arguments(words, syntax)
    given = any(option in _PATTERN_GIVEN for option, _ in found.options)
    return len(found.operands) > (0 if given else 1)


def _named_in_script(name: str, words: Sequence[Word]) -> Iterator[Word]:
    if name == "sed":
        yield from files_of_sed(words, "rR")
    elif name in ("awk", "gawk", "mawk"):
        yield from files_of_awk(words, "<")


def _operands(name: str, arguments: Sequence[Word]) -> Sequence[Word]:
    """The arguments without the script or pattern of a program that takes one first."""
    if name not in _SCRIPTED or any(_gives_script(word) for word in arguments):
        return arguments
    for number, word in enumerate(arguments):
        if word.value is None or not word.value.startswith("-"):
            return (*arguments[:number], *arguments[number + 1 :])
    return arguments


def _gives_script(word: Word) -> bool:
    value = word.value
    if value is None:
        return word.splits
    if value.startswith("--"):
        given = value.partition("=")[0]
        return any(same_option(given, name) for name in _SCRIPT_OPTIONS)
    return value.startswith("-") and any(letter in value for letter in "ef")


def _recursive(name: str, arguments: Sequence[Word]) -> bool:
    if name in _ALWAYS_RECURSIVE:
        return True
    letters = _SOMETIMES_RECURSIVE.get(name)
    if letters is None:
        return False
    for word in arguments:
        value = word.value or ""
        if value.startswith(("--recursive", "--archive", "--dereference-recursive")):
            return True
        if value.startswith("-") and not value.startswith("--") and any(letter in value for letter in letters):
            return True
    return False


def _candidates(word: Word, options: bool = True) -> Iterator[Word]:
    """``word`` and the parts of it that may be a path: ``--file=x``, ``-fx``, ``if=x``, ``@x``, ``HEAD:x``.

    ``options``: a word with a dash in front is an option, and no file itself.
    """
    if word.value is None:
        yield word
        return
    option = options and len(word.value) > 1 and word.value.startswith("-")
    values = {word.value}
    if option and not word.value.startswith("--"):
        values.add(word.value[2:])
    for separator in "=:@":
        values.update(value.partition(separator)[2] for value in tuple(values))
    for value in values:
        if value and not (option and value == word.value):
            yield Word(value, value, word.glob, word.tilde and value == word.value)


def mentioned_by(command: SimpleCommand) -> Iterator[str]:
    """Texts among the arguments that may name files, of a program of which nothing is known; literals in its code."""
    name = command.name
    if name is None or name in _NO_READERS:
        return
    if name not in _READERS:
        for word in command.arguments:
            if word.exact:
                yield from (candidate.value or "" for candidate in _candidates(word))
    if is_interpreter(name):
        yield from literals_in(command.arguments)
        yield from literals_in([Word(command.stdin, "<<")])


def is_interpreter(name: str) -> bool:
    """True for a program that runs code in a language of its own."""
    return _INTERPRETERS.fullmatch(name) is not None


def literals_in(words: Sequence[Word]) -> Iterator[str]:
    """The literal texts in the code that a program is given as an argument."""
    for word in words:
        for found in _LITERAL.finditer(word.value or ""):
            yield next(filter(None, found.groups()), "")
