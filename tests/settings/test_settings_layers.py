import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from settingskit import write

from agentframework import host_settings_source, load_settings
from agentframework.settings.located import parse_located

RULES = st.lists(st.sampled_from(["Read", "Bash(a:*)", "Bash(b)", "WebFetch", 5, None, ""]), max_size=4)
LAYER = st.fixed_dictionaries(
    {},
    optional={
        "permissions": st.fixed_dictionaries({}, optional={"allow": RULES, "deny": RULES, "ask": RULES}),
        "defaultTrustLevel": st.sampled_from(["safe", "moderate", "full"]),
        "env": st.dictionaries(st.sampled_from("AB"), st.sampled_from(["x", "y"]), max_size=2),
        "model": st.sampled_from(["opus", "haiku"]),
        "statusLine": st.integers(),
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(LAYER, max_size=4))
def test_layers_add_up_by_the_rule_of_each_key(layers: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        paths = [write(Path(folder) / f"{number}.json", layer) for number, layer in enumerate(layers)]
        loaded = load_settings([host_settings_source("user", path) for path in paths])
    for effect in ("allow", "deny", "ask"):
        said = [entry for layer in layers for entry in layer.get("permissions", {}).get(effect, [])]
        united = getattr(loaded.settings.permissions, effect)
        assert united == [entry for number, entry in enumerate(said) if entry not in said[:number]]
        for number, entry in enumerate(united):
            origin = loaded.origins[f"permissions.{effect}[{number}]"]
            text = Path(origin.layer.path).name
            assert entry in layers[int(text.removesuffix(".json"))]["permissions"][effect]
    levels = [layer["defaultTrustLevel"] for layer in layers if "defaultTrustLevel" in layer]
    strictest = min(levels, key=["safe", "moderate", "full"].index, default=None)
    assert loaded.settings.default_trust_level == strictest
    env: dict[str, str] = {}
    for layer in layers:
        env |= layer.get("env", {})
    assert loaded.settings.env == env
    assert loaded.settings.model == next((one["model"] for one in reversed(layers) if "model" in one), None)


@given(JSON, st.sampled_from([None, 1, 4]))
def test_a_located_value_is_the_value_and_lines_are_those_of_the_text(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    located = parse_located(text)
    assert located.value == value
    lines = text.split("\n")
    for key, (line, column) in located.places.items():
        if key and isinstance(key[-1], str):
            assert lines[line - 1][column - 1 :].startswith(json.dumps(key[-1]))


def test_a_key_that_stands_twice_loses_no_rule(tmp_path: Path) -> None:
    text = '{"permissions": {"deny": ["Read"]}, "permissions": {"allow": [], "deny": ["Write"]}}'
    loaded = load_settings([host_settings_source("user", write(tmp_path / "s.json", text))])
    assert loaded.settings.permissions.deny == ["Read", "Write"]
    assert ["stands twice" in one.message for one in loaded.diagnostics] == [True]


def test_settings_as_found_in_the_wild_load_with_one_finding_for_what_is_inert(tmp_path: Path) -> None:
    values = {
        "$schema": "https://example.org/s.json",
        "permissions": {"allow": "Read", "additionalDirectories": ["/nowhere/at/all"], "defaultMode": "acceptEdits"},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        "env": {"A": 1, "B": {"x": 2}},
        "model": "opus",
        "enabledPlugins": {"a@b": True, "c@d": "yes please"},
        "enableAllProjectMcpServers": True,
        "includeCoAuthoredBy": False,
        "statusLine": {"type": "command", "command": "x"},
    }
    loaded = load_settings([host_settings_source("user", write(tmp_path / "s.json", values))])
    assert loaded.settings.permissions.allow == ["Read"]
    assert loaded.settings.env == {"A": 1}
    assert loaded.settings.enabled_plugins == {"a@b": True}
    assert [one.level for one in loaded.diagnostics] == ["info", "warning", "warning", "warning"]
    assert "includeCoAuthoredBy, statusLine" in loaded.diagnostics[0].message
