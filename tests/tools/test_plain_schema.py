"""The quick check of arguments against jsonschema, which it stands in for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, SchemaError

from agentframework import builtin_tools
from agentframework.tools.plain_schema import plain_check

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-3, 3), st.text("ab", max_size=3), st.just([]), st.just({})
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "number", "boolean", "array", "null", "nonsense", 7]),
        "description": st.sampled_from(["what it is", 5]),
        "title": st.just("Name"),
        "default": VALUES,
        "minimum": VALUES,
        "maximum": VALUES,
        "minLength": VALUES,
        "enum": st.one_of(VALUES, st.lists(VALUES, max_size=3)),
        "pattern": st.just("^b"),
    },
)
NAMES = st.sampled_from(["a", "b", "c"])
SCHEMAS = st.fixed_dictionaries(
    {"type": st.sampled_from(["object", "object", "object", "array"])},
    optional={
        "properties": st.dictionaries(NAMES, MEMBERS, max_size=3),
        "required": st.one_of(st.lists(NAMES, max_size=3), st.just("a"), st.just([1])),
        "additionalProperties": st.one_of(st.booleans(), st.just({"type": "string"})),
        "title": st.sampled_from(["T", 1]),
        "minProperties": st.just(2),
    },
)


def fits_fully(schema: dict[str, Any], arguments: Any) -> bool:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return Draft202012Validator(schema).is_valid(arguments)


@given(SCHEMAS, st.one_of(st.dictionaries(NAMES, VALUES, max_size=3), VALUES))
def test_what_the_quick_check_lets_pass_the_full_one_lets_pass(schema: dict[str, Any], arguments: Any) -> None:
    quick = plain_check(schema)
    assert quick is None or not quick(arguments) or fits_fully(schema, arguments)


PLAIN = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "description": "Where."},
        "mode": {"type": "string", "enum": ["r", "w"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 10},
        "share": {"type": "number", "default": 0.5, "title": "Share"},
        "all": {"type": "boolean"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "arguments",
    [{"path": "x"}, {"path": "x", "mode": "r", "count": 10, "share": 1.5, "all": False}, {"path": "é", "share": 2}],
)
def test_ordinary_arguments_pass_quickly(arguments: dict[str, Any]) -> None:
    quick = plain_check(PLAIN)
    assert quick is not None
    assert quick(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"path": ""}, {"path": 1}, {"path": "x", "mode": "a"}, {"path": "x", "count": 11},
        {"path": "x", "count": -1},
        {"path": "x", "count": True}, {"path": "x", "share": "1"}, {"path": "x", "all": 1}, {"path": "x", "odd": 1}, [],
    ],
)  # fmt: skip
def test_what_does_not_fit_is_left_to_the_full_check(arguments: Any) -> None:
    quick = plain_check(PLAIN)
    assert quick is not None
    assert not quick(arguments)
    assert not fits_fully(PLAIN, arguments)


def test_the_tools_that_are_called_most_are_of_the_plain_kind() -> None:
    tools = builtin_tools().pick("Bash", "Read", "Write", "Edit", "Glob", "Grep")
    assert [tool.name for tool in tools if plain_check(tool.input_schema) is None] == []
