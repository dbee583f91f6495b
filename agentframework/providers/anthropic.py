"""`AnthropicProvider`: Claude over Anthropic's Messages API, and servers that are compatible with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentframework.providers.anthropic_events import AnthropicReply
from agentframework.providers.anthropic_wire import ORIGIN, encode_request
from agentframework.providers.api_client import ClientSettings
from agentframework.providers.api_provider import ApiProvider, WireApi
from agentframework.providers.definitions import (
    ANTHROPIC_ALIASES,
    ANTHROPIC_DEFAULT_MODEL,
    ANTHROPIC_FAMILIES,
)
from agentframework.providers.endpoint import Vendor, resolve_endpoint
from agentframework.providers.protocol import RetryPolicy
from agentframework.providers.steady import DEFAULT_RETRY

if TYPE_CHECKING:
    import httpx2

_VENDOR = Vendor("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com")


class AnthropicProvider(ApiProvider):
    """Answers with Claude. One object serves any number of sessions.

    ``api_key`` and ``base_url`` (without ``/v1``) fall back to ``ANTHROPIC_API_KEY`` and ``ANTHROPIC_BASE_URL``, as
    in Anthropic's SDK; a server on this machine needs no key. ``timeout_s`` limits the wait for a reply to begin,
    ``idle_timeout_s`` the silence inside it. An ``http_client`` (an ``httpx2.AsyncClient``) stays the caller's to
    close. An effort turns on adaptive thinking where the model has it; ``none`` turns thinking off.
    ``no_think`` ends prompts in ``/no_think``, which some open models understand.

    Raises `MissingCredentialsError` or `ConfigurationError` at once.
    """

    def __init__(  # noqa: PLR0913 - the options of the public class
        self,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        default_model: str = ANTHROPIC_DEFAULT_MODEL,
        headers: Mapping[str, str] | None = None,
        retry: RetryPolicy = DEFAULT_RETRY,
        timeout_s: float = 600.0,
        idle_timeout_s: float = 120.0,
        http_client: "httpx2.AsyncClient | None" = None,
        no_think: bool = False,
    ) -> None:
        endpoint = resolve_endpoint(_VENDOR, api_key, base_url, headers)
        settings = ClientSettings(endpoint, timeout_s, idle_timeout_s, http_client)
        super().__init__(_API, settings, retry, default_model, no_think=no_think)


def _build_client(settings: ClientSettings, timeout: Any) -> Any:
    import anthropic  # noqa: PLC0415 - 1.8 s and 77 MiB, paid in a thread by those who use it

    return anthropic.AsyncAnthropic(**settings.client_arguments(timeout), open_telemetry=False)


_API = WireApi(
    name=ORIGIN,
    path="/v1/messages",
    encode=encode_request,
    fold=AnthropicReply,
    families=ANTHROPIC_FAMILIES,
    aliases=ANTHROPIC_ALIASES,
    build_client=_build_client,
)
