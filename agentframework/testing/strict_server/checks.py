"""The rules as pure functions: would the real API take this request body?

`check_request` needs no server, so property tests can call it on every request a program makes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Literal

from .anthropic_rules import apply_anthropic_rules
from .chat_rules import apply_chat_rules
from .issued import Issued
from .json_text import encodable
from .refusal import Refused, need
from .responses_rules import apply_responses_rules

__all__ = ["check_anthropic", "check_chat", "check_request", "check_responses", "refusal"]

_OPENAI_RULES: dict[str, Callable[[dict[str, Any], Issued | None], None]] = {
    "chat": apply_chat_rules,
    "responses": apply_responses_rules,
}


def refusal(
    api: str, body: dict[str, Any], issued: Issued | None = None, *, betas: Collection[str] = ()
) -> Refused | None:
    """Like `check_request`, with the details of the refusal."""
    try:
        need(
            encodable(body),
            "The request body is not valid JSON: no low surrogate in string",
            code="invalid_json",
        )
        if api == "anthropic":
            apply_anthropic_rules(body, issued, betas)
        else:
            _OPENAI_RULES[api](body, issued)
    except Refused as error:
        return error
    return None


def check_request(
    api: Literal["anthropic", "chat", "responses"],
    body: dict[str, Any],
    issued: Issued | None = None,
    *,
    betas: Collection[str] = (),
) -> str | None:
    """Why the API would refuse `body`, or None.

    `issued` is what the server handed out: with it, thinking and reasoning that come back must be as issued;
    without it only their shape is looked at. `betas` are the values of the `anthropic-beta` header.
    """
    error = refusal(api, body, issued, betas=betas)
    return None if error is None else error.message


def check_anthropic(body: dict[str, Any], issued: Issued | None = None) -> str | None:
    """`check_request` for Anthropic Messages."""
    return check_request("anthropic", body, issued)


def check_chat(body: dict[str, Any], issued: Issued | None = None) -> str | None:
    """`check_request` for OpenAI Chat Completions."""
    return check_request("chat", body, issued)


def check_responses(body: dict[str, Any], issued: Issued | None = None) -> str | None:
    """`check_request` for OpenAI Responses."""
    return check_request("responses", body, issued)
