from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolkit import make_context

from agentframework import (
    CompositeToolExecutor,
    ToolCatalog,
    ToolContext,
    ToolExecutionError,
    ToolExecutor,
    ToolInfo,
    ToolRegistry,
    ToolResult,
    builtin_tools,
    qualify_model_tool_name,
    tool,
)
from agentframework._base.abort import AbortedError
from agentframework.errors import ConfigurationError
from agentframework.messages import ToolSpec
from agentframework.tools.executor import execute_tool
from agentframework.tools.executors import tools_of

OBJECT: Mapping[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": f"about {name}", "parameters": OBJECT}}


class Host:
    """An executor that notes what is done with it; it answers with ``answer`` or raises it."""

    def __init__(self, *names: str, answer: Any = "done") -> None:
        self.names = list(names)
        self.answer = answer
        self.log: list[Any] = []

    def list_tools(self) -> list[dict[str, Any]]:
        return [function(name) for name in self.names]

    async def execute(self, name: str, arguments: dict[str, Any], context: ToolContext) -> Any:
        self.log.append((name, arguments, context.turn_id))
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def get_tool_info(self, name: str) -> ToolInfo | None:
        return ToolInfo("mcp", {"server_id": "files"}) if name in self.names else None

    async def initialize(self) -> None:
        self.log.append("initialize")

    async def close(self) -> None:
        self.log.append("close")


class Bare:
    """Only what an executor must have, and its list comes later."""

    async def list_tools(self) -> Iterable[Any]:
        return [ToolSpec("bare", "", OBJECT)]

    async def execute(self, _name: str, arguments: dict[str, Any], _context: ToolContext) -> Any:
        return arguments


async def test_what_an_executor_lists_runs_like_any_other_tool() -> None:
    host = Host("read")
    (read,) = await tools_of(host)
    assert (read.name, read.description, read.input_schema) == ("read", "about read", OBJECT)
    assert (read.risk, read.info) == (None, ToolInfo("mcp", {"server_id": "files"}))
    result = await execute_tool(read, {"path": "x"}, make_context())
    assert result == ToolResult("done")
    assert host.log == [("read", {"path": "x"}, "turn")]


async def test_the_shapes_of_a_definition_and_a_list_that_comes_later() -> None:
    @tool(risk="inspect", permission_key="path")
    def look(path: str) -> str:
        """Looks."""
        return path

    class Mixed(Bare):
        async def list_tools(self) -> Iterable[Any]:
            flat = {"name": "mcp_like", "inputSchema": OBJECT}
            return [look, ToolSpec("spec", "s", OBJECT), function("chat"), flat, {"name": "none"}]

    tools = {made.name: made for made in await tools_of(Mixed())}
    assert list(tools) == ["look", "spec", "chat", "mcp_like", "none"]
    assert (tools["look"].risk, tools["look"].permission_key) == ("inspect", "path")
    assert tools["mcp_like"].input_schema == OBJECT
    assert tools["none"].input_schema == {"type": "object", "properties": {}}
    assert tools["spec"].info == ToolInfo("custom")
    assert (await execute_tool(tools["spec"], {"a": 1}, make_context())).structured == {"a": 1}


@pytest.mark.parametrize("bad", [3, {}, {"name": 1}, {"name": "a", "parameters": []}, {"name": "a b"}])
async def test_a_definition_that_is_none_is_refused(bad: Any) -> None:
    class Odd(Bare):
        async def list_tools(self) -> Iterable[Any]:
            return [bad]

    with pytest.raises(ConfigurationError):
        await tools_of(Odd())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("text", ToolResult("text")),
        ({"content": "text", "isError": True}, ToolResult("text", is_error=True)),
        ({"content": "text", "is_error": False, "structured": {"a": 1}}, ToolResult("text", structured={"a": 1})),
        ({"content": "text", "other": 1}, ToolResult('{"content": "text", "other": 1}')),
        ({"content": ["x"]}, ToolResult('{"content": ["x"]}')),
        ({}, ToolResult("{}")),
        (None, ToolResult()),
        (ToolResult("own"), ToolResult("own")),
    ],
)
async def test_what_an_executor_answers_becomes_a_result(answer: Any, expected: ToolResult) -> None:
    result = await CompositeToolExecutor([Host("t", answer=answer)]).execute("t", {}, make_context())
    assert (result.content, result.is_error) == (expected.content, expected.is_error)


