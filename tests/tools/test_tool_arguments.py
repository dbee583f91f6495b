import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.tools.schema import check_arguments

WAIT_S = 10


def schema_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": sorted(properties)}


@pytest.mark.parametrize(
    ("member", "good", "bad"),
    [
        ({"type": "integer"}, 3, "3"),
        ({"type": "integer"}, 3.0, True),
        ({"type": "string", "enum": ["a"]}, "a", "b"),
        ({"type": "array", "items": {"type": "string"}}, ["a"], ["a", 1]),
        ({"type": "array", "prefixItems": [{"const": 1}], "items": False}, [1], [1, 2]),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1),
        ({"$ref": "#/$defs/small"}, 1, 10),
        ({"type": "string", "pattern": "^a+$"}, "aa", "b"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}),
        (True, 1, None),
    ],
)
def test_arguments_are_checked_by_json_schema_2020(member: Any, good: Any, bad: Any) -> None:
    schema = {**schema_of(value=member), "$defs": {"small": {"maximum": 5}}}
    assert check_arguments(schema, {"value": good}) is None
    if bad is not None:
        assert (check_arguments(schema, {"value": bad}) or "").startswith("value")
    assert (check_arguments(schema, {}) or "").startswith("arguments: 'value' is a required property")


class Listener:
    """A server that notes whether anybody connects."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]

    def was_visited(self) -> bool:
        try:
            self.socket.accept()[0].close()
        except TimeoutError:
            return False
        return True


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    yield found
    found.socket.close()


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_to_the_network_is_never_fetched(listener: Listener, keyword: str) -> None:
    schema = schema_of(value={keyword: f"http://127.0.0.1:{listener.port}/schema.json"})
    fault = check_arguments(schema, {"value": 1})
    assert "cannot be checked" in (fault or "")
    assert not listener.was_visited()


@pytest.mark.parametrize(
    "reference", ["file:///etc/passwd", "#/$defs/none", "#nowhere", "other.json", "https://x.test/"]
)
def test_a_reference_that_leads_nowhere_is_a_fault(reference: str) -> None:
    assert check_arguments(schema_of(value={"$ref": reference}), {"value": 1}) is not None


@pytest.mark.parametrize(
    "member",
    [
        {"type": "strange"},
        {"type": "string", "pattern": "("},
        {"enum": 5},
        {"properties": []},
        {"items": [{"type": "string"}]},
        "not a schema",
        {"$ref": 5},
        {"minimum": "1"},
    ],
)
def test_a_broken_schema_is_a_fault_and_never_a_pass(member: Any) -> None:
    assert check_arguments(schema_of(value=member), {"value": "x"}) is not None


def test_endless_recursion_is_a_fault() -> None:
    nested: Any = []
    for _ in range(900):
        nested = [nested]
    schema = {**schema_of(value={"$ref": "#/$defs/tree"}), "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}}}}
    assert "RecursionError" in (check_arguments(schema, {"value": nested}) or "")
    circle = {**schema_of(value={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert check_arguments(circle, {"value": 1}) is not None


def test_faults_name_the_place_and_end_with_the_reason() -> None:
    schema = schema_of(items={"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}})
    fault = check_arguments(schema, {"items": [{"n": 1}, {"n": "long " * 200}]})
    assert fault is not None
    assert fault.startswith("items.1.n: 'long ")
    assert fault.endswith("is not of type 'integer'")
    assert len(fault) <= 300


def test_many_faults_are_named_up_to_five() -> None:
    schema = schema_of(items={"type": "array", "items": {"type": "integer"}})
    fault = check_arguments(schema, {"items": ["x"] * 100_000}) or ""
    assert [line.split(":")[0] for line in fault.splitlines()] == [f"items.{number}" for number in range(5)]


def test_checking_large_arguments_takes_no_time_worth_mentioning() -> None:
    schema = {**schema_of(items={"type": "array", "items": {"type": "string"}}), "additionalProperties": False}
    wrong_items = {"items": [1] * 130_000}
    unknown = {"items": [], **{f"key{number}": "x" for number in range(20_000)}}
    assert len(json.dumps(wrong_items)) > 250_000
    began = time.process_time()
    for arguments in (wrong_items, unknown):
        assert check_arguments(schema, arguments) is not None
    assert time.process_time() - began < 2.0


def test_schemas_are_told_apart_by_identity_and_may_be_used_by_threads() -> None:
    schemas = [schema_of(**{f"n{number}": {"type": "integer"}}) for number in range(50)]
    outcomes: list[bool] = []

    def use() -> None:
        for number, schema in enumerate(schemas):
            right = check_arguments(schema, {f"n{number}": 1}) is None
            outcomes.append(right and check_arguments(schema, {f"n{number + 1}": 1}) is not None)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert outcomes == [True] * 200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["type", "items", "enum", "$ref", "pattern", "anyOf", "const"]), json_values),
    json_values,
)
def test_no_schema_and_no_value_make_the_check_fail(member: dict[str, Any], value: Any) -> None:
    fault = check_arguments(schema_of(value=member), {"value": value})
    assert fault is None or len(fault) < 2_000
