"""What the keys do. Above: ``terminal``, which offers the actions. Below: prompt_toolkit."""

from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.utils import suspend_to_background_supported

KEYS = """\
Keys:
  Enter            send; while a turn runs, queue
  Esc Enter        new line, as Alt-Enter; or end the line with \\
  Tab              complete a /command or an @file
  Up, Down         what was typed before
  Ctrl-C           stop the turn; twice leaves
  Ctrl-D           leave
  Ctrl-O           show the last thoughts
  Ctrl-L           clear the screen"""


class Actions(Protocol):
    """What keys may set off."""

    def entered(self, buffer: Buffer) -> None: ...
    def interrupted(self, buffer: Buffer) -> None: ...
    def ended(self) -> None: ...
    def cancelled(self) -> None: ...
    def unfold(self) -> None: ...
    def pressed(self, name: str) -> None: ...


def line_keys(actions: Actions, buffer: Buffer, answering: Condition) -> KeyBindings:
    """Keys that hold everywhere, and those of the input line. ``answering``: the line is an answer to a panel."""
    bindings = KeyBindings()
    bind = bindings.add
    in_line = Condition(lambda: buffer.complete_state is None or buffer.complete_state.current_completion is None)

    @bind("c-c")
    @bind(Keys.SIGINT)
    def _interrupt(_event: KeyPressEvent) -> None:
        actions.interrupted(buffer)

    @bind("c-d", filter=Condition(lambda: not buffer.text))
    def _end(_event: KeyPressEvent) -> None:
        actions.ended()

    @bind("c-o")
    def _unfold(_event: KeyPressEvent) -> None:
        actions.unfold()

    @bind("c-z", filter=Condition(suspend_to_background_supported))
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @bind("enter", filter=in_line)
    def _enter(_event: KeyPressEvent) -> None:
        actions.entered(buffer)

    @bind("enter", filter=~in_line)
    def _accept(_event: KeyPressEvent) -> None:
        buffer.complete_state = None
        # A whole command needs no second Enter.
        if buffer.text.startswith("/"):
            actions.entered(buffer)

    @bind("escape", "enter", filter=~answering)
    def _new_line(_event: KeyPressEvent) -> None:
        buffer.newline(copy_margin=False)

    @bind("escape", filter=answering, eager=True)
    def _cancel(_event: KeyPressEvent) -> None:
        actions.cancelled()

    return bindings


def panel_keys(actions: Actions) -> KeyBindings:
    """Keys of a question that is answered by one. Everything else typed there is dropped."""
    bindings = KeyBindings()
    for name in ("y", "n", "a", "p", "e", "up", "down", "enter"):

        @bindings.add(name)
        def _press(_event: KeyPressEvent, name: str = name) -> None:
            actions.pressed(name)

    for upper in "YNAPE":

        @bindings.add(upper)
        def _press_upper(_event: KeyPressEvent, name: str = upper.lower()) -> None:
            actions.pressed(name)

    @bindings.add("escape", eager=True)
    def _cancel(_event: KeyPressEvent) -> None:
        actions.cancelled()

    @bindings.add(Keys.Any)
    @bindings.add(Keys.BracketedPaste)
    def _drop(_event: KeyPressEvent) -> None:
        """Nothing."""

    return bindings
