"""What the tables of the pages say, held against the code."""

import ast
import inspect
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pagekit import ROOT, quoted_names, rows

import agentframework
from agentframework import (
    Agent,
    AnthropicProvider,
    InteractiveSession,
    PermissionMode,
    PermissionRules,
    ProviderError,
    RiskClass,
    builtin_tools,
    create_query,
    tool,
)
from agentframework.events import EVENT_TYPES, BaseEvent
from agentframework.permissions.modes import MATRIX
from agentframework.permissions.prompts import BACKSTOP_S
from agentframework.providers.steady import DEFAULT_RETRY
from agentframework.session.queue import QUEUE_CAPACITY
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools.executor import MAX_RESULT_CHARACTERS

DOCS = ROOT / "docs"
PAGE = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}
COMMON = {field.name for field in fields(BaseEvent)}
EMITTERS = [
    path
    for path in (ROOT / "agentframework").rglob("*.py")
    if not {"cli", "events", "testing", "transports"} & set(path.relative_to(ROOT / "agentframework").parts)
]


def own_fields(event: type[BaseEvent]) -> list[str]:
    """The fields of an event besides those that all have."""
    return [field.name for field in fields(event) if field.name not in COMMON]


def emitted() -> set[str]:
    """The events whose classes are named where events come from."""
    names = {
        node.id
        for path in EMITTERS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name)
    }
    return {name for name, event in EVENT_TYPES.items() if event.__name__ in names}


def documented() -> dict[str, list[str]]:
    """The events of the page's tables with their fields."""
    headings = ("The model speaks", "A turn", "Tools", "The session", "MCP servers")
    cells = [row for heading in headings for row in rows(PAGE["events"], heading)]
    return {quoted_names(row[0])[0]: quoted_names(row[1]) for row in cells}


def test_every_event_of_the_page_has_the_fields_it_lists() -> None:
    found = documented()
    assert found == {name: own_fields(EVENT_TYPES[name]) for name in found}


def test_the_page_tells_events_in_use_from_those_that_nothing_emits() -> None:
    unused = set(quoted_names(PAGE["events"].split("## Not in use yet")[1]))
    assert unused | set(documented()) == set(EVENT_TYPES)
    assert set(documented()) == emitted()


def test_the_options_of_the_page_are_those_of_a_session() -> None:
    listed = {quoted_names(row[0])[0]: "".join(quoted_names(row[1])) for row in rows(PAGE["sessions"], "Options")}
    parameters = [p for p in inspect.signature(InteractiveSession.__init__).parameters.values() if p.name != "self"]
    shown = {p.name: "" if p.default is p.empty else repr(p.default) for p in parameters}
    assert listed == shown


def test_the_table_of_modes_is_the_one_in_force() -> None:
    words = {"allow": "runs", "ask": "asked", "deny": "denied"}
    columns = (RiskClass.INSPECT, RiskClass.MODIFY, RiskClass.EXECUTE, None)
    listed = {quoted_names(row[0])[0]: row[1:] for row in rows(PAGE["permissions"], "Modes")}
    assert listed == {str(mode): [words[MATRIX[mode][risk]] for risk in columns] for mode in PermissionMode}


def test_the_risks_of_the_built_in_tools_are_as_listed() -> None:
    text = PAGE["permissions"].split("The built-in tools, by risk:")[1].split("\n\n")[0]
    listed = [set(quoted_names(part)) for part in text.split(", ")]
    by_risk: dict[Any, set[str]] = {risk: set() for risk in RiskClass}
    for built_in in builtin_tools():
        by_risk[built_in.risk].add(built_in.name)
    assert listed == list(by_risk.values())


def test_the_parameters_of_the_file_tools_are_those_of_their_schemas() -> None:
    listed = {quoted_names(row[0])[0]: quoted_names(row[1]) for row in rows(PAGE["tools"], "Files")}
    tools = builtin_tools().pick(*listed)
    assert listed == {one.name: list(one.input_schema["properties"]) for one in tools}
    assert listed.keys() >= {one.name for one in builtin_tools().optional} - {"TodoWrite"}


