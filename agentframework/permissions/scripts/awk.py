"""Programs of awk that only print to standard output, told by their tokens (POSIX awk, gawk).

Output to a file is `>` behind `print`, to a program `|`; `getline` and `system` read and run. Where a slash may be
a division or the start of a pattern, the program is not understood and taken to do more.
"""

import re

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\\n|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.|\\\n)*")|(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)
    |(?P<name>[A-Za-z_]\w*)|(?P<operator>>>|>=|<=|==|!=|&&|\|\||\+\+|--|\*\*|[-+*%^<>!~?:,=()\[\]{}$;\n&.])""",
    re.VERBOSE | re.DOTALL,
)
_PATTERN = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?(?:[^\]\\\n]|\\[^\n])*\])*/")
# They run, read, or change what is read.
_UNSAFE_NAMES = frozenset({"getline", "system", "ARGV", "ARGC", "SYMTAB", "PROCINFO"})
_KEYWORDS = frozenset({
    "BEGIN", "END", "if", "else", "while", "for", "do", "in", "print", "printf", "return", "delete", "exit", "next",
    "nextfile", "function", "func", "switch", "case", "default", "break", "continue", "length",
})  # fmt: skip
_BEFORE_PATTERN = frozenset({"", "{", "}", ";", "\n", "(", ",", "!", "~", "&&", "||"})
_ENDS_STATEMENT = frozenset({"{", "}", ";", "\n"})


def awk_only_prints(program: str) -> bool:
    """True if every token of ``program`` is understood and it opens no file and runs nothing."""
    at = 0
    before = ""  # the token before, blanks aside; "0" for a value
    printing = False
    while at < len(program):
        if program[at] == "/":
            end = _after_slash(program, at, before)
            if end is None:
                return False
            at, before = end, "/" if end == at + 1 else "0"
            continue
        match = _TOKEN.match(program, at)
        if match is None:
            return False
        at, text = match.end(), match[0]
        if match["blank"]:
            continue
        if match["name"]:
            if text in _UNSAFE_NAMES:
                return False
            printing = printing or text in ("print", "printf")
            before = text if text in _KEYWORDS else "0"
        elif match["operator"]:
            if text in _ENDS_STATEMENT:
                printing = False
            if text == ">>" or (text == ">" and printing):
                return False
            before = text
        else:
            before = "0"
    return True


def _after_slash(program: str, at: int, before: str) -> int | None:
    """The place behind a division sign or a pattern; None if it is not clear which of them it is."""
    if before in ("0", "]", "$"):
        return at + 1
    if before not in _BEFORE_PATTERN:
        return None
    match = _PATTERN.match(program, at)
    return None if match is None else match.end()
