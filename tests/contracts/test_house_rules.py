"""The house rules about code and tests that no linter knows."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import agentframework
from agentframework import events, testing
from agentframework.testing import strict_server

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path for folder in ("agentframework", "tools_builtin", "commands") for path in (ROOT / folder).rglob("*.py")
)
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
MAX_LINES = 70
MAX_PARAMETERS = 8
# Their parameters are the options that users write down by name.
OPTION_CONSTRUCTORS = {
    "Agent.__init__",
    "Agent.run",
    "AnthropicProvider.__init__",
    "InteractiveSession.__init__",
    "OpenAIProvider.__init__",
}
MIN_WORDS = 3

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Every function of a file, with the name of its class before its own."""

    def walk(node: ast.AST, owner: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield f"{owner}{child.name}", child
            yield from walk(child, f"{child.name}." if isinstance(child, ast.ClassDef) else owner)

    return walk(ast.parse(path.read_text(encoding="utf-8")), "")


def _place(path: Path, node: ast.stmt | ast.expr | ast.excepthandler) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{node.lineno}"


def _parameters(function: Function) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in named) + sum(
        one is not None for one in (given.vararg, given.kwarg)
    )


def _lines(name: str, function: Function) -> int:
    """Lines of a function. A list of options is read like a table, so that of a constructor does not count."""
    begin = function.body[0].lineno if name in OPTION_CONSTRUCTORS else function.lineno
    return (function.end_lineno or 0) - begin + 1


def test_every_function_fits_on_a_screen() -> None:
    long = {
        f"{_place(path, function)} {name}": lines
        for path in SOURCES
        for name, function in _functions(path)
        if (lines := _lines(name, function)) > MAX_LINES
    }
    assert long == {}


def test_only_constructors_of_options_take_many_parameters() -> None:
    many = {name for path in SOURCES for name, function in _functions(path) if _parameters(function) > MAX_PARAMETERS}
    assert many == OPTION_CONSTRUCTORS


def test_the_library_leaves_printing_to_the_command_line() -> None:
    found = [
        _place(path, node)
        for path in SOURCES
        if "cli" not in path.relative_to(ROOT).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []


def test_no_handler_catches_what_it_does_not_name() -> None:
    found = [
        _place(path, node)
        for path in [*SOURCES, *TESTS]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and node.type is None
    ]
    assert found == []


def _undocumented(cls: type) -> Iterator[str]:
    """The class itself and its public members, unless they say what they do or a base says it for them."""
    # A dataclass without one gets its signature as docstring.
    if not cls.__doc__ or cls.__doc__.startswith(f"{cls.__name__}("):
        yield cls.__qualname__
    for name, member in vars(cls).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and not inspect.getdoc(getattr(cls, name)):
            yield f"{cls.__qualname__}.{name}"


def test_everything_that_users_call_says_what_it_does() -> None:
    missing: set[str] = set()
    for module in (agentframework, events, testing, strict_server):
        for name in module.__all__:
            item = getattr(module, name)
            if inspect.isclass(item):
                ours = (cls for cls in item.__mro__ if cls.__module__.startswith("agentframework"))
                missing.update(
                    found for cls in ours if not cls.__name__.startswith("_") for found in _undocumented(cls)
                )
            elif inspect.isfunction(item) and not inspect.getdoc(item):
                missing.add(name)
    assert missing == set()


def _tests() -> Iterator[tuple[str, Function]]:
    for path in TESTS:
        for name, function in _functions(path):
            if function.name.startswith("test_"):
                yield f"{_place(path, function)} {name}", function


def test_the_name_of_a_test_is_a_sentence() -> None:
    assert [name for name, function in _tests() if len(function.name.split("_")) - 1 < MIN_WORDS] == []


def test_the_name_of_a_test_is_all_it_says() -> None:
    assert [name for name, function in _tests() if ast.get_docstring(function)] == []
