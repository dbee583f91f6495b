from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.errors import ConfigurationError
from agentframework.hooks import HookConfig, HookEvent, parse_hooks
from agentframework.hooks.model import BrokenAction, CallAction, CommandAction, HttpAction, PromptAction

TOOLS = ("Bash", "Edit", "MultiEdit", "Write", "mcp__m__write_x")
ECHO = {"type": "command", "command": "echo"}


def names_matched(matcher: Any, names: tuple[str, ...] = TOOLS, event: str = "PreToolUse") -> set[str]:
    config = parse_hooks({event: [{"matcher": matcher, "hooks": [ECHO]}]})
    assert config.problems == ()
    (hook,) = config.hooks[HookEvent(event)]
    return {name for name in names if hook.matches(name)}


def only(config: HookConfig) -> Any:
    """The one hook there is."""
    ((hook,),) = config.hooks.values()
    return hook


@pytest.mark.parametrize("matcher", [None, "", "*", ".*"])
def test_no_matcher_and_those_for_all_match_everything(matcher: Any) -> None:
    assert names_matched(matcher) == set(TOOLS)


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        ("Bash", {"Bash"}),
        ("bash", set[str]()),
        ("Edit", {"Edit"}),
        ("Edit|Write", {"Edit", "Write"}),
        ("Edit|Write|MultiEdit", {"Edit", "Write", "MultiEdit"}),
        ("mcp__.*__write.*", {"mcp__m__write_x"}),
        ("mcp__.*__write", set[str]()),
        (".*Edit", {"Edit", "MultiEdit"}),
        ("^Bash$", {"Bash"}),
    ],
)
def test_a_matcher_is_held_against_the_whole_name(matcher: str, matched: set[str]) -> None:
    assert names_matched(matcher) == matched


def test_session_starts_are_matched_by_their_source() -> None:
    sources = ("startup", "resume", "clear", "compact")
    assert names_matched("startup|resume", sources, "SessionStart") == {"startup", "resume"}


@pytest.mark.parametrize("matcher", ["Edit(", {"tools": ["Bash"]}, ["Bash"], 5, "(" * 5000])
def test_a_bad_matcher_is_reported_and_its_group_skipped_while_others_stay(matcher: Any) -> None:
    groups = [{"matcher": matcher, "hooks": [ECHO]}, {"matcher": "Bash", "hooks": [ECHO]}]
    config = parse_hooks({"PreToolUse": groups})
    assert len(config.hooks[HookEvent.PRE_TOOL_USE]) == 1
    (problem,) = config.problems
    assert problem.startswith("hooks.PreToolUse[0]: the matcher ")
    assert problem.endswith("the group is skipped")


def test_a_matcher_where_there_is_nothing_to_match_is_reported_and_matches() -> None:
    config = parse_hooks({"UserPromptSubmit": [{"matcher": "Bash", "hooks": [ECHO]}]})
    assert only(config).matches("")
    assert "nothing to match" in config.problems[0]


@pytest.mark.parametrize("event", list(HookEvent))
def test_every_event_is_accepted(event: HookEvent) -> None:
    config = parse_hooks({str(event): [{"hooks": [ECHO]}]})
    assert config.problems == ()
    assert list(config.hooks) == [event]


@pytest.mark.parametrize(
    "settings",
    [
        {"PreToolUse": [{"hooks": [ECHO]}]},
        {"hooks": {"PreToolUse": [{"hooks": [ECHO]}]}, "description": "a file of a plugin"},
        {"PreToolUse": {"hooks": [ECHO]}},
        {"PreToolUse": [{"hooks": ECHO}]},
        {"PreToolUse": [ECHO]},
        {"PreToolUse": [{"command": "echo"}]},
        {"PreToolUse": [{"matcher": "*", **ECHO}]},
        {"PreToolUse": ({"hooks": (ECHO,)},)},
    ],
)
def test_the_shapes_of_files_in_the_wild_are_understood(settings: Any) -> None:
    config = parse_hooks(settings)
    assert config.problems == ()
    assert only(config).action == CommandAction("echo")


