import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession, builtin_tools
from agentframework.events import PlanEvent
from agentframework.messages import ToolMessage
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.schema import check_arguments
from tools_builtin.todo_write import todo_write_tool

Call = Callable[..., Awaitable[ToolResult]]
WAIT_S = 30


def todo(content: str, status: str = "pending") -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": f"Doing: {content}"}


async def planned(folder: Path, *lists: list[dict[str, str]], **options: Any) -> tuple[list[PlanEvent], list[str]]:
    """Events of a turn in which the model writes these lists one after the other, and what it was answered."""
    provider = ScriptedProvider(*(say(call("TodoWrite", todos=todos)) for todos in lists), "Done.")
    events: list[PlanEvent] = []
    tools = builtin_tools().plus("TodoWrite")
    async with (
        asyncio.timeout(WAIT_S),
        InteractiveSession(
            cwd=folder, provider=provider, default_tools=tools, **options
        ) as session,
    ):
        session.on(PlanEvent, events.append)
        await (await session.submit("go")).completed
        answers = [m.content[0].content for m in session.get_messages() if isinstance(m, ToolMessage)]
    return events, answers


def test_the_tool_is_offered_only_if_it_is_picked() -> None:
    assert "TodoWrite" not in [tool.name for tool in builtin_tools()]
    (tool,) = builtin_tools().pick("TodoWrite")
    assert (tool.name, tool.risk, tool.permission_key) == ("TodoWrite", "inspect", None)


async def test_each_change_of_the_list_is_an_event_with_the_whole_list(tmp_path: Path) -> None:
    first = [todo("Read the code", "in_progress"), todo("Fix it")]
    second = [todo("Read the code", "completed"), todo("Fix it", "in_progress")]
    events, answers = await planned(tmp_path, first, second, second, [], permission_mode="plan")
    assert [(event.kind, event.data["todos"]) for event in events] == [
        ("created", first),
        ("changed", second),
        ("changed", []),
    ]
    assert answers[0] == "The list is kept and shown: 0 of 2 done. Go on with: Read the code"
    assert answers[-1] == "The list is empty now."


async def test_a_session_does_not_know_the_list_of_another(tmp_path: Path) -> None:
    tool, kinds = todo_write_tool(), []
    for _ in range(2):
        provider = ScriptedProvider(say(call("TodoWrite", todos=[todo("Look")])), "Done.")
        async with InteractiveSession(cwd=tmp_path, provider=provider, additional_tools=[tool]) as session:
            session.on(PlanEvent, lambda event: kinds.append(event.kind))
            await (await session.submit("go")).completed
    assert kinds == ["created", "created"]


@pytest.mark.parametrize(
    ("todos", "told"),
    [
        ([todo("a"), todo("b")], "The list is kept and shown: 0 of 2 done. Next: a"),
        ([todo("a", "completed")], "The list is kept and shown: 1 of 1 done."),
        (
            [todo("a", "in_progress"), todo("b", "in_progress")],
            "The list is kept and shown: 0 of 2 done. Go on with: a; b",
        ),
    ],
)
async def test_the_model_is_told_where_it_stands(
    use: Call, context: ToolContext, todos: list[dict[str, str]], told: str
) -> None:
    assert (await use(todo_write_tool(), context, todos=todos)).content == told


@pytest.mark.parametrize(
    "todos",
    ["Look", [{"content": "Look"}], [{**todo("Look"), "status": "done"}], [{**todo("Look"), "id": 1}], [todo("")]],
)
def test_other_lists_are_refused(todos: object) -> None:
    assert check_arguments(todo_write_tool().input_schema, {"todos": todos}) is not None


async def test_a_blank_step_is_refused(use: Call, context: ToolContext) -> None:
    result = await use(todo_write_tool(), context, todos=[todo(" ")])
    assert (result.is_error, result.content) == (
        True,
        "Error: a step has no text; give every step content and activeForm",
    )


@pytest.fixture
def use(call: Call) -> Call:
    """The fixture, beside the function of that name."""
    return call
