"""A provider from a profile of the settings."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from agentframework.errors import ConfigurationError, MissingCredentialsError
from agentframework.providers.protocol import Provider
from agentframework.settings import UnsetVariableError, expand
from agentframework.settings.schema import ProviderProfile, Settings

_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY"}


def provider_of(given: Settings | Mapping[str, Any], environment: Mapping[str, str]) -> Provider | None:
    """The provider of the current profile; None if no profile is named. Raises `ConfigurationError`."""
    try:
        settings = given if isinstance(given, Settings) else Settings.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(f"the settings cannot be used: {error}", details={"field": "settings"}) from error
    name = settings.current_provider
    if name is None:
        return None
    profile = settings.providers.get(name)
    if profile is None:
        known = ", ".join(settings.providers) or "none"
        raise _refused(name, f"currentProvider is {name!r}, but providers has no such profile (it has: {known})")
    try:
        return _make(name, profile, environment)
    except UnsetVariableError as error:
        raise MissingCredentialsError(
            f"the provider profile {name!r} needs the environment variable {error.name}, which is not set",
            details={"field": f"providers.{name}", "variable": error.name},
        ) from None


def _make(name: str, profile: ProviderProfile, environment: Mapping[str, str]) -> Provider:
    kind = profile.type or name
    options = expand(dict(profile.options), environment)
    if profile.model is not None:
        options["default_model"] = expand(profile.model, environment)
    if kind in _KEYS:
        options["api_key"] = _key(name, kind, profile, environment)
        options["base_url"] = expand(profile.base_url, environment)
        if profile.timeout is not None:
            options["timeout_s"] = profile.timeout
    try:
        if kind == "anthropic":
            from agentframework.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - heavy, only if used

            return AnthropicProvider(**options)
        if kind in ("openai", "openai-chat"):
            from agentframework.providers.openai import OpenAIProvider  # noqa: PLC0415

            return OpenAIProvider(api="chat" if kind == "openai-chat" else "responses", **options)
        if kind == "local":
            from agentframework.providers.local import LocalProvider  # noqa: PLC0415

            return LocalProvider(model_path=options.get("default_model"))
    except TypeError as error:
        raise _refused(name, f"the provider profile {name!r} has an option that does not exist: {error}") from None
    raise _refused(name, f"the provider profile {name!r} is of type {kind!r}; types are {', '.join((*_KEYS, 'local'))}")


def _key(name: str, kind: str, profile: ProviderProfile, environment: Mapping[str, str]) -> str:
    if profile.api_key is not None:
        return expand(profile.api_key, environment)
    if profile.address_of_project:
        raise _missing(name, "the project chose the address, so the key has to stand in its profile too")
    if not environment.get(_KEYS[kind]):
        raise _missing(name, f"write apiKey into it, or set {_KEYS[kind]}")
    return environment[_KEYS[kind]]


def _missing(name: str, problem: str) -> MissingCredentialsError:
    return MissingCredentialsError(
        f"the provider profile {name!r} has no key: {problem}", details={"field": f"providers.{name}.apiKey"}
    )


def _refused(name: str, problem: str) -> ConfigurationError:
    return ConfigurationError(problem, details={"field": f"providers.{name}"})
