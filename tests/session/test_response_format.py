import json
from typing import Any

import pytest
from pydantic import BaseModel

from agentframework import create_query
from agentframework.errors import ConfigurationError, LimitExceededError, StructuredOutputError
from agentframework.testing import ScriptedProvider, call, say
from agentframework.transports.headless import create_headless_runner

A = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
OUTPUT = {"type": "object", "properties": {"output": {"type": "object"}}, "required": ["output"]}


class Point(BaseModel):
    x: int
    label: str


async def value_of(make_session: Any, *steps: Any, **options: Any) -> Any:
    handle = await make_session(*steps, **options).submit("go")
    return (await handle.completed).structured_output


@pytest.mark.parametrize("reply", ['{"a":1}', ' {"a": 1}\n', '```json\n{"a": 1}\n```', '```\n{"a":1}```'])
async def test_a_value_bare_or_in_one_fence_is_taken_at_once(make_session, reply: str) -> None:
    assert await value_of(make_session, reply, response_format=A) == {"a": 1}


@pytest.mark.parametrize(
    "reply", ['{"output":{"a":1}}', '{"a":"1"}', "The answer is 1.", '{"a":1} and more', "[1]", ""]
)
async def test_anything_else_is_asked_for_again_and_never_guessed_at(make_session, reply: str) -> None:
    provider = ScriptedProvider(say(reply), '{"a":2}')
    assert await value_of(make_session, provider=provider, response_format=A) == {"a": 2}
    assert provider.requests[0].response_schema == A
    correction = provider.requests[1].messages[-1].text
    assert "does not match" in correction
    assert json.dumps(A) in correction


async def test_a_schema_with_a_field_named_output_is_taken_as_it_is(make_session) -> None:
    assert await value_of(make_session, '{"output":{"a":1}}', response_format=OUTPUT) == {"output": {"a": 1}}


async def test_a_reply_that_never_fits_is_an_error_of_its_own(make_session) -> None:
    with pytest.raises(StructuredOutputError, match="no reply matched") as caught:
        await value_of(make_session, "no", "no", "no", response_format=A)
    assert caught.value.code == "STRUCTURED_OUTPUT_INVALID"


async def test_the_limit_of_rounds_holds_for_asking_again(make_session) -> None:
    with pytest.raises(LimitExceededError):
        await value_of(make_session, "no", response_format=A, max_turns=1)


async def test_tools_may_be_used_on_the_way_and_an_allow_list_changes_nothing(make_session) -> None:
    steps = (say("Let me see. ", call("nothing")), '{"a":3}')
    assert await value_of(make_session, *steps, response_format=A, allowed_tools=["Read"]) == {"a": 3}


async def test_a_pydantic_class_gives_its_instances_and_their_json(make_session) -> None:
    session = make_session('{"x": 1, "label": "here"}', response_format=Point)
    lines: list[bytes] = []
    runner = create_headless_runner(session, output_format="json", write=lines.append)
    assert await runner.run("where?") == 0
    assert json.loads(lines[0])["structured_output"] == {"x": 1, "label": "here"}
    there = await value_of(make_session, '{"x": 2, "label": "there"}', response_format=Point)
    assert there == Point(x=2, label="there")


async def test_a_run_without_a_value_is_never_a_success(make_session) -> None:
    session = make_session("no", "no", "no", response_format=A)
    lines: list[bytes] = []
    assert await create_headless_runner(session, output_format="stream-json", write=lines.append).run("go") == 1
    last = json.loads(lines[-1])
    assert (last["is_error"], last["error_code"]) == (True, "STRUCTURED_OUTPUT_INVALID")
    assert "structured_output" not in last


async def test_a_query_takes_a_format_too(tmp_path) -> None:
    async with create_query(
        provider=ScriptedProvider('{"a":1}'), cwd=tmp_path, default_tools=[], response_format=A
    ) as query:
        assert await query("go") == '{"a":1}'


@pytest.mark.parametrize(
    "given",
    [
        {"type": "json_schema", "json_schema": {"name": "n", "schema": A}},
        {"type": "json_schema", "schema": A},
        A,
    ],
)
async def test_the_three_shapes_of_a_schema_mean_the_same(make_session, given: Any) -> None:
    assert await value_of(make_session, '{"a":1}', response_format=given) == {"a": 1}


async def test_json_object_takes_any_object_and_text_takes_anything(make_session) -> None:
    assert await value_of(make_session, "[1]", '{"b":1}', response_format={"type": "json_object"}) == {"b": 1}
    assert await value_of(make_session, "plain", response_format={"type": "text"}) is None


@pytest.mark.parametrize("bad", [5, {"type": "json_schema"}, {"type": "nonsense"}, {"type": "object", "properties": 5}])
def test_a_format_that_cannot_be_is_refused_at_construction(tmp_path, bad: Any) -> None:
    with pytest.raises(ConfigurationError, match="response_format"):
        create_query(provider=ScriptedProvider(), cwd=tmp_path, default_tools=[], response_format=bad)
