"""What scripts of sed and awk run, read and write besides the files they are given.

Loosely found, for restrictions only: whatever looks like a file or a command counts as one. Scripts that only print,
by a strict reading, are left alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from agentframework.permissions.argv import Syntax, read_arguments
from agentframework.permissions.scripts.awk import awk_only_prints
from agentframework.permissions.scripts.sed import sed_only_prints
from agentframework.permissions.shell.model import Word

_SED = Syntax("efl", ("--expression", "--file", "--line-length"), attached="i")
_AWK = Syntax("fFivlE", ("--file", "--field-separator", "--include", "--assign", "--load", "--exec"))
_SED_FILE = re.compile(r"(?P<letter>[wWrR])[ \t]*(?P<file>[^\s;}][^\n;}]*)")
_SED_RUN = re.compile(r"(?:^|[\n;{}/$!,0-9])[ \t]*e(?:[ \t]+(?P<code>[^\n]+)|[ \t]*(?:$|[;}\n]))")
_SED_RUN_FLAG = re.compile(
    r"s(?P<mark>[^\w\s\\])(?:\\.|(?!(?P=mark)).)*(?P=mark)(?:\\.|(?!(?P=mark)).)*(?P=mark)[gpiImM0-9]*e", re.DOTALL
)
_LONGEST = 4_000
_TOO_LONG = Word(None, "a script that is too long to be read")
_STRING = r'"(?P<text>(?:[^"\\]|\\.)*)"'
_AWK_RUN = re.compile(rf"system[ \t]*\([ \t]*{_STRING}[ \t]*\)|\|&?[ \t]*{_STRING.replace('text', 'after')}")
_AWK_RUN_BEFORE = re.compile(rf"{_STRING}[ \t]*\|&?[ \t]*getline")
_AWK_ANY_RUN = re.compile(r"system[ \t]*\(|(?<!\|)\|(?!\|)")
_AWK_FILE = re.compile(rf"(?P<mark>>>?|<)[ \t]*{_STRING}")
_AWK_ANY_FILE = re.compile(r"print[^;}\n]*>[ \t]*(?P<what>[^\s\"=;}][^;}\n]*)")


def sed_scripts(words: Sequence[Word]) -> list[Word]:
    """The scripts among the arguments of sed."""
    found = read_arguments(words, _SED)
    given = found.values("-e", "--expression")
    return given if given or found.has("-f", "--file") else found.operands[:1]


def awk_scripts(words: Sequence[Word]) -> list[Word]:
    """The program among the arguments of awk."""
    found = read_arguments(words, _AWK)
    return [] if found.has("-f", "--file", "-E", "--exec") else found.operands[:1]


def _texts(scripts: Sequence[Word], only_prints: Callable[[str], bool]) -> Iterator[str | None]:
    """The scripts that may do more than print; None in place of one that is too long to be read."""
    for script in scripts:
        if script.value is not None and not only_prints(script.value):
            yield script.value if len(script.value) <= _LONGEST else None


def run_by_sed(words: Sequence[Word]) -> Iterator[Word]:
    """The command lines that scripts of sed run."""
    for text in _texts(sed_scripts(words), sed_only_prints):
        if text is None:
            yield _TOO_LONG
            continue
        for match in _SED_RUN.finditer(text):
            yield _known(match["code"]) if match["code"] else Word(None, "what its script makes of the input")
        if _SED_RUN_FLAG.search(text):
            yield Word(None, "what its script makes of the input")


def run_by_awk(words: Sequence[Word]) -> Iterator[Word]:
    """The command lines that a program of awk runs."""
    for text in _texts(awk_scripts(words), awk_only_prints):
        if text is None:
            yield _TOO_LONG
            continue
        found = [match["text"] or match["after"] or "" for match in _AWK_RUN.finditer(text)]
        found += [match["text"] for match in _AWK_RUN_BEFORE.finditer(text)]
        yield from (_known(_unescaped(code)) for code in found)
        if len(_AWK_ANY_RUN.findall(text)) > len(found):
            yield Word(None, "what its program puts together")


def files_of_sed(words: Sequence[Word], letters: str) -> Iterator[Word]:
    """The files that scripts of sed read (``rR``) or write (``wW``)."""
    for text in _texts(sed_scripts(words), sed_only_prints):
        if text is None:
            yield _TOO_LONG
            continue
        named = (match for match in _SED_FILE.finditer(text) if match["letter"] in letters)
        yield from (_known(match["file"].strip()) for match in named)


def files_of_awk(words: Sequence[Word], mark: str) -> Iterator[Word]:
    """The files that a program of awk reads (``<``) or writes (``>``)."""
    for text in _texts(awk_scripts(words), awk_only_prints):
        if text is None:
            yield _TOO_LONG
            continue
        named = (match for match in _AWK_FILE.finditer(text) if match["mark"].startswith(mark))
        yield from (_known(_unescaped(match["text"])) for match in named)
        if mark == ">":
            yield from (Word(None, match["what"]) for match in _AWK_ANY_FILE.finditer(text))


def _known(text: str) -> Word:
    return Word(text, text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
