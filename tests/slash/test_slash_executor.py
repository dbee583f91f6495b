import asyncio
from typing import Any, cast

import pytest

from agentframework.errors import ConfigurationError
from agentframework.slash import Command, CommandExecutor, CommandHost, CommandModule, CommandRegistry, CommandResult

HOST = cast(CommandHost, object())


def executor(*commands: Command, busy: bool = False) -> CommandExecutor:
    return CommandExecutor(CommandRegistry([CommandModule("m", commands)]), HOST, lambda: busy)


async def tell(host: CommandHost, args: str) -> CommandResult:
    return CommandResult(f"<{args}>", data={"host": host is HOST})


async def test_an_unknown_command_is_none() -> None:
    assert await executor(Command("a", "", tell)).execute("b") is None


async def test_a_command_gets_its_host_and_its_arguments_without_blanks_around_them() -> None:
    result = await executor(Command("a", "", tell)).execute("/a", "  one  two ")
    assert result == CommandResult("<one  two>", data={"host": True})


async def test_beside_a_turn_only_commands_that_change_nothing_run() -> None:
    commands = (
        Command("read", "", tell, read_only=True),
        Command("write", "", tell),
        Command("both", "", tell, read_only=lambda args: not args),
    )
    running = executor(*commands, busy=True)
    results = [await running.execute(*line) for line in (("read", ""), ("both", ""), ("write", ""), ("both", "x"))]
    assert [result and result.success for result in results] == [True, True, False, False]
    refused = results[2]
    assert refused is not None
    assert "/write cannot run while a turn is running" in refused.message


async def test_two_commands_that_change_something_do_not_overlap() -> None:
    entered, let_go = asyncio.Event(), asyncio.Event()

    async def slow(_host: CommandHost, _args: str) -> CommandResult:
        entered.set()
        await let_go.wait()
        return CommandResult("slow is done")

    both = executor(Command("slow", "", slow), Command("other", "", tell))
    first = asyncio.create_task(both.execute("slow"))
    await entered.wait()
    second = await both.execute("other")
    let_go.set()
    assert second is not None
    assert second.message == "/other cannot run while /slow is running."
    assert await first == CommandResult("slow is done")
    third = await both.execute("other")
    assert third is not None
    assert third.success


@pytest.mark.parametrize(
    ("error", "message", "data"),
    [
        (ConfigurationError("no such mode"), "no such mode", {"code": "INVALID_CONFIGURATION"}),
        (KeyError("x"), "/a failed: KeyError: 'x'", None),
    ],
)
async def test_a_failing_command_is_a_result(error: Exception, message: str, data: Any) -> None:
    async def fail(_host: CommandHost, _args: str) -> CommandResult:
        raise error

    assert await executor(Command("a", "", fail)).execute("a") == CommandResult(message, False, data)


async def test_a_failing_look_at_the_arguments_is_a_result_too() -> None:
    def broken(_args: str) -> bool:
        raise ValueError("broken")

    result = await executor(Command("a", "", tell, read_only=broken)).execute("a")
    assert result is not None
    assert not result.success


async def test_a_cancelled_command_is_cancelled_and_forgotten() -> None:
    entered = asyncio.Event()

    async def forever(_host: CommandHost, _args: str) -> CommandResult:
        entered.set()
        await asyncio.get_running_loop().create_future()
        return CommandResult("never")

    runs = executor(Command("slow", "", forever), Command("other", "", tell))
    task = asyncio.create_task(runs.execute("slow"))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    result = await runs.execute("other")
    assert result is not None
    assert result.success
