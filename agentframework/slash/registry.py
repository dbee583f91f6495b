"""Which commands there are. An object, not a global: each session has its own."""

from collections.abc import Iterable, Iterator

from agentframework.errors import ConfigurationError
from agentframework.slash.module import Command, CommandModule
from agentframework.slash.parse import normalise_name


class CommandRegistry:
    """Name → command, in the order of the modules. A name already taken is refused, with its module."""

    __slots__ = ("_commands", "_origin")

    def __init__(self, modules: Iterable[CommandModule] = ()) -> None:
        self._commands: dict[str, Command] = {}
        self._origin: dict[str, str] = {}
        for module in modules:
            self.add(module)

    def add(self, module: CommandModule) -> None:
        """Add all commands of ``module`` or, if it brings a name that is taken, none.

        Raises `ConfigurationError` naming the command and both modules.
        """
        added: dict[str, Command] = {}
        for command in module.commands:
            taken_by = module.name if command.name in added else self._origin.get(command.name)
            if taken_by is not None:
                raise ConfigurationError(
                    f"the command /{command.name} of module {module.name!r} is already provided by module "
                    f"{taken_by!r}; leave one of them out",
                    details={"command": command.name, "module": module.name},
                )
            added[command.name] = command
        self._commands |= added
        self._origin |= dict.fromkeys(added, module.name)

    def get(self, name: str) -> Command | None:
        """The command that ``name`` means (slashes and further words are ignored), or None."""
        return self._commands.get(normalise_name(name))

    def complete(self, prefix: str) -> list[Command]:
        """Commands whose name begins with ``prefix`` in upper or lower case, in order."""
        start = prefix.lstrip("/").lower()
        return [command for command in self._commands.values() if command.name.startswith(start)]

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def __len__(self) -> int:
        return len(self._commands)
