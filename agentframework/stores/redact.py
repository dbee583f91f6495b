"""Secrets that must not be written down: found by the name of their key, or by their shape.

Only what cannot be anything else counts as a shape, since what is taken out here is missing when a session goes on.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

REDACTED = "[REDACTED]"

_KEYS = re.compile(
    r"(?:.*[-_.])?(?:api[-_]?key|apikey|authorization|proxy[-_]authorization|(?:access|refresh|auth|bearer|session|id)"
    r"[-_]?token|client[-_]?secret|secret(?:[-_]?(?:access)?[-_]?key)?|password|passwd|passphrase|private[-_]?key"
    r"|credentials?|x[-_]api[-_]key|cookie|set[-_]cookie)",
    re.IGNORECASE,
)
_SHAPES = re.compile(
    r"""
      \bsk-(?:ant|proj|or|svcacct)-[A-Za-z0-9_-]{16,}      # model APIs
    | \bsk-[A-Za-z0-9]{32,}\b
    | \bgh[pousr]_[A-Za-z0-9]{36,}\b                       # GitHub
    | \bgithub_pat_[A-Za-z0-9_]{50,}\b
    | \bglpat-[A-Za-z0-9_-]{20,}
    | \bxox[abprs]-[A-Za-z0-9-]{10,}                       # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b                        # AWS
    | \bAIza[A-Za-z0-9_-]{35}\b                            # Google
    | \bnpm_[A-Za-z0-9]{36}\b
    | \bpypi-[A-Za-z0-9_-]{50,}
    | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}   # JSON Web Token
    | (?<=[Bb]earer\ )[A-Za-z0-9._~+/=-]{20,}
    | (?<=://)[^\s/:@"']{1,64}:[^\s/:@"']{3,128}(?=@)      # user and password of an address
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?-----END\ [A-Z ]*PRIVATE\ KEY-----
    """,
    re.VERBOSE | re.DOTALL,
)
# What every shape holds some of: most text has none, and is then not searched any further.
_HINT = re.compile(r"sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|npm_|pypi-|eyJ|[Bb]earer |://|PRIVATE KEY")
# Sent back to the model's API byte for byte, or no text at all.
_UNTOUCHED = frozenset({"signature", "data_base64", "encrypted_content"})


def redact(value: Any) -> Any:
    """``value`` (JSON-able) without secrets. What holds none is returned as it is, not copied."""
    if isinstance(value, str):
        return _SHAPES.sub(REDACTED, value) if _HINT.search(value) else value
    if isinstance(value, Mapping):
        return _redact_mapping(cast("Mapping[str, Any]", value))
    if isinstance(value, list):
        items = cast("list[Any]", value)
        cleaned = [redact(item) for item in items]
        return cleaned if any(new is not old for new, old in zip(cleaned, items, strict=True)) else items
    return value


def _redact_mapping(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value.get("type") == "thinking":
        return value  # signed: changed by a character, it would be refused
    cleaned: dict[str, Any] = {}
    changed = False
    for key, item in value.items():
        new = item if key in _UNTOUCHED else REDACTED if _is_secret(key, item) else redact(item)
        changed = changed or new is not item
        cleaned[key] = new
    return cleaned if changed else value


def _is_secret(key: str, item: Any) -> bool:
    return isinstance(item, str) and bool(item) and item != REDACTED and _KEYS.fullmatch(key) is not None