async def test_image_blocks_of_an_executor_are_kept() -> None:
    block = {"type": "image", "mime_type": "image/png", "data_base64": "AAAA"}
    answer = {"content": "a plot", "contentBlocks": [block]}
    result = await CompositeToolExecutor([Host("t", answer=answer)]).execute("t", {}, make_context())
    assert [image.data_base64 for image in result.images] == ["AAAA"]


async def test_each_call_goes_to_the_executor_that_has_the_tool() -> None:
    one, two = Host("a"), Host("b")
    both = CompositeToolExecutor([one, Bare(), two])
    assert [made.name for made in await tools_of(both)] == ["a", "bare", "b"]
    await both.execute("b", {"x": 1}, make_context())
    assert (one.log, two.log) == ([], [("b", {"x": 1}, "turn")])
    assert both.get_tool_info("a") == ToolInfo("mcp", {"server_id": "files"})
    assert both.get_tool_info("bare") == ToolInfo("custom")
    assert both.get_tool_info("none") is None


async def test_a_tool_that_appears_later_is_found_and_an_unknown_one_is_an_error() -> None:
    host = Host("a")
    both = CompositeToolExecutor([host])
    assert (await both.execute("a", {}, make_context())).content == "done"
    host.names.append("late")
    assert (await both.execute("late", {}, make_context())).content == "done"
    with pytest.raises(ToolExecutionError) as caught:
        await both.execute("never", {}, make_context())
    assert (caught.value.code, caught.value.details) == ("TOOL_NOT_FOUND", {"tool": "never"})


async def test_two_executors_with_a_tool_of_one_name_are_a_conflict() -> None:
    both = CompositeToolExecutor([Host("a", "b"), Host("b")])
    with pytest.raises(ToolExecutionError, match="'b'") as caught:
        await both.list_tools()
    assert caught.value.code == "TOOL_NAME_CONFLICT"
    with pytest.raises(ToolExecutionError):
        await both.execute("a", {}, make_context())


async def test_a_failure_carries_its_code_and_a_stop_passes() -> None:
    failing = CompositeToolExecutor([Host("t", answer=ValueError("no disk"))])
    with pytest.raises(ToolExecutionError, match="ValueError: no disk") as caught:
        await failing.execute("t", {}, make_context())
    assert caught.value.code == "TOOL_EXECUTION_FAILED"
    assert isinstance(caught.value.__cause__, ValueError)
    (made,) = await tools_of(failing)
    result = await execute_tool(made, {}, make_context())
    assert result == ToolResult("Error: ValueError: no disk [TOOL_EXECUTION_FAILED]", is_error=True)
    with pytest.raises(AbortedError):
        await CompositeToolExecutor([Host("t", answer=AbortedError())]).execute("t", {}, make_context())


async def test_all_are_initialised_and_closed_in_reverse_even_if_one_fails() -> None:
    order: list[str] = []

    class Named(Host):
        def __init__(self, name: str, fails: str = "") -> None:
            super().__init__()
            self.name, self.fails = name, fails

        async def initialize(self) -> None:
            await self._do("initialize")

        async def close(self) -> None:
            await self._do("close")

        async def _do(self, what: str) -> None:
            order.append(f"{what} {self.name}")
            if what == self.fails:
                raise OSError(f"{what} of {self.name}")

    executors: list[ToolExecutor] = [Named("a"), Bare(), Named("b", "close"), Named("c")]
    both = CompositeToolExecutor(executors)
    await both.initialize()
    with pytest.raises(OSError, match="close of b"):
        await both.close()
    assert order == ["initialize a", "initialize b", "initialize c", "close c", "close b", "close a"]
    order.clear()
    with pytest.raises(OSError, match="initialize of b"):
        await CompositeToolExecutor([Named("a"), Named("b", "initialize"), Named("c")]).initialize()
    assert order == ["initialize a", "initialize b", "close a"]


