"""Which files a command writes, removes or gives another name, for programs that are known.

Operands and options come from the manuals of POSIX, coreutils, findutils, tar, curl and wget. A program that is
not listed is taken to write only what the usual output options name; the fence for all others is the operating
system's. A file that is known only at run time is a word without a value.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from agentframework.permissions.argv import Named, Syntax, part, read_arguments
from agentframework.permissions.git_words import split_git
from agentframework.permissions.scripts import files_of_awk, files_of_sed
from agentframework.permissions.shell.model import SimpleCommand, Word
from agentframework.permissions.writers import TARGET, WRITERS, Writer

_FARTHEST = 50
_LONGEST_BUNDLE = 100
HERE = Word(".", ".")


_NO_OUTPUT_OPTION = frozenset({
    "ack", "ag", "aws", "az", "bash", "cargo", "df", "docker", "du", "egrep", "fgrep", "find", "gcloud", "gh", "git",
    "grep", "helm", "ip", "kubectl", "ls", "lsblk", "mount", "pgrep", "ps", "rg", "sh", "ssh", "stat", "test", "[",
    "set", "shopt", "zgrep",
})  # fmt: skip  # what follows their -o or --output is no file
_OUTPUT = Syntax("oO", ("--output", "--output-document", "--output-file"))
_SED = Syntax("efl", ("--expression", "--file", "--line-length"), attached="i")
_PERL = Syntax("eEIMm", attached="iCdDF0lx")
_AWK = Syntax("fFivlE", ("--file", "--field-separator", "--include", "--assign", "--load", "--exec"))
_COPY = Syntax("tSgmo", (*TARGET, "--suffix", "--group", "--mode", "--owner"))
_GIT = Syntax("obBme", ("--output", "--output-directory", "--separate-git-dir", "--source", "--exclude", "--branch"))
_GIT_LOOKS = frozenset({
    "blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "rev-list", "rev-parse", "shortlog",
    "show", "status",
})  # fmt: skip
_TAR = Syntax("fCbTXKNVgHIFL", ("--file", "--directory", "--exclude", "--exclude-from", "--files-from", "--transform"))


def written_by(command: SimpleCommand) -> Iterator[Named]:
    """What the program itself writes; its redirections are not among it."""
    name = command.name
    if name is None:
        return
    if special := _SPECIAL.get(name):
        yield from special(command.arguments)
    elif writer := WRITERS.get(name):
        yield from _by_table(writer, command.arguments)
    elif name not in _NO_OUTPUT_OPTION:
        found = read_arguments(command.arguments, _OUTPUT)
        yield from map(Named, found.values("-o", "-O", "--output", "--output-document", "--output-file"))
        following = zip(command.arguments, command.arguments[1:], strict=False)
        yield from (Named(word) for before, word in following if before.value == "-out")


def _by_table(writer: Writer, words: Sequence[Word]) -> Iterator[Named]:
    found = read_arguments(words, writer.syntax)
    for word in found.values(*(f"-{letter}" for letter in writer.files), *writer.long_files):
        yield Named(word, writer.whole)
    if writer.here is not None and writer.here(found):
        yield Named(HERE)
    operands = found.operands
    match writer.operands:
        case "last":
            operands = [] if _is_remote(operands[-1:]) else operands[-1:]
        case "rest":
            operands = operands if found.has("--reference") else operands[1:]
        case "first":
            operands = operands[:1]
        case "second":
            operands = operands[1:2]
        case "none":
            operands = []
        case "all":
            pass
    for word in operands:
        if word.value != "-":
            yield Named(word, writer.whole)


def _is_remote(words: Sequence[Word]) -> bool:
    """``host:path`` of scp and rsync."""
    return any(":" in (word.value or "").partition("/")[0] for word in words)


def _copied(words: Sequence[Word]) -> Iterator[Named]:
    """cp and install: the last operand, or the directory of ``-t``; all, where links are made or directories."""
    found = read_arguments(words, _COPY)
    directories = found.values("-t", *TARGET)
    everything = found.has("-l", "--link", "-s", "--symbolic-link", "-d", "--directory")
    for word in directories or found.operands[-1:]:
        yield Named(word)
    if everything:
        yield from map(Named, found.operands)


def _linked(words: Sequence[Word]) -> Iterator[Named]:
    """ln: the link, and what it leads to, which can be written through it from then on."""
    found = read_arguments(words, _COPY)
    directories = found.values("-t", *TARGET)
    several = bool(directories) or len(found.operands) > 1
    links = directories or (found.operands[-1:] if several else [HERE])
    targets = found.operands if directories or not several else found.operands[:-1]
    yield from map(Named, links)
    symbolic = found.has("-s", "--symbolic") and not found.has("-r", "--relative")
    for target in targets:
        yield Named(_seen_from(target, links[-1], inside=bool(directories) or not several) if symbolic else target)


def _seen_from(target: Word, link: Word, *, inside: bool) -> Word:
    """A symbolic link is read from the directory it lies in."""
    if target.value is None or target.tilde or os.path.isabs(target.value):
        return target
    if link.value is None:
        return Word(None, target.text)
    directory = link.value if inside else os.path.dirname(link.value)
    return replace(target, value=os.path.join(directory, target.value), tilde=link.tilde)


def _edited_by_sed(words: Sequence[Word]) -> Iterator[Named]:
    found = read_arguments(words, _SED)
    if found.has("-i", "--in-place"):
        scripted = found.has("-e", "--expression", "-f", "--file")
        yield from map(Named, found.operands if scripted else found.operands[1:])
        yield from _backups(found.values("-i", "--in-place"))
    yield from map(Named, files_of_sed(words, "wW"))


def _backups(suffixes: Iterable[Word]) -> Iterator[Named]:
    """A suffix with a slash is a pattern for where the old content goes."""
    for word in suffixes:
        if word.value is None or "/" in word.value:
            yield Named(Word(word.value and os.path.dirname(word.value), word.text), whole=True)


def _edited_by_perl(words: Sequence[Word]) -> Iterator[Named]:
    found = read_arguments(words, _PERL)
    if found.has("-i"):
        yield from map(Named, found.operands if found.has("-e", "-E") else found.operands[1:])
        yield from _backups(found.values("-i"))


def _edited_by_awk(words: Sequence[Word]) -> Iterator[Named]:
    found = read_arguments(words, _AWK)
    if any(word.value == "inplace" for word in found.values("-i", "--include")):
        yield from map(Named, found.operands if found.has("-f", "--file") else found.operands[1:])
    yield from map(Named, files_of_awk(words, ">"))


def _edited_by_yq(words: Sequence[Word]) -> Iterator[Named]:
    found = read_arguments(words, Syntax("IopS", attached="s"))
    if found.has("-i", "--inplace", "--in-place"):
        yield from map(Named, found.operands[1:])


def _copied_by_dd(words: Sequence[Word]) -> Iterator[Named]:
    for word in words:
        if word.value is None or word.value.startswith("of="):
            yield Named(word if word.value is None else part(word, 3))


def _packed_by_tar(words: Sequence[Word]) -> Iterator[Named]:
    """tar: the archive where one is made, else the directory it is unpacked into."""
    if words and len(words[0].text) > _LONGEST_BUNDLE:
        yield Named(Word(None, words[0].text[:_LONGEST_BUNDLE]))
        return
    found = read_arguments(_with_dashes(words), _TAR)
    if found.has("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--delete", "--concatenate"):
        yield from (Named(word) for word in found.values("-f", "--file") if word.value != "-")
    elif found.has("-x", "--extract", "--get"):
        for word in found.values("-C", "--directory") or [HERE]:
            yield Named(word, whole=True)


def _with_dashes(words: Sequence[Word]) -> list[Word]:
    """``xfC a.tar dir`` as ``-x -f a.tar -C dir``: letters without a dash take their operands in order."""
    bundle = words[0].value if words else None
    if not bundle or bundle.startswith("-"):
        return list(words)
    rest = list(words[1:])
    found: list[Word] = []
    for letter in bundle:
        found.append(Word(f"-{letter}", bundle))
        if letter in _TAR.letters and rest:
            found.append(rest.pop(0))
    return found + rest


def _written_by_git(words: Sequence[Word]) -> Iterator[Named]:
    """git: what output options name, new working trees, and a folder elsewhere that is worked on."""
    leading, subcommand, rest = split_git(words)
    name = "" if subcommand is None else subcommand.value or ""
    found = read_arguments(rest, _GIT)
    yield from map(Named, found.values("--output", "--output-directory", "--separate-git-dir"))
    if name in ("archive", "format-patch"):
        yield from map(Named, found.values("-o"))
    if name in ("clone", "init"):
        yield from (Named(word, whole=True) for word in found.operands[1 if name == "clone" else 0 :][:1])
    elif (name, found.operands[:1] and found.operands[0].value) in (("worktree", "add"), ("bundle", "create")):
        yield from (Named(word, whole=True) for word in found.operands[1:2])
    elif name in ("rm", "mv"):
        yield from (Named(word, whole=True) for word in found.operands)
    elif name in ("restore", "clean"):
        yield from map(Named, found.operands)
    elif name == "checkout" and found.plain is not None:
        yield from map(Named, found.operands[found.plain :])
    if name and name not in _GIT_LOOKS:
        for before, word in zip(leading, leading[1:], strict=False):
            if before.value in ("-C", "--work-tree"):
                yield Named(word, whole=True)


def _written_by_find(words: Sequence[Word]) -> Iterator[Named]:
    """find: what ``-fprint`` and its like name, and all below its starting points with ``-delete``."""
    for before, word in zip(words, words[1:], strict=False):
        if before.value in ("-fls", "-fprint", "-fprint0", "-fprintf"):
            yield Named(word)
    if any(word.value == "-delete" for word in words):
        for word in starting_points(words):
            yield Named(word, whole=True)


def starting_points(words: Sequence[Word]) -> list[Word]:
    """Where find starts; ``.`` if nothing is named. A word that is not known may be one."""
    at = 0
    while at < len(words) and words[at].value in ("-H", "-L", "-P", "-D", "-O0", "-O1", "-O2", "-O3"):
        at += 2 if words[at].value == "-D" else 1
    found: list[Word] = []
    for word in words[at:]:
        if word.value is not None and (word.value.startswith("-") or word.value in ("(", ")", "!", ",")):
            break
        found.append(word)
    return found or [HERE]


_SPECIAL: dict[str, Callable[[Sequence[Word]], Iterator[Named]]] = {
    "cp": _copied, "install": _copied, "ln": _linked, "link": _linked,
    "sed": _edited_by_sed, "gsed": _edited_by_sed, "perl": _edited_by_perl, "ruby": _edited_by_perl,
    "awk": _edited_by_awk, "gawk": _edited_by_awk, "mawk": _edited_by_awk, "yq": _edited_by_yq,
    "dd": _copied_by_dd, "git": _written_by_git,
    "tar": _packed_by_tar, "bsdtar": _packed_by_tar, "find": _written_by_find,
}  # fmt: skip


def finder_of(commands: Sequence[SimpleCommand], number: int) -> SimpleCommand | None:
    """The find that runs the command at ``number``, if one does."""
    command = commands[number]
    if not command.via or command.via[-1] != "find":
        return None
    ahead = (commands[at] for at in range(number - 1, max(-1, number - _FARTHEST), -1))
    return next((one for one in ahead if one.name == "find" and one.via == command.via[:-1]), None)


def with_starting_points(commands: Sequence[SimpleCommand], number: int) -> SimpleCommand:
    """The command at ``number``, with the ``{}`` of a find that runs it replaced by where find starts.

    What find hands over lies below these places, unless links are followed.
    """
    command = commands[number]
    finding = finder_of(commands, number)
    if finding is None or any(word.value in ("-L", "-follow") for word in finding.arguments):
        return command
    argv: list[Word] = []
    for word in command.argv:
        argv.extend(starting_points(finding.arguments) if word.value is None and word.text == "{}" else [word])
    return replace(command, argv=tuple(argv), directories=finding.directories)
