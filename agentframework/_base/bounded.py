"""Text within a limit. Cutting is always visible and says how much is missing."""


def cut_middle(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters: head and tail, and between them how much was left out."""
    if len(text) <= limit:
        return text
    marker = f"\n\n[... {len(text)} characters in all, the middle is left out ...]\n\n"
    room = limit - len(marker)
    if room <= 0:
        return text[:limit]
    head = (room + 1) // 2
    return text[:head] + marker + text[len(text) - (room - head) :]


def cut_end(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, ending in a note of how much was left out."""
    if len(text) <= limit:
        return text
    marker = f" [... {len(text)} characters in all]"
    room = limit - len(marker)
    return text[:room] + marker if room > 0 else text[:limit]


def head_and_tail(text: str, limit: int = 80, tail: int = 30) -> str:
    """One-line form for a display: the beginning, ``...`` and the last ``tail`` characters."""
    if len(text) <= limit:
        return text
    return text[: limit - tail - 3] + "..." + text[-tail:]


def printable(text: str) -> str:
    """``text`` without lone surrogates, which no JSON API and no UTF-8 file accepts.

    Each becomes U+FFFD; everything else stays as it is.
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
