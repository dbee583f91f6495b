import enum
import functools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field
from toolkit import make_context, run

from agentframework import RiskClass, Tool, ToolContext, tool
from agentframework.errors import ConfigurationError
from agentframework.tools.executor import execute_tool
from agentframework.tools.schema import check_arguments

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForCheckers


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


class Shape(BaseModel):
    points: list[Point]
    colour: Colour = Colour.RED


def properties(made: Tool) -> dict[str, Any]:
    return dict(made.input_schema["properties"])


async def test_a_bare_decorator_takes_name_and_description_from_the_function() -> None:
    @tool
    def double(number: int) -> int:
        """Doubles a number.

        Twice as much.
        """
        return number * 2

    assert (double.name, double.description) == ("double", "Doubles a number.\n\nTwice as much.")
    assert (double.risk, double.permission_key) == (None, None)
    assert double.input_schema["required"] == ["number"]
    assert double.input_schema["additionalProperties"] is False
    assert (await run(double, number=4)).content == "8"


async def test_arguments_of_the_decorator_win_over_the_function() -> None:
    @tool(name="twice", description="Another text.", risk="inspect", permission_key="number")
    async def double(number: int) -> str:
        """Doubles a number."""
        return str(number * 2)

    assert (double.name, double.description) == ("twice", "Another text.")
    assert (double.risk, double.permission_key) == (RiskClass.INSPECT, "number")
    assert (await run(double, number=4)).content == "8"


def test_a_description_may_be_left_out_on_purpose() -> None:
    def quiet() -> None:
        """Not for the model."""

    assert tool(description="")(quiet).description == ""


def quiet_function(a: int, b: int = 2) -> int:
    return a + b


def test_a_function_without_a_usable_name_needs_one() -> None:
    for function in (lambda: None, functools.partial(quiet_function, 1)):
        with pytest.raises(ConfigurationError, match="tool name"):
            tool(function)
    assert tool(name="named")(lambda: None).name == "named"


def test_a_tool_can_still_be_called_like_the_function() -> None:
    @tool(risk="inspect")
    def double(number: int) -> int:
        """Doubles."""
        return number * 2

    assert double(3) == double(number=3) == 6


@pytest.mark.parametrize("place", ["first", "middle", "last", "keyword only", "optional", "annotated"])
async def test_the_context_is_passed_wherever_it_is_asked_for(place: str) -> None:
    def first(context: ToolContext, a: int, b: int = 1) -> str:
        return f"{context.tool_use_id} {a} {b}"

    def middle(a: int, here: ToolContext, b: int = 1) -> str:
        return f"{here.tool_use_id} {a} {b}"

    def last(a: int, b: int = 1, *, context: ToolContext) -> str:
        return f"{context.tool_use_id} {a} {b}"

    def optional(a: int, b: int = 1, context: ToolContext | None = None) -> str:
        assert context is not None
        return f"{context.tool_use_id} {a} {b}"

    def annotated(context: Annotated[Optional[ToolContext], "given"], a: int, b: int = 1) -> str:  # noqa: UP045
        assert context is not None
        return f"{context.tool_use_id} {a} {b}"

    functions = {
        "first": first, "middle": middle, "last": last, "keyword only": last, "optional": optional,
        "annotated": annotated,
    }  # fmt: skip
    made = tool(functions[place])
    assert set(properties(made)) == {"a", "b"}
    assert (await run(made, a=2)).content == "call 2 1"


async def test_a_context_asked_for_twice_is_given_twice() -> None:
    @tool
    def same(one: ToolContext, two: ToolContext) -> str:
        return str(one is two)

    assert (await run(same)).content == "True"


