from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentframework.tools.schema import check_arguments
from agentframework.tools.validator import matcher


def schema(**of_a: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": of_a}}


# Each of these would run for hours in a backtracking engine, or compare each of a hundred thousand with each other.
@pytest.mark.parametrize(
    ("given_schema", "arguments", "fits"),
    [
        (schema(pattern="^(a+)+$"), {"a": "a" * 5_000 + "!"}, False),
        (schema(pattern="(x+x+)+y"), {"a": "x" * 5_000}, False),
        ({"type": "object", "patternProperties": {"^(a|a)*$": False}}, {"a" * 2_000 + "!": 1}, True),
        (
            {"type": "object", "patternProperties": {"^(a|a)*$": {}}, "additionalProperties": False},
            {"a" * 2_000 + "!": 1},
            False,
        ),
        (
            {"type": "object", "patternProperties": {"^(a|a)*$": {}}, "unevaluatedProperties": False},
            {"a" * 2_000 + "!": 1},
            True,
        ),
        (schema(uniqueItems=True), {"a": [{"n": n} for n in range(20_000)]}, True),
        (schema(uniqueItems=True), {"a": [*({"n": n} for n in range(20_000)), {"n": 5}]}, False),
        (schema(pattern="(?=x)(a+)+$"), {"a": "a" * 5_000 + "!"}, True),  # only the tool itself can tell
    ],
)
def test_a_hostile_schema_costs_no_more_than_its_size(
    given_schema: dict[str, Any], arguments: dict[str, Any], fits: bool
) -> None:
    problem = check_arguments(given_schema, arguments)
    assert (problem is None) is fits
    assert problem is None or len(problem) < 400


def test_references_that_double_at_every_level_are_given_up() -> None:
    definitions: dict[str, Any] = {
        f"d{number}": {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2} for number in range(40)
    }
    bomb = {"type": "object", "$ref": "#/$defs/d0", "$defs": {**definitions, "d40": {}}}
    assert "TooComplexError" in str(check_arguments(bomb, {}))


def test_ordinary_references_and_patterns_work_as_before() -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "name": {"pattern": r"^\w+$"}},
        "additionalProperties": False,
    }
    assert check_arguments(tree, {"children": [{"name": "a", "children": []}]}) is None
    assert check_arguments(tree, {"children": [{"name": "a b"}]}) == "children.0.name: 'a b' does not match '^\\\\w+$'"
    assert "'x' was unexpected" in str(check_arguments(tree, {"x": 1}))
    assert check_arguments({"type": "object", "additionalProperties": {"type": "string"}}, {"x": 1}) is not None
    inherited = {"type": "object", "allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}
    assert check_arguments(inherited, {"a": 1}) is None
    assert check_arguments(inherited, {"b": 1}) is not None


def test_a_pattern_is_found_anywhere_and_odd_text_is_text() -> None:
    found = matcher("b+")
    assert found is not None
    assert found("abc")
    assert not found("ac")
    assert check_arguments(schema(pattern="x"), {"a": "\ud800x"}) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 1.5, "a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=40)
@given(st.lists(values, max_size=6))
def test_what_is_unique_is_what_the_standard_says(items: list[Any]) -> None:
    standard = Draft202012Validator({"uniqueItems": True}).is_valid(items)
    assert (check_arguments(schema(uniqueItems=True), {"a": items}) is None) is standard
