from pathlib import Path
from typing import Any

import pytest
from settingskit import repository, service, write

from agentframework import (
    AnthropicProvider,
    ConfigurationError,
    MissingCredentialsError,
    OpenAIProvider,
    host_settings_source,
    load_settings,
    resolve_provider,
)


def profile(**values: Any) -> dict[str, Any]:
    return {"currentProvider": "mine", "providers": {"mine": values}}


def test_the_current_profile_becomes_a_provider() -> None:
    environment = {"KEY_OF_MINE": "k"}
    made = resolve_provider(
        profile(type="anthropic", model="claude-sonnet-4-6", apiKey="$ENV:KEY_OF_MINE"), environment=environment
    )
    assert isinstance(made, AnthropicProvider)
    assert made.default_model == "claude-sonnet-4-6"
    assert isinstance(resolve_provider(profile(type="openai-chat", apiKey="k"), environment={}), OpenAIProvider)


def test_without_a_profile_the_key_that_is_set_decides() -> None:
    assert isinstance(resolve_provider({}, environment={"OPENAI_API_KEY": "k"}), OpenAIProvider)


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        (profile(type="anthropic", apiKey="$ENV:NOT_SET_ANYWHERE"), MissingCredentialsError, "NOT_SET_ANYWHERE"),
        (profile(type="anthropic"), MissingCredentialsError, "ANTHROPIC_API_KEY"),
        (profile(type="telepathy"), ConfigurationError, "telepathy"),
        (profile(type="anthropic", apiKey="k", options={"colour": 1}), ConfigurationError, "colour"),
        ({"currentProvider": "gone", "providers": {}}, ConfigurationError, "gone"),
        ({"providers": 3}, ConfigurationError, "cannot be used"),
    ],
)
def test_a_profile_that_cannot_work_says_what_to_do(settings: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        resolve_provider(settings, environment={})


async def test_the_key_of_the_user_never_goes_to_an_address_of_the_project(tmp_path: Path) -> None:
    root = repository(tmp_path / "app")
    write(root / "s.json", {"providers": {"mine": {"baseURL": "https://elsewhere.test"}}})
    source = host_settings_source("user", write(tmp_path / "u.json", profile(type="anthropic", apiKey="secret")))
    access = await service(tmp_path).grant(root)
    loaded = load_settings([source], access, [{"scope": "project", "relative_path": "s.json"}])
    with pytest.raises(MissingCredentialsError, match="the project chose the address"):
        resolve_provider(loaded.settings, environment={"ANTHROPIC_API_KEY": "other"})
    assert ["is not used with it" in one.message for one in loaded.diagnostics] == [True]
    assert "secret" not in "".join(map(str, loaded.diagnostics))
