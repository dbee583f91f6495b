"""The names under which a server's tools are offered to a model: ``mcp__<server>__<tool>``.

Model APIs take 1 to 64 of ``A-Z a-z 0-9 _ -``; MCP allows more of both. The name is a function of the two originals
alone, so it is the same after a restart and whatever connects first. Two rules make it unique without a table:
a part that had to be changed ends in a hash of its original, and the server's part never holds ``__``, so that the
tools of one server are exactly those that begin with its ``mcp__<server>__``, which permission rules rely on.

Sources: tool names in the MCP specification 2025-11-25 (server/tools), function names of the model APIs.
"""

import hashlib
import re

PREFIX = "mcp__"
MAX_NAME = 64
MAX_SERVER_PART = 32
_SEPARATOR = "__"
_HASH = 6
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_RUNS = re.compile(r"_{2,}")


def server_part(server_id: str) -> str:
    """``server_id`` as it stands in tool names: at most 32 characters, without ``__`` and no ``_`` at its ends."""
    plain = _RUNS.sub("_", _FOREIGN.sub("_", server_id)).strip("_")
    if plain == server_id and len(plain) <= MAX_SERVER_PART:
        return plain
    head = plain[: MAX_SERVER_PART - _HASH - 1].rstrip("_")
    return f"{head}-{_digest(server_id)}"


def server_prefix(server_id: str) -> str:
    """What the names of a server's tools begin with, and no other's."""
    return f"{PREFIX}{server_part(server_id)}"


def qualify_model_tool_name(server_id: str, tool_name: str) -> str:
    """The name of a server's tool for models and permission rules, at most 64 characters."""
    head = f"{server_prefix(server_id)}{_SEPARATOR}"
    plain = _FOREIGN.sub("_", tool_name)
    room = MAX_NAME - len(head)
    if plain == tool_name and plain and len(plain) <= room:
        return head + plain
    return f"{head}{plain[: room - _HASH - 1]}-{_digest(tool_name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
