"""The names under which a model sees the tools of servers.

Model APIs take 64 of ``A-Z a-z 0-9 _ -``; servers use what they like. A name depends on server and tool alone, never
on what else is there or came first, so it is the same after every start.
"""

import re
from hashlib import blake2b

MAX_NAME = 64
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]+")
_MARK_BYTES = 4


def qualify_model_tool_name(server_id: str, tool_name: str) -> str:
    """``mcp__<server_id>__<tool_name>``, made to fit.

    Where that would be too long, holds other characters, or could be read in two ways (a server named ``x__y``), it
    ends in ``_`` and eight hexadecimal digits made of both names: different tools get different names.
    """
    plain = f"mcp__{server_id}__{tool_name}"
    clear = "__" not in server_id and not server_id.endswith("_") and tool_name and server_id
    if clear and len(plain) <= MAX_NAME and not _FOREIGN.search(plain):
        return plain
    both = f"{len(server_id)}:{server_id}{tool_name}".encode("utf-8", "surrogatepass")
    mark = "_" + blake2b(both, digest_size=_MARK_BYTES).hexdigest()
    return _FOREIGN.sub("_", plain)[: MAX_NAME - len(mark)] + mark
