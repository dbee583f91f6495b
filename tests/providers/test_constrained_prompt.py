import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    user_text,
)
from agentframework.providers.constrained import ConstrainedOptions, ConstrainedPrompt, build_prompt, chat_body
from agentframework.providers.constrained.examples import call_examples, is_file_name, mentioned_names
from agentframework.providers.constrained.schema import action_schema
from agentframework.providers.protocol import ModelRequest

SMALL = ConstrainedOptions(max_bytes=1_600, small_model=True)
LARGE = ConstrainedOptions(max_bytes=8_000)
READ = ToolSpec(
    "Read",
    "Read a file. More about it.\nAnd more.",
    {
        "type": "object",
        "properties": {"file_path": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}},
        "required": ["file_path"],
    },
)
WEATHER = ToolSpec(
    "get_weather",
    "Get the weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"$ref": "#/$defs/Unit"}},
        "required": ["city", "unit"],
        "$defs": {"Unit": {"enum": ["C", "F"]}},
    },
)
NOW = ToolSpec("now", "Tell the time.", {"type": "object", "properties": {}})


def prompt(
    *messages: Message, tools: list[ToolSpec] | None = None, options: ConstrainedOptions = SMALL, **more: Any
) -> ConstrainedPrompt:
    return build_prompt(ModelRequest("m", messages, tools=[READ] if tools is None else tools, **more), options)


def after_reading(request: str, text: str) -> list[Message]:
    call = ToolCall("c1", "Read", {"file_path": "a.md"}, '{"file_path": "a.md"}')
    return [user_text(request), AssistantMessage((call,)), ToolMessage((ToolResultPart("c1", "Read", text),))]


def accepts(schema: dict[str, Any] | None, action: dict[str, Any]) -> bool:
    assert schema is not None
    return jsonschema.Draft202012Validator(schema).is_valid(action)


def test_each_tool_and_the_answer_are_a_variant() -> None:
    schema = prompt(user_text("What now?"), tools=[READ, WEATHER, NOW], options=LARGE).schema
    assert accepts(schema, {"tool": "Read", "arguments": {"file_path": "a", "offset": 1}})
    assert accepts(schema, {"tool": "get_weather", "arguments": {"city": "Bern", "unit": "C"}})
    assert accepts(schema, {"tool": "now", "arguments": {}})
    assert accepts(schema, {"answer": "Noon."})
    assert not accepts(schema, {"tool": "rm", "arguments": {}})
    assert not accepts(schema, {"tool": "Read", "arguments": {}})
    assert not accepts(schema, {"tool": "get_weather", "arguments": {"city": "Bern", "unit": "K"}})
    assert not accepts(schema, {"tool": "now", "arguments": {}, "answer": "Noon."})


def test_definitions_of_two_tools_with_one_name_stay_apart() -> None:
    other = ToolSpec("other", "", {**WEATHER.input_schema, "$defs": {"Unit": {"enum": ["K"]}}})
    schema = action_schema([WEATHER, other])
    assert accepts(schema, {"tool": "other", "arguments": {"city": "x", "unit": "K"}})
    assert not accepts(schema, {"tool": "other", "arguments": {"city": "x", "unit": "C"}})


def test_what_servers_do_not_take_is_left_out_at_every_depth() -> None:
    deep = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"type": "string", "format": "uri", "title": "T", "not": {"const": "x"}}},
            "b": {"oneOf": [{"type": "string", "minLength": 3}, {"type": "null"}]},
        },
        "required": ["a", "b"],
    }
    text = json.dumps(action_schema([ToolSpec("t", "", deep)]))
    assert not any(word in text for word in ("format", "title", '"not"', "oneOf", "minLength"))
    assert accepts(json.loads(text), {"tool": "t", "arguments": {"a": ["x"], "b": None}})


