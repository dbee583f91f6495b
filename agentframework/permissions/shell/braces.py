"""Brace expansion as bash does it: `a{b,c}d`, `{1..3}`, `{a..e..2}`, nested."""

from __future__ import annotations

import re

from agentframework.permissions.shell.tokens import Part

_SEQUENCE = re.compile(r"(?:(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})|([A-Za-z])\.\.([A-Za-z]))(?:\.\.(-?[0-9]{1,9}))?")
_MAX_WORDS = 64
_MAX_BRACES = 20

_Unit = str | Part  # an unquoted character, or a part that stays whole


def expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]] | None:
    """The words that `parts` becomes; None when there are too many to be listed."""
    unquoted = "".join(part.text for part in parts if part.kind == "literal" and not part.quoted)
    if "{" not in unquoted or "}" not in unquoted:
        return [parts]
    if unquoted.count("{") > _MAX_BRACES:
        return None
    units: list[_Unit] = []
    for part in parts:
        if part.kind == "literal" and not part.quoted:
            units.extend(part.text)
        else:
            units.append(part)
    words = _expand(units)
    return None if words is None else [_parts(word) for word in words]


def _expand(units: list[_Unit]) -> list[list[_Unit]] | None:
    """Expand left to right; a list of prefixes grows by each brace group that is met."""
    found: list[list[_Unit]] = [[]]
    pos = 0
    while pos < len(units):
        group = _group(units, pos) if units[pos] == "{" else None
        if group is None:
            for prefix in found:
                prefix.append(units[pos])
            pos += 1
            continue
        end, members = group
        choices: list[list[_Unit]] = []
        for member in members:
            expanded = _expand(member)
            if expanded is None:
                return None
            choices.extend(expanded)
        if len(found) * len(choices) > _MAX_WORDS:
            return None
        found = [prefix + choice for prefix in found for choice in choices]
        pos = end + 1
    return found


def _group(units: list[_Unit], start: int) -> tuple[int, list[list[_Unit]]] | None:
    """The brace group that opens at `start`: where it closes, and its members. None when it is not one."""
    depth = 0
    last = start + 1
    members: list[list[_Unit]] = []
    for pos in range(start, len(units)):
        unit = units[pos]
        if unit == "{":
            depth += 1
        elif unit == "," and depth == 1:
            members.append(units[last:pos])
            last = pos + 1
        elif unit == "}":
            depth -= 1
            if not depth:
                if members:
                    return pos, [*members, units[last:pos]]
                sequence = _sequence(units[start + 1 : pos])
                return None if sequence is None else (pos, sequence)
    return None


def _sequence(units: list[_Unit]) -> list[list[_Unit]] | None:
    if not all(isinstance(unit, str) for unit in units):
        return None
    found = _SEQUENCE.fullmatch("".join(str(unit) for unit in units))
    if found is None:
        return None
    letters = found[3] is not None
    first, last = (ord(found[3]), ord(found[4])) if letters else (int(found[1]), int(found[2]))
    step = abs(int(found[5] or 1)) or 1
    count = abs(last - first) // step + 1
    if count > _MAX_WORDS:
        count = _MAX_WORDS + 1  # enough for the caller to see that there are too many
    numbers = [first + (step if last >= first else -step) * index for index in range(count)]
    if letters:
        return [[chr(number)] for number in numbers]
    padded = any(re.fullmatch(r"-?0[0-9]+", bound) for bound in (found[1], found[2]))
    width = max(len(found[1]), len(found[2])) if padded else 0
    return [list(f"{number:0{width}d}") for number in numbers]


def _parts(units: list[_Unit]) -> tuple[Part, ...]:
    parts: list[Part] = []
    text: list[str] = []
    for unit in units:
        if isinstance(unit, str):
            text.append(unit)
            continue
        if text:
            parts.append(Part("literal", "".join(text)))
            text = []
        parts.append(unit)
    if text:
        parts.append(Part("literal", "".join(text)))
    return tuple(parts)