async def test_values_arrive_as_what_the_annotations_say() -> None:
    got: dict[str, Any] = {}

    @tool
    def draw(
        shape: Shape,
        colour: Colour,
        mode: Literal["fast", "slow"],
        sizes: list[int],
        labels: dict[str, Point],
        maybe: int | None = None,
        path: Path = Path("x"),
        pair: tuple[int, str] = (1, "a"),
    ) -> None:
        got.update(locals())

    arguments = {
        "shape": {"points": [{"x": 1}]},
        "colour": "blue",
        "mode": "fast",
        "sizes": [1, 2],
        "labels": {"a": {"x": 1, "y": 2}},
        "maybe": None,
    }
    assert check_arguments(draw.input_schema, arguments) is None
    result = await execute_tool(draw, arguments, make_context())
    assert not result.is_error, result.content
    assert got["shape"] == Shape(points=[Point(x=1)])
    assert (got["colour"], got["mode"], got["sizes"]) == (Colour.BLUE, "fast", [1, 2])
    assert got["labels"] == {"a": Point(x=1, y=2)}
    assert (got["maybe"], got["path"], got["pair"]) == (None, Path("x"), (1, "a"))


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"shape": {"points": [{"x": "one"}]}}, "shape.points.0.x"),
        ({"shape": {"points": 3}}, "shape.points"),
        ({"shape": {}}, "shape"),
        ({"shape": {"points": [], "colour": "green"}}, "shape.colour"),
        ({"shape": {"points": []}, "other": 1}, "arguments"),
        ({}, "arguments"),
    ],
)
def test_the_schema_says_where_nested_arguments_are_wrong(arguments: dict[str, Any], where: str) -> None:
    @tool
    def draw(shape: Shape) -> None:
        """Draws."""

    fault = check_arguments(draw.input_schema, arguments)
    assert fault is not None
    assert fault.startswith(f"{where}: ")


async def test_defaults_are_left_to_the_function_and_shown_if_they_are_json() -> None:
    missing = object()

    @tool
    def look(depth: int = 3, where: Any = missing, seen: list[str] | None = None) -> str:
        return f"{depth} {where is missing} {seen}"

    assert "required" not in look.input_schema
    assert properties(look)["depth"]["default"] == 3
    assert "default" not in properties(look)["where"]
    assert (await run(look)).content == "3 True None"
    assert (await run(look, where="there", depth=4)).content == "4 False None"


