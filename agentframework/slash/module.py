"""The shapes: a command, a module of commands, and what running one gives.

Frozen data. Finding a command is the registry's business, running it the executor's.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentframework.errors import ConfigurationError
from agentframework.slash.host import CommandHost, CommandInfo

COMMAND_NAME = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,63}")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command has to say.

    ``message`` is for people (several lines, no markup), ``data`` the same for programs. ``ui_intents`` name what
    the surface should do about it; the session emits each as a ``ui_intent`` event.
    """

    message: str
    success: bool = True
    data: Mapping[str, Any] | None = None
    ui_intents: tuple[str, ...] = ()


Run = Callable[[CommandHost, str], Awaitable[CommandResult]]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: ``await run(host, args)`` with everything that was typed behind its name.

    ``read_only`` says whether it leaves the session as it is, so that it may run beside a turn; a function decides
    by the arguments. ``subcommands`` are words that may come first, for completion. Raises `ConfigurationError` for
    a name that is not 1 to 64 of a-z 0-9 _ . : - (beginning with a letter or digit).
    """

    name: str
    description: str
    run: Run
    argument_hint: str | None = None
    subcommands: tuple[str, ...] = ()
    read_only: bool | Callable[[str], bool] = False

    def __post_init__(self) -> None:
        if not COMMAND_NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"command name {self.name!r} is not 1 to 64 of a-z 0-9 _ . : - that begin with a letter or digit",
                details={"field": "name"},
            )

    def leaves_session_alone(self, args: str) -> bool:
        """True if running it with ``args`` changes nothing."""
        return self.read_only(args) if callable(self.read_only) else self.read_only

    @property
    def info(self) -> CommandInfo:
        """What others are told about it."""
        return CommandInfo(self.name, self.description, self.argument_hint, subcommands=self.subcommands)


@dataclass(frozen=True, slots=True)
class CommandModule:
    """Commands that come and go together. Any sequence will do; it is kept as a tuple."""

    name: str
    commands: Sequence[Command]

    def __post_init__(self) -> None:
        object.__setattr__(self, "commands", tuple(self.commands))


class CommandSet(tuple[CommandModule, ...]):
    """Modules as a tuple that can be picked from by name."""

    __slots__ = ()

    def pick(self, *names: str) -> "CommandSet":
        """These modules, in the order asked for. Raises `ConfigurationError` for an unknown name."""
        known = {module.name: module for module in self}
        for name in names:
            if name not in known:
                raise ConfigurationError(f"no command module named {name!r}; there are {', '.join(known)}")
        return CommandSet(known[name] for name in names)

    def without(self, *names: str) -> "CommandSet":
        """All modules but these."""
        return CommandSet(module for module in self if module.name not in names)