def test_a_list_in_place_of_the_dict_is_understood_as_far_as_events_are_named() -> None:
    config = parse_hooks({"hooks": [{"event": "PostToolUse", "matcher": "Write", **ECHO}, {"command": "x"}, "y"]})
    assert only(config).matches("Write")
    assert len(config.problems) == 3
    assert config.problems[0].startswith("hooks: is a list")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"beforeShellExecution": [{"command": "x"}]}, "'beforeShellExecution' is no hook event; known are PreToolUse"),
        ({"preToolUse": [{"hooks": [ECHO]}]}, "did you mean PreToolUse?"),
        ({"PreToolUse": "echo"}, "must be a list of groups, not str"),
        ({"PreToolUse": ["echo"]}, "must be a dict with the key hooks"),
        ({"PreToolUse": [{"matcher": "Bash"}]}, "has no list of hooks"),
        ({"PreToolUse": [{"hooks": "echo"}]}, "has no list of hooks"),
        ({"PreToolUse": [{"hooks": ["echo"]}]}, "hooks[0]: a hook must be a dict"),
        ({"PreToolUse": [{"hooks": [{}]}]}, "a hook needs a type"),
        ({"PreToolUse": [{"hooks": [{"command": "x", "url": "y"}]}]}, "a hook needs a type"),
        ({"PreToolUse": [{"hooks": [{"type": "agent", "agent": "x"}]}]}, "hooks of type 'agent' need subagents"),
        ({"PreToolUse": [{"hooks": [{"type": 5}]}]}, "hooks of type 5 are not known here"),
        ({"PreToolUse": [{"hooks": [{"type": "command"}]}]}, "command must be a text"),
        ({"PreToolUse": [{"hooks": [{"type": "command", "command": " "}]}]}, "command must be a text"),
        ({"PreToolUse": [{"hooks": [{"type": "command", "command": "a\0b"}]}]}, "command must be a text"),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "file:///etc/passwd"}]}]}, "url must be an http or https"),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "http://a:b@host/"}]}]}, "without user and password"),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "http://host:99999/"}]}]}, "url must be"),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "http://h", "headers": {"a": 1}}]}]}, "headers must be"),
        ({"PreToolUse": [{"hooks": [{"type": "http", "url": "http://h", "allowedEnvVars": "A"}]}]}, "allowedEnvVars"),
        ({"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x", "model": 5}]}]}, "model must be a name"),
        ({"PreToolUse": [{"hooks": [{"type": "callable", "callable": "x"}]}]}, "callable must be a function"),
    ],
)
def test_what_cannot_be_used_is_reported_and_skipped(settings: Any, problem: str) -> None:
    config = parse_hooks(settings)
    assert not any(config.hooks.values())
    assert len(config.problems) == 1
    assert problem in config.problems[0]


def test_a_broken_hook_leaves_its_neighbours_alone() -> None:
    config = parse_hooks({"PreToolUse": [{"hooks": [{"type": "agent"}, ECHO]}, 5, {"hooks": [ECHO]}]})
    assert len(config.hooks[HookEvent.PRE_TOOL_USE]) == 2
    assert len(config.problems) == 2


@pytest.mark.parametrize(
    ("group", "fail_closed"),
    [
        ({"matcher": "Edit(", "hooks": [{**ECHO, "failClosed": True}]}, False),
        ({"matcher": "Edit(", "hooks": [ECHO]}, True),
        ({"hooks": [{"type": "agent", "failClosed": True}]}, False),
        ({"hooks": [{"type": "command", "failClosed": "yes"}]}, False),
        ({"matcher": "Bash"}, True),
        (5, True),
    ],
)
def test_in_place_of_a_broken_guard_something_fails(group: Any, fail_closed: bool) -> None:
    config = parse_hooks({"PreToolUse": [group]}, fail_closed=fail_closed)
    hook = only(config)
    assert isinstance(hook.action, BrokenAction)
    assert hook.fail_closed
    assert all(hook.matches(name) for name in TOOLS)
    assert config.problems


def test_a_broken_hook_that_guards_nothing_leaves_nothing() -> None:
    settings = {"PreToolUse": [{"hooks": [{"type": "agent", "failClosed": False}]}], "SessionEnd": [5]}
    assert not any(parse_hooks(settings, fail_closed=True).hooks.values())


