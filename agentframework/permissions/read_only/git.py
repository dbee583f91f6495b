"""Git commands that only read: which subcommands, with which options, at their places.

Sources: git(1) and the manuals of the subcommands. Options in front of the subcommand other than the few listed, and
options that write a file or run a helper, take a command out of the set. Helpers that the repository's own settings
name are the user's: changing these settings is asked about in every mode. A repository inside the project, or a folder
that only looks like one, brings settings of its own, so Git must not run there.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from agentframework.permissions.argv import Arguments, Syntax, read_arguments, same_option
from agentframework.permissions.git_words import split_git
from agentframework.permissions.read_only.places import Place
from agentframework.permissions.shell.model import SimpleCommand, Word
from agentframework.sandbox import is_within

_LEADING = frozenset({
    "--no-pager", "-P", "--no-optional-locks", "--no-replace-objects", "--no-lazy-fetch", "--literal-pathspecs",
    "--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-advice",
})  # fmt: skip
_REFUSED = (
    "--output", "--output-directory", "--ext-diff", "--textconv", "--filters", "--open-files-in-pager", "--exec",
    "--show-signature", "--upload-pack", "--no-index", "--edit-description", "--contents", "--pathspec-from-file",
)  # fmt: skip
_EXPLORING = frozenset({
    "annotate", "blame", "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "cherry",
    "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree", "for-each-ref", "log", "ls-files",
    "ls-tree", "merge-base", "name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show", "show-branch",
    "show-ref", "status", "version", "whatchanged",
})  # fmt: skip
_ORDERED = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show", "whatchanged"})  # -O reads a file
_BRANCH = Syntax("", ("--contains", "--no-contains", "--points-at", "--sort", "--format", "--merged", "--no-merged"))
_BRANCH_OPTIONS = (
    "-a", "-r", "-v", "-vv", "-i", "-l", "--all", "--remotes", "--verbose", "--list", "--show-current", "--column",
    "--no-column", "--color", "--no-color", "--ignore-case", "--abbrev", "--no-abbrev", *_BRANCH.long,
)  # fmt: skip
_TAG_OPTIONS = ("-l", "-n", "-i", "--list", "--column", "--no-column", "--color", "--ignore-case", *_BRANCH.long)
_READING_CONFIG = frozenset({
    "--get", "--get-all", "--get-regexp", "--list", "-l", "--name-only", "--show-origin", "--show-scope", "--local",
    "--global", "--system", "--worktree", "-z", "--null", "--type", "--bool", "--int", "--path", "--default",
    "--all", "--regexp",
})  # fmt: skip


def git(command: SimpleCommand, place: Place) -> bool:
    """True for a call of git that only reads."""
    if not all(word.value is not None and not word.tilde for word in command.arguments):
        return False
    leading, subcommand, words = split_git(command.arguments)
    directory = _directory(leading, place)
    if directory is None or subcommand is None or not _is_own_repository(directory):
        return False
    name = subcommand.value or ""
    judge = _JUDGES.get(name)
    if judge is None and name not in _EXPLORING:
        return False
    found = read_arguments(words, Syntax())
    if name in _ORDERED and any(given == "-O" for given, _ in found.options):
        return False
    refused = any(same_option(given, one) for given, _ in found.options for one in _REFUSED if given.startswith("--"))
    if refused or not all(directory.may_be_value(word) for word in _values(words)):
        return False
    return judge is None or judge(words)


def _directory(leading: Sequence[Word], place: Place) -> Place | None:
    """Where git runs after its leading options; None if one of them is not harmless."""
    at = 0
    while at < len(leading):
        value = leading[at].value
        if value == "-C":
            if at + 1 >= len(leading) or not place.is_inside(leading[at + 1]):
                return None
            target = leading[at + 1].value or ""
            place = Place(
                place.around, tuple(place.around.forms_in_shell(target, one).real for one in place.directories)
            )
            at += 1
        elif value not in _LEADING:
            return None
        at += 1
    return place


def _values(words: Sequence[Word]) -> Iterator[Word]:
    """The words that may name files, and the values attached to long options."""
    for word in words:
        value = word.value or ""
        if value.startswith("--") and "=" in value:
            attached = value.partition("=")[2]
            yield Word(attached, attached)
        elif not value.startswith("-"):
            yield word


def _is_own_repository(place: Place) -> bool:
    """False if Git would obey the settings of a repository inside the project, or of a folder that looks like one."""
    roots = place.around.sandbox.roots
    for start in place.directories:
        there = place.around.forms(start).real
        while there not in roots and any(is_within(there, root) for root in roots):
            if os.path.lexists(os.path.join(there, ".git")) or _looks_bare(there):
                return False
            there = os.path.dirname(there)
        if not os.path.lexists(os.path.join(there, ".git")) and _looks_bare(there):
            return False
    return True


def _looks_bare(directory: str) -> bool:
    return all(os.path.lexists(os.path.join(directory, name)) for name in ("HEAD", "objects", "refs"))


def _branch(words: Sequence[Word]) -> bool:
    return _lists(words, _BRANCH_OPTIONS, ("-l", "--list", "--contains", "--merged", "--no-merged"))


def _tag(words: Sequence[Word]) -> bool:
    return _lists(words, _TAG_OPTIONS, ("-l", "--list", "--contains", "--merged", "--no-merged", "--points-at"))


def _lists(words: Sequence[Word], options: Sequence[str], listing: Sequence[str]) -> bool:
    """Without an operand, or with an option that says that the operands are patterns."""
    found = _letters_apart(words)
    if not all(given in options for given, _ in found.options):
        return False
    return not found.operands or any(given in listing for given, _ in found.options)


def _letters_apart(words: Sequence[Word]) -> Arguments:
    found = read_arguments(words, _BRANCH)
    # `-n5` of git tag has its operand attached
    found.options = [(given, word) for given, word in found.options if not given[1:].isdigit()]
    return found


def _remote(words: Sequence[Word]) -> bool:
    values = [word.value or "" for word in words]
    return values in ([], ["-v"], ["--verbose"]) or values[:1] == ["get-url"]


def _stash(words: Sequence[Word]) -> bool:
    return bool(words) and words[0].value in ("list", "show")


def _reflog(words: Sequence[Word]) -> bool:
    return not words or words[0].value not in ("expire", "delete", "drop", "write")


def _worktree(words: Sequence[Word]) -> bool:
    return bool(words) and words[0].value == "list"


def _notes(words: Sequence[Word]) -> bool:
    return not words or words[0].value in ("list", "show")


def _symbolic_ref(words: Sequence[Word]) -> bool:
    found = read_arguments(words, Syntax("m"))
    return len(found.operands) == 1 and all(given in ("-q", "--quiet", "--short") for given, _ in found.options)


def _grep(words: Sequence[Word]) -> bool:
    found = read_arguments(words, Syntax("ABCefm"))
    return not any(given == "-O" for given, _ in found.options)


def _config(words: Sequence[Word]) -> bool:
    """Showing settings; with no option, one name alone."""
    found = read_arguments(words, Syntax("", ("--type", "--default")))
    if not all(given in _READING_CONFIG for given, _ in found.options):
        return False
    if found.operands and found.operands[0].value in ("get", "list"):
        return True
    asks = found.has("--get", "--get-all", "--get-regexp", "--list", "-l")
    return asks or len(found.operands) == 1 and "." in (found.operands[0].value or "")


_JUDGES: Mapping[str, Callable[[Sequence[Word]], bool]] = {
    "branch": _branch,
    "config": _config,
    "grep": _grep,
    "notes": _notes,
    "reflog": _reflog,
    "remote": _remote,
    "stash": _stash,
    "symbolic-ref": _symbolic_ref,
    "tag": _tag,
    "worktree": _worktree,
}
