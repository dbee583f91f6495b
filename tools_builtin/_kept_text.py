"""Text of any length in bounded memory: its beginning and its end, and how much lies between.

Above is the shell tool, below nothing. The middle is counted and dropped while it streams by, so that 300 MB of
output cost no more than 30,000 characters do.
"""

from collections import deque

HEAD_CHARACTERS = 15_000
TAIL_CHARACTERS = 15_000
# Room for the note below with any counts that can occur.
_NOTE_ROOM = 100


class KeptText:
    """The first ``head`` and the last ``tail`` characters added; ``total`` counts all of them."""

    __slots__ = ("_head", "_head_room", "_lines", "_tail", "_tail_limit", "_tail_size", "total")

    def __init__(self, head: int = HEAD_CHARACTERS, tail: int = TAIL_CHARACTERS) -> None:
        self._head: list[str] = []
        self._head_room = head
        self._tail: deque[str] = deque()
        self._tail_limit = tail
        self._tail_size = 0
        self._lines = 0
        self.total = 0

    def add(self, text: str) -> None:
        """Append ``text``."""
        self.total += len(text)
        self._lines += text.count("\n")
        if self._head_room:
            self._head.append(text[: self._head_room])
            text = text[self._head_room :]
            self._head_room -= len(self._head[-1])
        if not text:
            return
        text = text[-self._tail_limit :]
        self._tail.append(text)
        self._tail_size += len(text)
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    def render(self, limit: int) -> str:
        """All of it if it is short enough, else head and tail around a note of what is left out.

        At most ``limit`` characters, which must not be fewer than the note needs (100).
        """
        head = "".join(self._head)
        tail = "".join(self._tail)[-self._tail_limit :]
        if self.total <= limit and len(head) + len(tail) == self.total:
            return head + tail
        room = limit - _NOTE_ROOM
        head = head[: (room + 1) // 2]
        tail = tail[max(0, len(tail) - room // 2) :]
        characters = self.total - len(head) - len(tail)
        lines = self._lines - head.count("\n") - tail.count("\n")
        return f"{head}\n\n[... {characters:,} characters ({lines:,} lines) left out ...]\n\n{tail}"