def test_the_fields_of_all_types_arrive() -> None:
    def guard(event: dict[str, Any]) -> None:
        return None

    hooks = [
        {"type": "command", "command": "check", "timeout": 5, "failClosed": True, "name": "my guard"},
        {"type": "http", "url": "https://h/x?key=1", "headers": {"A": "$B"}, "allowedEnvVars": ["B"]},
        {"type": "prompt", "prompt": "Is it safe?", "model": "haiku"},
        {"type": "callable", "callable": guard},
    ]
    config = parse_hooks({"PreToolUse": [{"hooks": hooks, "env": {"X": "1"}}]})
    assert config.problems == ()
    one, two, three, four = config.hooks[HookEvent.PRE_TOOL_USE]
    assert (one.name, one.action, one.timeout_s, one.fail_closed) == ("my guard", CommandAction("check"), 5.0, True)
    assert two.action == HttpAction("https://h/x?key=1", {"A": "$B"}, frozenset({"B"}))
    assert (two.name, two.timeout_s, two.fail_closed) == ("http: https://h/x", 10.0, False)
    assert three.action == PromptAction("Is it safe?", "haiku")
    assert four.action == CallAction(guard)
    assert four.name.endswith("guard")
    assert all(hook.environment == {"X": "1"} for hook in (one, two, three, four))


def test_the_default_of_failing_closed_holds_unless_a_hook_says_otherwise() -> None:
    hooks = [ECHO, {**ECHO, "failClosed": False}, {**ECHO, "failClosed": True}]
    config = parse_hooks({"PreToolUse": [{"hooks": hooks}]}, fail_closed=True)
    assert [hook.fail_closed for hook in config.hooks[HookEvent.PRE_TOOL_USE]] == [True, False, True]


@pytest.mark.parametrize(
    ("field", "value", "problem", "timeout_s", "closed"),
    [
        ("timeout", "5", "timeout must be a number", 60.0, False),
        ("timeout", 0, "timeout must be a number", 60.0, False),
        ("timeout", True, "timeout must be a number", 60.0, False),
        ("timeout", float("nan"), "timeout must be a number", 60.0, False),
        ("timeout", 5000, "timeout is in seconds", 600.0, False),
        ("timeout", 10**400, "timeout is in seconds", 600.0, False),
        ("failClosed", "true", "it counts as true", 60.0, True),
        ("failclosed", True, "unknown failclosed", 60.0, False),
    ],
)
def test_an_odd_field_is_reported(field: str, value: Any, problem: str, timeout_s: float, closed: bool) -> None:
    config = parse_hooks({"PreToolUse": [{"hooks": [{**ECHO, field: value}]}]})
    assert problem in config.problems[0]
    hook = only(config)
    assert (hook.timeout_s, hook.fail_closed) == (timeout_s, closed)


@pytest.mark.parametrize("env", [5, ["A=b"], {"A": 1}, {"A=B": "x"}, {"": "x"}, {"A": "\0"}])
def test_odd_variables_are_reported_and_left_out(env: Any) -> None:
    config = parse_hooks({"PreToolUse": [{"hooks": [ECHO], "env": env}]})
    assert only(config).environment == {}
    assert "env holds names and texts" in config.problems[0]


@pytest.mark.parametrize("raw", ["PreToolUse", 5, True, object()])
def test_settings_of_no_known_shape_are_refused(raw: object) -> None:
    with pytest.raises(ConfigurationError, match="hooks must be a dict"):
        parse_hooks(raw)


def test_no_settings_are_no_hooks() -> None:
    assert parse_hooks(None) == parse_hooks({}) == HookConfig({}, ())


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
keys = st.sampled_from(
    ["PreToolUse", "Stop", "hooks", "matcher", "type", "command", "url", "prompt", "callable", "timeout", "env",
     "failClosed", "event", "headers"]
) | st.text(max_size=8)  # fmt: skip
values = st.recursive(
    scalars | st.sampled_from(["command", "http", "*", "Edit("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(keys, values, max_size=4) | st.lists(values, max_size=4), st.booleans())
def test_no_settings_are_too_strange_to_be_read(raw: Any, fail_closed: bool) -> None:
    config = parse_hooks(raw, fail_closed=fail_closed)
    for event, hooks in config.hooks.items():
        assert isinstance(event, HookEvent)
        assert all(0 < hook.timeout_s <= 600 for hook in hooks)
