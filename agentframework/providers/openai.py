"""`OpenAIProvider`: OpenAI over Responses or Chat Completions, and servers compatible with either."""

from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from agentframework.errors import ConfigurationError
from agentframework.providers import openai_chat, openai_responses
from agentframework.providers.api_client import ClientSettings
from agentframework.providers.api_provider import ApiProvider, WireApi
from agentframework.providers.constrained import ConstrainedOptions, build_prompt
from agentframework.providers.definitions import OPENAI_ALIASES, OPENAI_DEFAULT_MODEL, OPENAI_FAMILIES
from agentframework.providers.endpoint import Endpoint, Vendor, resolve_endpoint
from agentframework.providers.openai_chat_events import ChatReply
from agentframework.providers.openai_constrained import ConstrainedReply, encode_constrained
from agentframework.providers.openai_responses_events import ResponsesReply
from agentframework.providers.protocol import Chunk, ModelRequest, RetryPolicy
from agentframework.providers.steady import DEFAULT_RETRY

if TYPE_CHECKING:
    import httpx2

_VENDOR = Vendor("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1")


class OpenAIProvider(ApiProvider):
    """Answers with an OpenAI model or a compatible server. One object serves any number of sessions.

    ``api`` is ``responses`` (nothing is stored, reasoning is carried along encrypted) or ``chat``, which most
    compatible servers speak. ``api_key`` and ``base_url`` (with ``/v1``) fall back to ``OPENAI_API_KEY`` and
    ``OPENAI_BASE_URL``, as in OpenAI's SDK; a server on this machine needs no key. ``timeout_s`` limits the wait
    for a reply to begin, ``idle_timeout_s`` the silence inside it. An ``http_client`` (an ``httpx2.AsyncClient``)
    stays the caller's to close. An effort on ``responses`` also asks for summaries of the reasoning.
    ``tool_mode="constrained"`` (chat only) is for models without native tool calling on a server that decodes
    under a JSON schema: each reply is decoded as one tool call or an answer. ``no_think`` ends prompts in
    ``/no_think``, which some open models understand.

    Raises `MissingCredentialsError` or `ConfigurationError` at once.
    """

    def __init__(  # noqa: PLR0913 - the options of the public class
        self,
        *,
        api: Literal["responses", "chat"] = "responses",
        api_key: str | None = None,
        base_url: str | None = None,
        default_model: str = OPENAI_DEFAULT_MODEL,
        headers: Mapping[str, str] | None = None,
        retry: RetryPolicy = DEFAULT_RETRY,
        timeout_s: float = 600.0,
        idle_timeout_s: float = 120.0,
        http_client: "httpx2.AsyncClient | None" = None,
        no_think: bool = False,
        tool_mode: Literal["native", "constrained"] = "native",
    ) -> None:
        if tool_mode not in ("native", "constrained") or (tool_mode == "constrained" and api != "chat"):
            raise ConfigurationError(
                f"tool_mode must be 'native', or 'constrained' with api='chat', not {tool_mode!r} with api={api!r}",
                details={"field": "tool_mode"},
            )
        self._constrained = tool_mode == "constrained"
        endpoint = resolve_endpoint(_VENDOR, api_key, base_url, headers)
        settings = ClientSettings(endpoint, timeout_s, idle_timeout_s, http_client)
        super().__init__(_wire_api(api, endpoint), settings, retry, default_model, no_think=no_think)

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        if not self._constrained:
            return await super()._attempt(request)
        prompt = build_prompt(request, ConstrainedOptions())
        body = encode_constrained(request, prompt)
        return self._exchange(request, body, partial(ConstrainedReply, prompt=prompt))


def _wire_api(api: str, endpoint: Endpoint) -> WireApi:
    if api == "responses":
        return WireApi(
            name=openai_responses.ORIGIN,
            path="/responses",
            encode=openai_responses.encode_request,
            fold=ResponsesReply,
            families=OPENAI_FAMILIES,
            aliases=OPENAI_ALIASES,
            build_client=_build_client,
        )
    if api == "chat":
        return WireApi(
            name=openai_chat.ORIGIN,
            path="/chat/completions",
            encode=partial(openai_chat.encode_request, official=endpoint.is_official),
            fold=ChatReply,
            families=OPENAI_FAMILIES,
            aliases=OPENAI_ALIASES,
            build_client=_build_client,
        )
    raise ConfigurationError(f"api must be 'responses' or 'chat', not {api!r}", details={"field": "api"})


def _build_client(settings: ClientSettings, timeout: Any) -> Any:
    import openai  # noqa: PLC0415 - 0.7 s and 49 MiB, paid in a thread by those who use it

    return openai.AsyncOpenAI(**settings.client_arguments(timeout))
