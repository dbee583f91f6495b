"""The prompt_toolkit application below the transcript: whole frames, and how it survives a resized window.

Nothing of ours is known here. Above: ``terminal``.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, cast

from prompt_toolkit.application import Application
from prompt_toolkit.layout.screen import Screen
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output


def row_width(screen: Screen, row: int) -> int:
    """Columns that a drawn row takes, without blanks at its end."""
    cells = screen.data_buffer[row]
    used = [column + max(1, cell.width) for column, cell in cells.items() if cell.char.strip()]
    return max(used, default=0)


def rows_above_cursor(screen: Screen, cursor_row: int, cursor_column: int, columns: int) -> int:
    """How many rows of a window ``columns`` wide lie above the cursor once it has broken the drawn lines anew."""
    above = sum(max(1, -(-row_width(screen, row) // columns)) for row in range(cursor_row))
    return above + cursor_column // columns


class FrameOutput(Vt100_Output):
    """Writes a frame at once: what is half drawn would be seen as flicker."""

    _held = False

    def hold(self) -> None:
        """Keep everything until `release`."""
        self._held = True

    def release(self) -> None:
        """Write what was kept."""
        self._held = False
        self.flush()

    def flush(self) -> None:
        """Write what there is, unless it is held."""
        if not self._held:
            super().flush()


def frame_output() -> FrameOutput:
    """The terminal on stdout. Where its cursor is, is never asked: what is drawn takes the rows it needs."""
    output = FrameOutput.from_pty(
        sys.stdout, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env()
    )
    output.enable_cpr = False
    return cast(FrameOutput, output)


class BelowTranscript(Application[int]):
    """An application that is drawn below what has been printed and erased at the end.

    ``print_above`` is called before each frame to print what has to stand above it; it must erase what is drawn
    first. Terminals and tmux break long lines anew when the window becomes narrower; what was drawn then takes more
    rows than the renderer remembers, and its upper part would stay behind as rubbish.
    """

    def __init__(self, *, print_above: Callable[[], None], **options: Any) -> None:
        output = frame_output()
        super().__init__(output=output, full_screen=False, erase_when_done=True, **options)

        def begin(_app: Application[Any]) -> None:
            output.hold()
            print_above()

        self.before_render += begin
        self.after_render += lambda _app: output.release()

    def _on_resize(self) -> None:
        screen = self.renderer.last_rendered_screen
        if screen is not None:
            cursor = screen.get_cursor_position(self.layout.current_window)
            columns = max(1, self.output.get_size().columns)
            extra = rows_above_cursor(screen, cursor.y, cursor.x, columns) - cursor.y
            if extra > 0:
                self.output.cursor_up(extra)
        super()._on_resize()
