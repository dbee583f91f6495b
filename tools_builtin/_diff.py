"""What a change of a file looks like, for display: bounded in lines and in effort."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from agentframework._base.bounded import cut_end, printable
from agentframework.events import Diff, DiffLine

CONTEXT_LINES = 3
MAX_LINES = 400
MAX_LINE_CHARACTERS = 500
# Beyond this the changed region is shown as one block: matching lines takes up to the square of their number.
_MAX_COMPARED = 4_000

_Opcode = tuple[str, int, int, int, int]


def diff_of(path: str, old: str, new: str) -> Diff:
    """The lines that differ, with `CONTEXT_LINES` around them; of more than `MAX_LINES` only the first."""
    start = _first_difference(old, new)
    old_end, new_end = _last_difference(old, new, start)
    before = _lines(old[_back(old, start) : start])
    after = _lines(old[old_end : _ahead(old, old_end)])
    codes = list(_codes(_lines(old[start:old_end]), _lines(new[start:new_end]), len(before), len(after)))
    old_lines = before + _lines(old[start:old_end]) + after
    new_lines = before + _lines(new[start:new_end]) + after
    number = old.count("\n", 0, start) - len(before) + 1
    shown: list[DiffLine] = []
    dropped = 0
    for group in _grouped(codes):
        for line in _hunk(group, old_lines, new_lines, number):
            if len(shown) < MAX_LINES:
                shown.append(line)
            else:
                dropped += 1
    if dropped:
        shown.append(DiffLine("hunk", f"{dropped} more lines of the diff are not shown", shown[-1].line))
    return Diff(path, tuple(shown))


def _first_difference(old: str, new: str) -> int:
    """Where the first line that differs begins, in both."""
    return old.rfind("\n", 0, _common_prefix(old, new)) + 1


def _last_difference(old: str, new: str, start: int) -> tuple[int, int]:
    """Where the last line that differs ends, in each."""
    same = _common_suffix(old, new, min(len(old), len(new)) - start)
    ends = len(old) - same, len(new) - same
    if all(end == start or text[end - 1] == "\n" for text, end in zip((old, new), ends, strict=True)):
        return ends
    line_end = old.find("\n", ends[0]) + 1
    if not line_end:
        return len(old), len(new)
    return line_end, len(new) - (len(old) - line_end)


def _back(text: str, at: int) -> int:
    """`CONTEXT_LINES` lines before the beginning of a line."""
    for _ in range(CONTEXT_LINES):
        at = text.rfind("\n", 0, max(0, at - 1)) + 1
    return at


def _ahead(text: str, at: int) -> int:
    for _ in range(CONTEXT_LINES):
        at = text.find("\n", at) + 1 or len(text)
    return at


def _common_prefix(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(a: str, b: str, limit: int) -> int:
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _codes(old: Sequence[str], new: Sequence[str], before: int, after: int) -> Iterator[_Opcode]:
    """How to get from old to new, in the lines that differ and those ``before`` and ``after``."""
    if not old and not new:
        return
    if before:
        yield "equal", 0, before, 0, before
    if len(old) + len(new) > _MAX_COMPARED:
        yield "replace", before, before + len(old), before, before + len(new)
    else:
        for kind, a, b, c, d in SequenceMatcher(None, old, new).get_opcodes():
            yield kind, before + a, before + b, before + c, before + d
    if after:
        a, c = before + len(old), before + len(new)
        yield "equal", a, a + after, c, c + after


def _grouped(codes: Sequence[_Opcode]) -> Iterator[list[_Opcode]]:
    """Hunks: what is equal and longer than its context on both sides divides them."""
    group: list[_Opcode] = []
    for kind, a, b, c, d in codes:
        if kind == "equal" and b - a > 2 * CONTEXT_LINES:
            yield [*group, (kind, a, a + CONTEXT_LINES, c, c + CONTEXT_LINES)]
            group = [(kind, b - CONTEXT_LINES, b, d - CONTEXT_LINES, d)]
        else:
            group.append((kind, a, b, c, d))
    if group:
        yield group


def _hunk(group: list[_Opcode], before: Sequence[str], after: Sequence[str], number: int) -> Iterator[DiffLine]:
    _, old_start, _, new_start, _ = group[0]
    old_end, new_end = group[-1][2], group[-1][4]
    heading = f"@@ -{number + old_start},{old_end - old_start} +{number + new_start},{new_end - new_start} @@"
    yield DiffLine("hunk", heading, number + new_start)
    for kind, a, b, c, d in group:
        if kind == "equal":
            for index in range(c, d):
                yield from _line("context", after[index], number + index)
            continue
        for index in range(a, b):
            yield from _line("remove", before[index], number + index)
        for index in range(c, d):
            yield from _line("add", after[index], number + index)


def _line(kind: str, text: str, number: int) -> Iterator[DiffLine]:
    shown = cut_end(printable(text.removesuffix("\n").removesuffix("\r")), MAX_LINE_CHARACTERS)
    if kind == "remove":
        yield DiffLine("remove", shown, number)
    elif kind == "add":
        yield DiffLine("add", shown, number)
    else:
        yield DiffLine("context", shown, number)
    if not text.endswith("\n"):
        yield DiffLine("context", "\\ No newline at end of file", number)