def calls() -> list[tuple[str, str, str]]:
    """Every call of the table of rules: the rule, the call, and the stage that has to decide it."""
    found: list[tuple[str, str, str]] = []
    for row in rows(PAGE["permissions"], "Rules"):
        rule = quoted_names(row[0])[0]
        for cell, outcome in zip(row[1:], ("allow", "prompt"), strict=True):
            found += [(rule, name.replace("\\|", "|"), outcome) for name in quoted_names(cell)]
    return found


@tool(risk="modify", permission_key="item")
def take(item: str) -> str:
    """Takes an item."""
    return item


@pytest.mark.parametrize(("rule", "wanted", "outcome"), calls())
async def test_a_rule_covers_what_its_row_says(rule: str, wanted: str, outcome: str, tmp_path: Path) -> None:
    name, value = re.fullmatch(r"(\w+)\((.*)\)", wanted, re.S).groups()  # type: ignore[union-attr]
    arguments = {
        "Bash": {"command": value},
        "Shell": {"command": value},
        "Write": {"file_path": value, "content": "text"},
        "Edit": {"file_path": value, "old_string": "a", "new_string": "b"},
        "take": {"item": value},
    }[name]
    model = ScriptedProvider(say(call(name, **arguments)), "Done.")
    rules = PermissionRules(allow=[rule])
    decided: list[str] = []
    async with InteractiveSession(cwd=tmp_path, provider=model, permissions=rules, additional_tools=[take]) as session:
        session.on("permission_request", lambda event: session.resolve_permission(event.id, False))
        session.on("permission_decision", lambda event: decided.append(event.stage))
        await session.submit("Go.")
    assert decided == [outcome]


def test_the_errors_of_the_model_side_are_all_listed() -> None:
    listed = {
        quoted_names(row[0])[0]: (quoted_names(row[1])[0], row[2] == "yes")
        for row in rows(PAGE["providers"], "When the model cannot be asked")
    }
    classes = [getattr(agentframework, name) for name in agentframework.__all__]
    kinds = [cls for cls in classes if inspect.isclass(cls) and issubclass(cls, ProviderError)]
    assert listed == {
        cls.__name__: (str(cls.default_code), cls.default_retryable) for cls in kinds if cls is not ProviderError
    }


def known(name: str) -> bool:
    """Whether a name of the right-hand columns leads to something of ours."""
    first, *rest = name.split(".")
    if first in EVENT_TYPES:
        return all(field in own_fields(EVENT_TYPES[first]) for field in rest)
    if first == "session":
        return all(hasattr(InteractiveSession, member) for member in rest)
    if first in agentframework.__all__:
        found = getattr(agentframework, first)
        return all(hasattr(found, member) for member in rest)
    sessions = (InteractiveSession.__init__, InteractiveSession.submit, create_query)
    places = (*sessions, Agent.__init__, Agent.run, AnthropicProvider.__init__)
    options = {parameter for place in places for parameter in inspect.signature(place).parameters}
    arguments = {key for built_in in builtin_tools() for key in built_in.input_schema["properties"]}
    return name in options | arguments


@pytest.mark.parametrize("page", ["names", "from-other-sdks"])
def test_every_name_of_ours_in_the_table_of_names_exists(page: str) -> None:
    systems = re.findall(r"^## (.+)$", PAGE[page], re.M)
    cells = [row[1] for system in systems for row in rows(PAGE[page], system)]
    names = [name for cell in cells for name in quoted_names(cell)]
    assert len(names) > 50
    assert [name for name in names if not known(name)] == []


def test_the_names_said_to_be_the_same_are_events_here() -> None:
    text = PAGE["names"].split("Events with the same name in both:")[1].split("|")[0]
    assert [name for name in quoted_names(text) if name not in EVENT_TYPES] == []


def test_the_numbers_in_the_prose_are_those_in_force() -> None:
    assert f"`dropped` ({QUEUE_CAPACITY} others wait already)" in PAGE["sessions"]
    assert f"Text beyond {MAX_RESULT_CHARACTERS:,}\ncharacters" in PAGE["tools"]
    assert ("after half an hour" in PAGE["permissions"], BACKSTOP_S) == (True, 1800)
    assert ("three times in all" in PAGE["providers"], DEFAULT_RETRY.max_attempts) == (True, 3)
