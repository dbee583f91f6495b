"""A terminal for tests: a process on a pseudo terminal, and what a person would see on the screen.

The reader understands what prompt_toolkit and rich write, no more. A narrower window breaks lines anew, as tmux and
most terminals do.
"""

import asyncio
import codecs
import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wcwidth import wcwidth

from agentframework.messages import AssistantMessage, AssistantPart, TextPart, ThinkingPart, ToolCall, Usage
from agentframework.providers.recording_format import reply_to_json

WAIT_S = 20
_ESCAPE = re.compile(r"\x1b(?:\[([?>]?)([0-9;]*)([ ]?[@-~])|[()].|[=>78M])")
_UNFINISHED = re.compile(r"\x1b(?:\[[?>]?[0-9;]*)?$|\x1b[()]$")


class ScreenReader:
    """Rows of cells. A wide character takes its cell and an empty one behind it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.history: list[str] = []
        self.escapes: set[str] = set()
        self._cells: list[list[str]] = [[]]
        self._row = self._column = 0
        self._wraps = True
        self._rest = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def feed(self, data: bytes) -> None:
        text = self._rest + self._decode(data)
        held = _UNFINISHED.search(text)
        self._rest = text[held.start() :] if held else ""
        text = text[: held.start()] if held else text
        place = 0
        while place < len(text):
            if match := _ESCAPE.match(text, place):
                self._escape(match)
                place = match.end()
                continue
            self._character(text[place])
            place += 1

    def _character(self, letter: str) -> None:
        if letter == "\r":
            self._column = 0
        elif letter == "\n":
            self._down()
        elif letter == "\b":
            self._column = max(0, self._column - 1)
        elif letter >= " ":
            self._put(letter)

    def _put(self, letter: str) -> None:
        width = max(0, wcwidth(letter))
        if self._column + width > self.columns:
            if not self._wraps:
                return
            self._column = 0
            self._down()
        row = self._cells[self._row]
        row.extend(" " * (self._column + width - len(row)))
        if width == 0 and self._column:
            row[self._column - 1] += letter
            return
        row[self._column : self._column + width] = [letter, *[""] * (width - 1)]
        self._column += width

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._cells):
            self._cells.append([])
        self._scroll()

    def _scroll(self) -> None:
        while len(self._cells) > self.rows:
            self.history.append("".join(self._cells.pop(0)).rstrip())
            self._row -= 1

    def _escape(self, match: re.Match[str]) -> None:
        self.escapes.add(match[0])
        mark, numbers, command = match[1], match[2], match[3]
        count = int(numbers.split(";")[0] or 0) if numbers else 0
        if mark == "?" and count == 7:
            self._wraps = command == "h"
        elif command == "A":
            self._row = max(0, self._row - max(1, count))
        elif command == "B":
            self._row = min(len(self._cells) - 1, self._row + max(1, count))
        elif command == "C":
            self._column = min(self.columns - 1, self._column + max(1, count))
        elif command == "D":
            self._column = max(0, min(self._column, self.columns - 1) - max(1, count))
        elif command == "H":
            self._row = self._column = 0
        elif command == "K":
            del self._cells[self._row][self._column :]
        elif command == "J":
            del self._cells[self._row][0 if count == 2 else self._column :]
            del self._cells[self._row + 1 :]

    def resize(self, columns: int, rows: int) -> None:
        """Break every row anew; the cursor stays with its letter."""
        broken: list[list[str]] = []
        here = 0
        for number, row in enumerate(self._cells):
            while row and not row[-1].strip():
                row.pop()
            if number == self._row:
                here = len(broken) + self._column // columns
            broken += [row[at : at + columns] for at in range(0, max(1, len(row)), columns)]
        self._cells, self._row, self._column = broken, here, self._column % columns
        self._cells += [[] for _ in range(self._row + 1 - len(self._cells))]
        self.columns, self.rows = columns, rows
        self._scroll()

    @property
    def lines(self) -> list[str]:
        """What is seen, without blanks at the ends of lines and blank lines at the end."""
        shown = ["".join(row).rstrip() for row in self._cells]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    @property
    def text(self) -> str:
        """Everything since the beginning, also what has scrolled away."""
        return "\n".join([*self.history, *self.lines])


class Terminal:
    """``agentframework`` with ``arguments`` on a terminal of its own."""

    def __init__(
        self, arguments: Sequence[str], cwd: Path, *, columns: int = 80, rows: int = 24, **environment: str
    ) -> None:
        self.screen = ScreenReader(columns, rows)
        self.raw = b""
        self._ended = False
        self._changed = asyncio.Event()
        master, slave = os.openpty()
        self._master = master
        self._set_size(columns, rows)
        variables = {"PATH": os.environ["PATH"], "HOME": str(cwd), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agentframework", *arguments],
            cwd=cwd, env={**variables, **environment}, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        os.set_blocking(master, False)
        asyncio.get_running_loop().add_reader(master, self._readable)

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _readable(self) -> None:
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other side is closed
            data = b""
        if not data:
            self._ended = True
            asyncio.get_running_loop().remove_reader(self._master)
        self.raw += data
        self.screen.feed(data)
        self._changed.set()

    async def until(self, condition: Callable[[ScreenReader], object]) -> None:
        """Wait until the screen fulfils ``condition``; a failure shows the screen."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not condition(self.screen):
                    assert not self._ended, f"the command has ended:\n{self.screen.text}"
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"the screen never came to that:\n{self.screen.text}") from None

    async def shows(self, *texts: str) -> None:
        """Wait until all ``texts`` stand on the screen."""
        await self.until(lambda screen: all(text in "\n".join(screen.lines) for text in texts))

    async def idle(self) -> None:
        """Wait until a prompt may be typed and nothing runs."""
        await self.until(lambda screen: ">" in screen.lines[-2:-1] and "Ctrl-C stops" not in "\n".join(screen.lines))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def resize(self, columns: int, rows: int) -> None:
        self._set_size(columns, rows)
        self.screen.resize(columns, rows)
        self.process.send_signal(signal.SIGWINCH)

    async def exit_code(self) -> int:
        """Wait for the end."""
        async with asyncio.timeout(WAIT_S):
            return await asyncio.to_thread(self.process.wait)

    async def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._master)
        if self.process.poll() is None:
            self.process.kill()
            await self.exit_code()
        os.close(self._master)


