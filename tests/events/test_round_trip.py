import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentframework.errors import InvalidInputError
from agentframework.events import EVENT_TYPES, Event, TextDelta, ThinkingDelta, from_dict, merge_deltas, to_dict

json_data = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers() | st.text(max_size=5))
times = st.integers(0, 4_000_000_000_000).map(lambda ms: ms / 1000)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: st.integers(0, 2**40),
    float: times,
    bool: st.booleans(),
    type(None): st.none(),
    Any: st.none(),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation as the vocabulary uses them."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*[values(arg) for arg in args])
    if origin is tuple:
        return st.lists(values(args[0]), max_size=3).map(tuple)
    if origin is Sequence:
        return st.just(())
    if origin in (Mapping, dict):
        return json_data
    if dataclasses.is_dataclass(hint):
        return instances(typing.cast(type, hint))
    raise AssertionError(f"no strategy for {hint}")


def instances(cls: type) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    fields = {f.name: values(hints[f.name]) for f in dataclasses.fields(cls) if f.init}
    return st.builds(cls, **fields)


@pytest.mark.parametrize("name", sorted(EVENT_TYPES))
@settings(max_examples=15)
@given(data=st.data())
def test_every_event_survives_json(name: str, data: st.DataObject) -> None:
    event = data.draw(instances(EVENT_TYPES[name]))
    text = json.dumps(to_dict(event))
    assert from_dict(json.loads(text)) == event


def test_the_vocabulary_is_what_it_is() -> None:
    assert sorted(EVENT_TYPES) == sorted(
        """
        text_delta thinking_delta tool_call_delta raw_model_event model_completed
        turn_started iteration_started user_message thinking complete interrupted error max_iterations_reached
        retry steer_result loop_detected
        tool_calls_detected tool_start tool_progress tool_end tool_results permission_request ask_request
        prompt_resolved tool_approval_result permission_decision
        session_started context_update compact skill_activation context_file_refreshed session_renamed
        history_cleared hook_error warning ui_intent
        mcp_server_status mcp_tool_discovered mcp_tool_catalog_updated mcp_server_configuration_changed
        background_task_event background_job_group_event execution_workspace_event goal_event plan_event
        branch_event memory_event
        """.split()  # noqa: SIM905 - a list of words reads better as words
    )
    assert set(get_args(Event)) == set(EVENT_TYPES.values())


def test_time_is_iso_8601_in_json() -> None:
    assert to_dict(TextDelta("s", "t", 1, 0.5, "x")) == {
        "type": "text_delta",
        "session_id": "s",
        "turn_id": "t",
        "seq": 1,
        "time": "1970-01-01T00:00:00.500000Z",
        "text": "x",
    }


def test_unknown_types_and_fields_are_let_pass() -> None:
    known = to_dict(TextDelta("s", None, 1, 0.5, "x"))
    assert from_dict({"type": "from_the_future"}) is None
    assert from_dict({**known, "new_field": 1}) == TextDelta("s", None, 1, 0.5, "x")


@pytest.mark.parametrize(("field", "value"), [("seq", "many"), ("time", "noon"), ("text", None)])
def test_a_bad_field_is_named(field: str, value: object) -> None:
    broken = {**to_dict(TextDelta("s", None, 1, 0.5, "x")), field: value}
    with pytest.raises(InvalidInputError, match=f"not a valid TextDelta: {field}"):
        from_dict(broken)


def test_only_neighbouring_deltas_of_one_kind_and_turn_are_merged() -> None:
    first = TextDelta("s", "t", 1, 0.5, "a")
    assert merge_deltas(first, TextDelta("s", "t", 2, 0.6, "b")) == TextDelta("s", "t", 2, 0.6, "ab")
    assert merge_deltas(first, TextDelta("s", "other", 2, 0.6, "b")) is None
    assert merge_deltas(first, ThinkingDelta("s", "t", 2, 0.6, "b")) is None


def test_events_cannot_be_changed() -> None:
    event: Any = TextDelta("s", "t", 1, 0.5, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.text = "b"