def test_a_small_model_is_offered_required_arguments_only() -> None:
    schema = prompt(user_text("What now?")).schema
    assert accepts(schema, {"tool": "Read", "arguments": {"file_path": "a"}})
    assert not accepts(schema, {"tool": "Read", "arguments": {"file_path": "a", "offset": 1}})


def test_a_small_model_can_only_name_a_file_that_the_request_names() -> None:
    schema = prompt(user_text("Compare src/a.py with b.txt.")).schema
    for name in ("src/a.py", "b.txt"):
        assert accepts(schema, {"tool": "Read", "arguments": {"file_path": name}})
    assert not accepts(schema, {"tool": "Read", "arguments": {"file_path": "c.txt"}})


def test_after_a_result_a_small_model_answers_and_a_larger_one_may_go_on() -> None:
    messages = after_reading("Read a.md and tell me its title.", "# A")
    call = {"tool": "Read", "arguments": {"file_path": "a.md"}}
    assert not accepts(prompt(*messages).schema, call)
    assert accepts(prompt(*messages).schema, {"answer": "A"})
    assert accepts(prompt(*messages, options=LARGE).schema, call)


def test_the_newest_request_ends_the_prompt_with_its_names_in_quotes() -> None:
    found = prompt(user_text("old"), AssistantMessage((TextPart("reply"),)), user_text("Read README.md, please."))
    assert found.messages[-1] == {"role": "user", "content": 'Read README.md, please.\nNames: "README.md"'}
    assert "Read(file_path): Read a file." in found.messages[0]["content"]
    assert "old" not in json.dumps(found.messages)


def test_a_larger_model_also_sees_what_was_said_before() -> None:
    found = prompt(user_text("old"), AssistantMessage((TextPart("reply"),)), user_text("new"), options=LARGE)
    assert found.messages[-3:] == [
        {"role": "user", "content": "old"},
        {"role": "assistant", "content": '{"answer": "reply"}'},
        {"role": "user", "content": "new"},
    ]


def test_a_result_comes_with_the_request_and_without_file_names_and_line_numbers_for_a_small_model() -> None:
    found = prompt(*after_reading("Read a.md and tell me its title.", "[a.md: 2 lines]\n     1\t# A\n     2\t12 b"))
    assert found.messages[-1]["content"] == "Text:\n# A\n12 b\n\nRequest: Read the text and tell me its title."


def test_results_of_several_rounds_reach_a_larger_model_in_order_under_their_calls() -> None:
    call = ToolCall("c2", "now", {}, "{}")
    more = [AssistantMessage((call,)), ToolMessage((ToolResultPart("c2", "now", "noon"),))]
    content = prompt(*after_reading("Read a.md.", "1\tA"), *more, options=LARGE).messages[-1]["content"]
    assert content == (
        'Text:\nResult of Read {"file_path": "a.md"}:\n1\tA\n\nResult of now {}:\nnoon\n\nRequest: Read a.md.'
    )


def test_the_example_closest_to_the_request_comes_last() -> None:
    asked = prompt(user_text("Read x.md and tell me its title.")).messages[-3]["content"]
    answered = prompt(*after_reading("What does a.md say about the port?", "port = 1")).messages[-3]["content"]
    assert asked.startswith("Read poem.txt and tell me its title.")
    assert answered.endswith("What does the text say about the port?")


def test_a_tool_without_an_example_gets_one_from_its_description_and_schema() -> None:
    [example] = call_examples([WEATHER])
    assert example.request == "Get the weather of a city. city my city, unit C"
    assert example.action == {"tool": "get_weather", "arguments": {"city": "my city", "unit": "C"}}


def test_every_example_keeps_to_the_schema_it_illustrates() -> None:
    found = prompt(user_text("Get the weather of a city now."), tools=[READ, WEATHER, NOW], options=LARGE)
    shown = [json.loads(m["content"]) for m in found.messages if m["role"] == "assistant"]
    assert {action.get("tool") for action in shown} >= {"get_weather", "now", "Read"}
    assert all(accepts(found.schema, action) for action in shown)


