"""Hooks that are web services: the input is posted as JSON, the answer is ``{"ok": true}`` or a no with its reason."""

import json
import re
from functools import lru_cache
from typing import Any

from agentframework.hooks.model import HookAnswer, HookFailedError, HookRequest, HttpAction
from agentframework.hooks.output import read_verdict

MAX_RESPONSE_BYTES = 65_536
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


async def post(action: HttpAction, request: HookRequest) -> HookAnswer:
    """Post the input. ``request.environment`` holds the variables that headers may name; unknown ones stay.

    Redirects are not followed, proxies of the environment not used. Raises `HookFailedError` for every other answer.
    """
    import httpx2  # noqa: PLC0415 - heavy, only if there is such a hook

    headers = {name: _filled(value, request) for name, value in action.headers.items()}
    headers.update({"content-type": "application/json", "accept-encoding": "identity"})
    try:
        verify: Any = await _tls() if action.url.startswith("https") else False
        async with (
            httpx2.AsyncClient(verify=verify, trust_env=False, follow_redirects=False, timeout=None) as client,
            client.stream("POST", action.url, content=request.body, headers=headers) as response,
        ):
            if not response.is_success:
                raise HookFailedError(f"it answered with HTTP {response.status_code}")
            return read_verdict(_parsed(await _body(response)))
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise HookFailedError(f"{type(error).__name__}: {error}") from error


def _filled(value: str, request: HookRequest) -> str:
    return _VARIABLE.sub(lambda found: request.environment.get(found[1] or found[2], found[0]), value)


async def _tls() -> Any:
    from anyio import to_thread  # noqa: PLC0415

    return await to_thread.run_sync(_tls_configuration)


@lru_cache(maxsize=1)
def _tls_configuration() -> Any:
    import httpx2  # noqa: PLC0415

    return httpx2.create_ssl_context(trust_env=False)


async def _body(response: Any) -> bytes:
    data = bytearray()
    async for piece in response.aiter_raw():
        data += piece
        if len(data) > MAX_RESPONSE_BYTES:
            raise HookFailedError(f"it answered with more than {MAX_RESPONSE_BYTES} bytes")
    return bytes(data)


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HookFailedError(f"its answer is no JSON: {body[:80].decode('utf-8', 'replace')!r}") from None
