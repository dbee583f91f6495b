"""Results that are too large for a model: cut to size, and kept whole in a file that says where it is."""

import os
import tempfile
from pathlib import Path

from agentframework.tools.result import ToolResult

_HEAD_SHARE = 0.8
MAX_SPILLED_BYTES = 64 * 1024 * 1024


class Spill:
    """Files for whole results, in ``directory`` or a private one that `close` removes."""

    def __init__(self, directory: str | Path | None, max_bytes: int) -> None:
        self._directory = None if directory is None else Path(directory)
        self._max_bytes = max_bytes
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0

    def bounded(self, result: ToolResult, name: str) -> ToolResult:
        """``result`` with at most the limit of text; the whole text is in a file if it had to be cut."""
        size = len(result.content.encode("utf-8", "replace"))
        if size <= self._max_bytes:
            return result
        text = result.content
        try:
            kept = f"The whole result is in {self._keep(text, name)}; read it piece by piece or search it."
        except OSError as error:
            kept = f"It could not be kept ({error.strerror or error}); ask the tool for less at a time."
        note = f"\n\n[... {size} bytes in all, the middle is left out. {kept} ...]\n\n"
        room = max(self._max_bytes - len(note.encode()), 0)
        head = _within(text, int(room * _HEAD_SHARE))
        tail = _within(text[::-1], room - len(head.encode("utf-8", "replace")))[::-1]
        return ToolResult(head + note + tail, result.is_error, result.content_blocks, None)

    def _keep(self, text: str, name: str) -> Path:
        if self._directory is None and self._own is None:
            self._own = tempfile.TemporaryDirectory(prefix="agentframework-mcp-", ignore_cleanup_errors=True)
        folder = self._directory if self._own is None else Path(self._own.name)
        assert folder is not None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._count += 1
        path = folder / f"{name}-{os.getpid()}-{self._count}.txt"
        data = text.encode("utf-8", "replace")[:MAX_SPILLED_BYTES]
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        return path

    def close(self) -> None:
        """Remove the private directory. Files in one that was given stay."""
        if self._own is not None:
            self._own.cleanup()
            self._own = None


def _within(text: str, max_bytes: int) -> str:
    """The beginning of ``text`` in at most ``max_bytes`` bytes of UTF-8."""
    return text[:max_bytes].encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