def test_of_many_tools_the_prompt_offers_the_likeliest() -> None:
    tools = [ToolSpec(f"tool_{n}", f"Does number {n}.", {"type": "object"}) for n in range(30)]
    found = prompt(user_text("What is the weather in the city of Bern?"), tools=[*tools, WEATHER])
    assert "get_weather(" in found.messages[0]["content"]
    assert found.messages[0]["content"].count("Does number") == 7


def test_a_short_system_prompt_is_passed_on_and_a_long_one_is_not() -> None:
    assert prompt(user_text("Hi"), system="Be brief.").messages[0]["content"].endswith("\nBe brief.")
    assert "Be brief." not in prompt(user_text("Hi"), system="Be brief." * 100).messages[0]["content"]


def test_without_tools_the_conversation_is_sent_as_it_is_and_the_reply_is_plain_text() -> None:
    found = prompt(user_text("a"), AssistantMessage((TextPart("b"),)), user_text("c"), tools=[], system="s")
    assert [m["content"] for m in found.messages] == ["s", "a", "b", "c"]
    assert (found.schema, found.reply) == (None, "text")


def test_a_response_format_is_the_schema_of_the_answer() -> None:
    wanted = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    found = prompt(user_text("Hi"), response_schema=wanted)
    assert found.reply == "json"
    assert accepts(found.schema, {"answer": {"n": 1}})
    assert not accepts(found.schema, {"answer": "one"})


def test_the_body_asks_for_the_schema_at_temperature_0_unless_told_otherwise() -> None:
    request = ModelRequest("m", [user_text("Hi")], tools=[NOW], max_output_tokens=7)
    body = chat_body(request, build_prompt(request, LARGE))
    assert body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert (body["model"], body["temperature"], body["stream"], body["max_tokens"]) == ("m", 0, True, 7)
    warm = ModelRequest("m", [user_text("Hi")], temperature=0.5)
    assert chat_body(warm, build_prompt(warm, LARGE))["temperature"] == 0.5
    assert "response_format" not in chat_body(warm, build_prompt(warm, LARGE))


@given(st.text(max_size=40).map(lambda text: text * 200), st.text(max_size=40).map(lambda text: text * 200))
def test_a_prompt_is_bounded_whatever_the_conversation_holds(request: str, result: str) -> None:
    fixed = 6_000  # examples, tool lines, names
    for messages in ([user_text(request)], after_reading(request, result)):
        for tools in ([], [READ]):
            found = prompt(*messages, tools=tools)
            content = "".join(message["content"] for message in found.messages)
            assert len(content.encode()) <= SMALL.max_bytes + fixed


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_a_prompt_never_holds_a_lone_surrogate(text: str) -> None:
    for messages in ([user_text(text)], after_reading(text, text)):
        found = prompt(*messages)
        json.dumps([found.messages, found.schema], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Read README.md and tell me its title.", ["README.md"]),
        ("Open ./src/lib.rs, then .env!", ["./src/lib.rs", ".env"]),
        ("Run `npm test` and look for \"a b\" in 'c.txt'", ["npm test", "a b", "c.txt"]),
        ("Where is load_user? What about TIMEOUT?", ["load_user", "TIMEOUT"]),
        ("Look at Makefile and @docs/a.md", ["Makefile", "docs/a.md"]),
        ("Don't list the JSON files, e.g. none.", []),
        ("Hello there.", []),
    ],
)
def test_names_are_found_in_running_text(text: str, names: list[str]) -> None:
    assert mentioned_names(text) == names


@pytest.mark.parametrize(
    ("name", "is_file"),
    [
        ("README.md", True),
        ("src/a", True),
        (".gitignore", True),
        ("Makefile", True),
        ("**/*.py", False),
        ("https://example.com/a.md", False),
        ("npm test", False),
        ("load_user", False),
        ("3.5", False),
    ],
)
def test_files_are_told_from_other_names(name: str, is_file: bool) -> None:
    assert is_file_name(name) is is_file
