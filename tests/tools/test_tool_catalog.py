from pathlib import Path
from typing import Any

import pytest
from toolkit import SCHEMA

from agentframework import (
    InteractiveSession,
    RiskClass,
    Tool,
    ToolCatalog,
    builtin_tools,
    register_tool_permission_profile,
    tool,
)
from agentframework.errors import ConfigurationError, ToolExecutionError
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools.profile import PermissionProfile, profile_of


def make(name: str, **options: Any) -> Tool:
    return Tool(name, f"about {name}", SCHEMA, lambda _arguments, _context: name, **options)


def test_a_catalog_keeps_the_order_and_finds_by_exact_name() -> None:
    catalog = ToolCatalog([make("b"), make("a")])
    assert (catalog.names, len(catalog)) == (("b", "a"), 2)
    assert [made.name for made in catalog] == ["b", "a"]
    assert catalog.get("a") is not None
    assert catalog.get("A") is None
    assert catalog.get("") is None


def test_a_catalog_refuses_a_name_that_is_taken() -> None:
    catalog = ToolCatalog([make("a")])
    with pytest.raises(ToolExecutionError, match="two tools are named 'a'") as caught:
        catalog.add(make("a"))
    assert (caught.value.code, caught.value.details) == ("TOOL_NAME_CONFLICT", {"tool": "a"})
    assert len(catalog) == 1


def test_specs_are_the_same_object_until_a_tool_is_added() -> None:
    catalog = ToolCatalog([make("a")])
    before = catalog.specs
    assert catalog.specs is before
    catalog.add(make("b"))
    assert [spec.name for spec in catalog.specs] == ["a", "b"]
    assert catalog.specs[0] is before[0]


async def test_a_request_holds_what_the_catalog_says(tmp_path: Path) -> None:
    @tool(risk="inspect")
    def look(path: str) -> str:
        """Looks at a path."""
        return path

    provider = ScriptedProvider(say(call("look", path="x")), "done")
    catalog = ToolCatalog([look, make("other")])
    async with InteractiveSession(cwd=tmp_path, provider=provider, default_tools=list(catalog)) as session:
        await session.submit("go")
    assert [tuple(request.tools) for request in provider.requests] == [catalog.specs] * 2
    spec = provider.requests[0].tools[0]
    assert (spec.name, spec.description, spec.input_schema) == (look.name, look.description, look.input_schema)


def test_tools_are_picked_by_name_in_the_order_asked_for() -> None:
    tools = builtin_tools()
    assert [made.name for made in tools.pick("Grep", "Read")] == ["Grep", "Read"]
    assert "Bash" not in [made.name for made in tools.without("Bash", "no such tool")]
    assert len(tools.without("Bash")) == len(tools) - 1
    with pytest.raises(ConfigurationError, match="no tool named 'read'"):
        tools.pick("read")


def test_a_profile_completes_a_tool_that_declares_nothing() -> None:
    bare = make("profile_bare")
    assert profile_of(bare) == PermissionProfile(None, None)
    register_tool_permission_profile("profile_bare", risk_class="modify", argument_key="path")
    assert profile_of(bare) == PermissionProfile(RiskClass.MODIFY, "path")


def test_what_a_tool_declares_is_not_overridden() -> None:
    register_tool_permission_profile("profile_own", risk_class="inspect", argument_key="path")
    assert profile_of(make("profile_own", risk="execute")) == PermissionProfile(RiskClass.EXECUTE, "path")
    assert profile_of(make("profile_own", permission_key="file")) == PermissionProfile(RiskClass.INSPECT, "file")


def test_registrations_of_one_name_merge() -> None:
    register_tool_permission_profile("profile_merged", risk_class=RiskClass.EXECUTE)
    register_tool_permission_profile("profile_merged", argument_key="command")
    assert profile_of(make("profile_merged")) == PermissionProfile(RiskClass.EXECUTE, "command")
    register_tool_permission_profile("profile_merged", risk_class="inspect")
    assert profile_of(make("profile_merged")) == PermissionProfile(RiskClass.INSPECT, "command")


def test_an_unknown_risk_class_is_refused_and_changes_nothing() -> None:
    register_tool_permission_profile("profile_kept", risk_class="modify")
    with pytest.raises(ConfigurationError, match="inspect, modify or execute, not 'safe'"):
        register_tool_permission_profile("profile_kept", risk_class="safe")
    assert profile_of(make("profile_kept")).risk_class is RiskClass.MODIFY


async def test_a_declared_risk_class_decides_whether_a_call_is_asked_about(tmp_path: Path) -> None:
    asked: list[str] = []

    async def play(name: str) -> None:
        provider = ScriptedProvider(say(call(name)), "done")
        async with InteractiveSession(
            cwd=tmp_path, provider=provider, default_tools=[], additional_tools=[make(name)]
        ) as session:
            session.on("permission_request", lambda event: asked.append(event.tool_name))
            session.on("permission_request", lambda event: session.resolve_permission(event.id, True))
            await session.submit("go")

    await play("profile_played")
    assert asked == ["profile_played"]
    register_tool_permission_profile("profile_played", risk_class="inspect")
    await play("profile_played")
    assert asked == ["profile_played"]


async def test_a_declared_argument_key_is_what_rules_match(tmp_path: Path) -> None:
    register_tool_permission_profile("profile_ruled", risk_class="execute", argument_key="target")
    ran: list[str] = []
    ruled = Tool("profile_ruled", "", {"type": "object"}, lambda arguments, _context: ran.append(arguments["target"]))
    provider = ScriptedProvider(
        say(call("profile_ruled", target="here"), call("profile_ruled", target="there")), "done"
    )
    async with InteractiveSession(
        cwd=tmp_path, provider=provider, default_tools=[ruled], allowed_tools=["profile_ruled(here)"]
    ) as session:
        await session.submit("go")
    assert ran == ["here"]
