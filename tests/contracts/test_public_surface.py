"""The names that programs outside rely on: every change of one is a change of public_surface.toml, for all to see."""

import ast
import inspect
import pkgutil
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import agentframework
import agentframework.events
from agentframework import Agent, AgentFrameworkError, ErrorCode, InteractiveSession, create_query, errors
from agentframework.cli.arguments import build_parser
from agentframework.events import EVENT_TYPES, BaseEvent

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PINNED: Mapping[str, Mapping[str, Any]] = tomllib.loads((HERE / "public_surface.toml").read_text(encoding="utf-8"))
SIGNALS = {129, 130, 143}
PACKAGES = sorted(
    module.name
    for module in pkgutil.walk_packages(agentframework.__path__, "agentframework.")
    if module.ispkg and "._" not in module.name
)


def events() -> dict[str, Any]:
    """Each event with its own fields."""
    common = {field.name for field in fields(BaseEvent)}
    return {
        name: " ".join(field.name for field in fields(event) if field.name not in common)
        for name, event in EVENT_TYPES.items()
    }


def error_classes() -> dict[str, Any]:
    """Each error with its base and its code."""
    found = [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, AgentFrameworkError)]
    return {cls.__name__: f"{cls.__bases__[0].__name__} {cls.default_code}" for cls in found}


def error_codes() -> dict[str, Any]:
    """Each code with its text."""
    return {code.name: str(code) for code in ErrorCode}


def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Each parameter with its default, or ``required``."""
    return {
        parameter.name: "required" if parameter.default is parameter.empty else str(parameter.default)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
    }


def command_line() -> dict[str, Any]:
    """Each option of the command with its short form and what it takes."""
    found: dict[str, Any] = {}
    for action in build_parser()._actions:
        if action.option_strings and action.dest != "help":
            *short, name = action.option_strings
            takes = "|".join(map(str, action.choices)) if action.choices else action.metavar or action.dest.upper()
            if action.nargs != 0:
                short.append(f"[{takes}]" if action.nargs == "?" else str(takes))
            found[name] = " ".join(short)
    return found


def exit_codes() -> dict[str, Any]:
    """Each number ``EXIT_…`` of the package, whichever module holds it."""
    found: dict[str, Any] = {}
    for path in sorted((ROOT / "agentframework").rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
                for name in names:
                    if name.startswith("EXIT_") and isinstance(node.value.value, int):
                        assert found.setdefault(name, node.value.value) == node.value.value, f"{path}: {name}"
    return found


SURFACE: Mapping[str, Callable[[], dict[str, Any]]] = {
    "events": events,
    "error_classes": error_classes,
    "error_codes": error_codes,
    "session_options": lambda: options_of(InteractiveSession.__init__),
    "agent_options": lambda: options_of(Agent.__init__),
    "run_options": lambda: options_of(Agent.run),
    "query_options": lambda: options_of(create_query),
    "command_line": command_line,
    "exit_codes": exit_codes,
}


@pytest.mark.parametrize("section", SURFACE)
def test_the_surface_is_the_one_that_is_written_down(section: str) -> None:
    actual, pinned = SURFACE[section](), PINNED[section]
    lines = [f"- {name} = {pinned[name]!r}" for name in pinned if pinned[name] != actual.get(name)]
    lines += [f"+ {name} = {actual[name]!r}" for name in actual if pinned.get(name) != actual[name]]
    assert not lines, f"[{section}] of public_surface.toml and the code differ:\n" + "\n".join(lines)


def test_every_part_of_the_written_surface_is_checked() -> None:
    assert set(PINNED) == set(SURFACE)


def test_the_help_of_the_command_names_every_exit_code() -> None:
    listed = build_parser().format_help().split("exit codes:")[1].split("examples:")[0]
    assert set(map(int, re.findall(r"\b\d+\b", listed))) == set(exit_codes().values()) | SIGNALS


def bound_names(path: Path) -> set[str]:
    """The public names that a package's file defines or takes from elsewhere in the framework."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("agentframework")):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def is_used_there(path: Path, name: str) -> bool:
    """Whether the file itself calls or passes a function of that name, which is then no offer to others."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return name.islower() and any(isinstance(node, ast.Name) and node.id == name for node in nodes)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_offers_what_it_lists_in_order(name: str) -> None:
    path = ROOT / name.replace(".", "/") / "__init__.py"
    module = pkgutil.resolve_name(name)
    listed: list[str] = list(getattr(module, "__all__", ()))
    assert listed == sorted(set(listed))
    bound = bound_names(path)
    assert set(listed) <= bound
    assert {item for item in bound - set(listed) if not is_used_there(path, item)} == set()
    assert all(hasattr(module, item) for item in listed)


def test_the_package_lists_the_same_names_for_people_checkers_and_imports() -> None:
    tree = ast.parse((ROOT / "agentframework" / "__init__.pyi").read_text(encoding="utf-8"))
    for_checkers = {
        (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(listed) == agentframework.__all__
    homes: Mapping[str, tuple[str, ...]] = vars(agentframework)["_HOMES"]
    assert for_checkers == {(home, name) for home, names in homes.items() for name in names}
    assert sorted(name for _, name in for_checkers) == agentframework.__all__


def test_every_error_can_be_caught_by_its_name_from_the_package() -> None:
    assert set(error_classes()) <= set(agentframework.__all__)


def test_the_tree_drawn_for_readers_is_the_tree_of_errors() -> None:
    drawn: dict[str, str] = {}
    path = [AgentFrameworkError.__name__]
    for line in (errors.__doc__ or "").splitlines():
        branch = re.match(r"    ([│ ]*)[├└]── (\w+)", line)
        if branch is not None:
            depth = len(branch[1]) // 4 + 1
            path[depth:] = [branch[2]]
            drawn[branch[2]] = path[depth - 1]
    bases = {name: value.split()[0] for name, value in error_classes().items()}
    assert drawn == {name: base for name, base in bases.items() if name != AgentFrameworkError.__name__}


def test_every_class_of_event_belongs_to_the_vocabulary() -> None:
    found = {
        item
        for module in pkgutil.iter_modules(agentframework.events.__path__, "agentframework.events.")
        for item in vars(pkgutil.resolve_name(module.name)).values()
        if inspect.isclass(item) and issubclass(item, BaseEvent) and "type" in vars(item)
    }
    assert found == set(EVENT_TYPES.values())