class Recording:
    """Writes what a model says, for ``--provider replay:PATH``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[dict[str, Any]] = []

    @property
    def option(self) -> str:
        """The value for ``--provider``."""
        self._path.write_text("".join(json.dumps(line) + "\n" for line in self._lines), encoding="utf-8")
        return f"replay:{self._path}"

    def answer(
        self, text: str = "", *calls: tuple[str, dict[str, Any]], thinking: str = "", holds: bool = False
    ) -> "Recording":
        """The next reply; one that ``holds`` waits after its text until it is interrupted."""
        content: list[AssistantPart] = [ThinkingPart(thinking)] if thinking else []
        chunks: list[dict[str, Any]] = [{"thinking": thinking}] if thinking else []
        if text:
            content.append(TextPart(text))
            chunks += [{"text": piece} for piece in re.findall(r"\S+\s*|\s+", text)]
        for number, (name, arguments) in enumerate(calls):
            encoded = json.dumps(arguments)
            made = ToolCall(f"c{len(self._lines)}-{number}", name, arguments, encoded)
            content.append(made)
            chunks.append({"tool_call": {"id": made.id, "name": name, "partial_json": encoded}})
        record: dict[str, Any] = {"event": "model_exchange", "request": {"model": "recorded", "last": {}}}
        if holds:
            record["chunks"] = [*chunks, {"hold": "interrupt"}]
        else:
            reason = "tool_use" if calls else "end_turn"
            message = AssistantMessage(tuple(content), "recorded", "replay", reason, Usage(1_000, 50))
            record |= {"chunks": chunks, "reply": reply_to_json(message)}
        self._lines.append(record)
        return self
