import pytest

from agentframework.errors import ConfigurationError
from agentframework.slash import Command, CommandHost, CommandModule, CommandRegistry, CommandResult, CommandSet


async def nothing(_host: CommandHost, _args: str) -> CommandResult:
    return CommandResult("")


def module(name: str, *commands: str) -> CommandModule:
    return CommandModule(name, [Command(command, "", nothing) for command in commands])


def names(commands: object) -> list[str]:
    return [command.name for command in commands]  # type: ignore[attr-defined]


def test_commands_come_in_the_order_of_their_modules() -> None:
    registry = CommandRegistry([module("b", "two", "one"), module("a", "three")])
    assert names(registry) == ["two", "one", "three"]
    assert len(registry) == 3


@pytest.mark.parametrize("prefix", ["co", "CO", "/Co"])
def test_a_prefix_completes_in_upper_and_lower_case(prefix: str) -> None:
    registry = CommandRegistry([module("m", "cost", "context", "clear")])
    assert names(registry.complete(prefix)) == ["cost", "context"]


def test_everything_completes_nothing_typed() -> None:
    assert names(CommandRegistry([module("m", "a", "b")]).complete("")) == ["a", "b"]


def test_names_are_exact_but_for_slashes_and_blanks() -> None:
    registry = CommandRegistry([module("m", "help")])
    assert names([registry.get(" /help me ")]) == ["help"]
    assert registry.get("hel") is None
    assert registry.get("HELP") is None
    assert registry.get("") is None


def test_a_name_already_taken_is_refused_with_its_whole_module() -> None:
    registry = CommandRegistry([module("first", "help")])
    with pytest.raises(ConfigurationError, match=r"/help of module 'second'.*'first'"):
        registry.add(module("second", "new", "help"))
    assert names(registry) == ["help"]


def test_a_module_cannot_bring_a_name_twice() -> None:
    with pytest.raises(ConfigurationError, match="'m'"):
        CommandRegistry([module("m", "a", "a")])


@pytest.mark.parametrize("name", ["", "/help", "Help", "two words", "-x", "a" * 65])
def test_a_name_that_nobody_could_type_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="command name"):
        Command(name, "", nothing)


def test_modules_are_picked_by_name() -> None:
    modules = CommandSet([module("a"), module("b"), module("c")])
    assert names(modules.pick("c", "a")) == ["c", "a"]
    assert names(modules.without("b")) == ["a", "c"]
    with pytest.raises(ConfigurationError, match="'d'; there are a, b, c"):
        modules.pick("d")


def test_the_commands_of_a_module_are_kept_as_a_tuple() -> None:
    commands = [Command("a", "", nothing)]
    kept = CommandModule("m", commands)
    commands.clear()
    assert names(kept.commands) == ["a"]


def test_info_tells_what_a_list_shows() -> None:
    info = Command("mode", "Set it", nothing, "[mode]", ("plan",)).info
    assert (info.name, info.description, info.argument_hint, info.subcommands, info.allowed_tools) == (
        "mode", "Set it", "[mode]", ("plan",), (),
    )  # fmt: skip