@pytest.mark.parametrize(
    "name", ["json", "schema", "copy", "model_config", "model_dump", "_hidden", "self_", "p0", "validate", "cls"]
)
async def test_a_parameter_may_have_any_name(name: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def echo({name}: str, p1: int = 2) -> str: return f'{{{name}}} {{p1}}'", scope)
    made = tool(scope["echo"])
    assert set(properties(made)) == {name, "p1"}
    assert made.input_schema["required"] == [name]
    assert (await run(made, **{name: "hi"})).content == "hi 2"
    assert "unknown_one" in (await run(made, **{name: "hi", "unknown_one": 1})).content


def test_a_field_description_wins_over_the_docstring_and_constraints_are_shown() -> None:
    @tool
    def look(depth: Annotated[int, Field(ge=1, description="From the field.")] = 1, width: int = 1) -> None:
        """Looks.

        Args:
            depth: From the docstring.
            width: Of the view.
        """

    assert properties(look)["depth"]["description"] == "From the field."
    assert properties(look)["depth"]["minimum"] == 1
    assert properties(look)["width"]["description"] == "Of the view."


GOOGLE = """Finds things.

    Everywhere.

    Args:
        query: What to look for. For example:
            note: this still belongs to it

            and this
        limit (int, optional): The most
            results wanted.
        odd:
            Its text begins on the next line.
        bare:

    Returns:
        What was found.

    Note: not a parameter.
    """
REST = """Finds things.

    Everywhere.

    :param query: What to look for. For example:
        note: this still belongs to it
        and this
    :param int limit: The most
        results wanted.
    :param odd: Its text begins on the next line.
    :param bare:
    :returns: What was found.
    """


@pytest.mark.parametrize("doc", [GOOGLE, REST])
def test_parameters_are_described_by_the_docstring(doc: str) -> None:
    def find(query: str, limit: int = 1, odd: int = 1, bare: int = 1, note: int = 1) -> None: ...

    find.__doc__ = doc
    made = tool(find)
    assert made.description == "Finds things.\n\nEverywhere."
    described = {name: member.get("description") for name, member in properties(made).items()}
    assert described == {
        "query": "What to look for. For example: note: this still belongs to it and this",
        "limit": "The most results wanted.",
        "odd": "Its text begins on the next line.",
        "bare": None,
        "note": None,
    }


def test_a_docstring_of_another_style_reaches_the_model_whole() -> None:
    @tool
    def find(query: str) -> None:
        """Finds things.

        Parameters
        ----------
        query : str
            What to look for.
        """

    assert "What to look for." in find.description


def positional_only(a: int, /) -> None: ...
def context_positional_only(context: ToolContext, /) -> None: ...
def many(*values: int) -> None: ...
def context_many(*contexts: ToolContext) -> None: ...
def keywords(**values: int) -> None: ...
def unresolved(a: "NoSuchType") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def broken(a: "int[") -> None: ...  # type: ignore[valid-type]  # noqa: F722
def no_schema(a: subprocess.Popen[bytes]) -> None: ...
def no_json(a: Callable[[int], int]) -> None: ...
def field_as_default(a: int = Field(3, ge=1)) -> None: ...


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (positional_only, "parameter a must be an ordinary named one"),
        (context_positional_only, "parameter context must be an ordinary named one"),
        (many, "parameter values must be an ordinary named one"),
        (context_many, "parameter contexts must be an ordinary named one"),
        (keywords, "parameter values must be an ordinary named one"),
        (unresolved, "'NoSuchType' is not defined"),
        (broken, "annotations cannot be read"),
        (no_schema, "Popen"),
        (no_json, "JsonSchema"),
        (field_as_default, "Annotated"),
    ],
)
def test_a_signature_that_no_schema_describes_is_refused(function: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as caught:
        tool(function)
    assert function.__name__ in str(caught.value)


def test_what_a_function_returns_need_not_be_known() -> None:
    @tool
    def price(name: str) -> "OnlyForCheckers":
        raise AssertionError(name)

    assert set(properties(price)) == {"name"}


async def test_parameters_without_annotation_take_anything() -> None:
    @tool
    def echo(value, other="x"):  # type: ignore[no-untyped-def]
        return f"{value} {other}"

    assert (await run(echo, value=[1, {"a": 2}])).content == "[1, {'a': 2}] x"


async def test_methods_and_wrapped_functions_become_tools() -> None:
    @dataclass
    class Shop:
        stock: int

        def left(self, minimum: int = 0) -> str:
            """How many are left."""
            return str(max(self.stock, minimum))

    def logged(function: Any) -> Any:
        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

        return wrapper

    @tool
    @logged
    async def greet(point: Point, context: ToolContext) -> str:
        """Greets."""
        return f"{point.x} {context.turn_id}"

    left = tool(Shop(7).left)
    assert (left.name, left.description, set(properties(left))) == ("left", "How many are left.", {"minimum"})
    assert (await run(left)).content == "7"
    assert (await run(greet, point={"x": 5})).content == "5 turn"


async def test_what_a_validator_refuses_is_an_argument_error() -> None:
    @tool
    def wait_until(day: date) -> str:
        return day.isoformat()

    assert (await run(wait_until, day="2024-02-29")).content == "2024-02-29"
    result = await run(wait_until, day="2023-02-29")
    assert result.is_error
    assert "[TOOL_ARGUMENTS_INVALID]" in result.content
    assert "day:" in result.content


def test_a_schema_has_no_title_of_ours_and_is_json() -> None:
    @tool
    def draw(title: str, shape: Shape) -> None:
        """Draws."""

    assert "title" not in draw.input_schema
    assert set(properties(draw)) == {"title", "shape"}
    assert json.loads(json.dumps(draw.input_schema)) == draw.input_schema


def test_annotations_as_text_are_understood(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from __future__ import annotations\n"
        "from pydantic import BaseModel\n"
        "from agentframework import tool, ToolContext\n"
        "class Item(BaseModel):\n    name: str\n"
        "@tool\n"
        "def keep(item: Item, context: ToolContext, count: int | None = None) -> Unknown: ...\n"
        "print(sorted(keep.input_schema['properties']))\n"
    )
    script = [sys.executable, str(tmp_path / "mine.py")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "['count', 'item']"


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a.b", "read\n"])
def test_a_tool_with_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="1 to 64"):
        Tool(name, "", {"type": "object"}, lambda _arguments, _context: None)


@pytest.mark.parametrize("schema", [{}, {"type": "string"}, {"type": ["object", "null"]}])
def test_a_tool_whose_schema_is_no_object_schema_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="type object"):
        Tool("t", "", schema, lambda _arguments, _context: None)


def test_an_unknown_risk_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="inspect, modify, execute"):
        Tool("t", "", {"type": "object"}, lambda _arguments, _context: None, "harmless")