def test_the_tools_of_one_server_are_replaced_and_others_stay() -> None:
    registry = ToolRegistry()
    first = registry.replace_server_tools("files", [{"name": "read", "inputSchema": OBJECT}, {"name": "list"}])
    registry.replace_server_tools("mail", [{"name": "read", "annotations": {"readOnlyHint": True}}])
    assert first.added == ("mcp__files__read", "mcp__files__list")
    change = registry.replace_server_tools("files", [{"name": "list", "description": "new"}, {"name": "stat"}])
    assert (change.added, change.removed) == (("mcp__files__stat",), ("mcp__files__read",))
    assert [found.name for found in registry.all()] == ["mcp__files__list", "mcp__files__stat", "mcp__mail__read"]
    mail = registry.get("mcp__mail__read")
    assert mail is not None
    assert (mail.server_id, mail.original_name, mail.annotations) == ("mail", "read", {"readOnlyHint": True})
    assert mail.info == ToolInfo("mcp", {"server_id": "mail", "original_name": "read"})
    assert registry.remove_server("files").removed == ("mcp__files__list", "mcp__files__stat")
    assert [found.name for found in registry.all()] == ["mcp__mail__read"]
    assert registry.server_tools("files") == ()


def test_a_registry_describes_its_tools_for_a_model() -> None:
    registry = ToolRegistry()
    registry.replace_server_tools("fs", [{"name": "read", "description": "Reads.", "inputSchema": OBJECT}])
    assert registry.to_model_definitions() == [
        {
            "type": "function",
            "function": {"name": "mcp__fs__read", "description": "Reads.", "parameters": OBJECT},
        }
    ]


def test_a_registry_refuses_two_tools_of_one_name_and_keeps_what_it_had() -> None:
    registry = ToolRegistry()
    registry.replace_server_tools("a", [{"name": "one"}])
    for tools in ([{"name": "x"}, {"name": "x"}], [{"name": ""}], [{"name": "ok"}, 3]):
        with pytest.raises((ToolExecutionError, ConfigurationError)):
            registry.replace_server_tools("a", tools)  # type: ignore[arg-type]
    assert [found.original_name for found in registry.all()] == ["one"]


ODD = ["a" * 128, "admin.tools.list", "user/profile update", "検索", "x__y", "search-a", "search_a", "search.a", "_z"]


def test_names_fit_every_api_and_stay_apart() -> None:
    servers = ["fs", "x", "x__y", "x_", "enterprise-database-management", "dotted.id", "Bash"]
    names = [qualify_model_tool_name(server, name) for server in servers for name in [*ODD, "z", "y__z"]]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 64 and name.isascii() and set(name) <= ALPHABET for name in names)
    assert qualify_model_tool_name("fs", "read_file") == "mcp__fs__read_file"
    assert qualify_model_tool_name("x__y", "z") != qualify_model_tool_name("x", "y__z")
    long = "synchronize_all_customer_data_across_multiple_systems"
    assert qualify_model_tool_name("enterprise-database-management", long).startswith("mcp__enterprise-database-")


ALPHABET = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@given(st.text(min_size=1, max_size=80), st.text(min_size=1, max_size=80))
def test_any_name_fits_and_depends_on_nothing_else(server: str, name: str) -> None:
    made = qualify_model_tool_name(server, name)
    assert 1 <= len(made) <= 64
    assert set(made) <= ALPHABET
    assert made == qualify_model_tool_name(server, name)


def test_a_catalog_replaces_tools_all_at_once_and_keeps_places() -> None:
    one, two, three = (builtin_tools().pick(name)[0] for name in ("Read", "Glob", "Grep"))
    catalog = ToolCatalog([one, two])
    catalog.replace(["Read", "gone"], [three, one])
    assert catalog.names == ("Read", "Glob", "Grep")
    with pytest.raises(ToolExecutionError):
        catalog.replace(["Read"], [two])
    assert catalog.names == ("Read", "Glob", "Grep")
    catalog.replace(["Read"], [])
    assert [spec.name for spec in catalog.specs] == ["Glob", "Grep"]


def test_built_in_tools_say_that_they_are() -> None:
    assert {made.info.source for made in builtin_tools()} == {"builtin"}
