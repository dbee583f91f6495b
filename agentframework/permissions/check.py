"""The first stage: does the call name a tool, and can its arguments be used at all."""

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from agentframework.errors import ErrorCode
from agentframework.permissions.decisions import Explanation, GateCall
from agentframework.permissions.subject import SHELL_NAMES
from agentframework.tools.schema import check_arguments

_MOST_NAMES = 40


def unusable(
    item: GateCall, arguments: Mapping[str, Any] | None, names: Iterable[str], max_bytes: int
) -> Explanation | None:
    """Why the call cannot be decided, let alone run; None if it can.

    ``arguments`` are those about to be used, ``names`` the tools there are.
    """
    call, tool = item.call, item.tool
    if tool is None:
        reason = f"there is no tool named {call.name!r}"
        return _invalid(reason, _available(call.name, list(names)), ErrorCode.TOOL_NOT_FOUND)
    as_sent = arguments is call.arguments
    if as_sent and call.problem is not None:
        return _invalid(f"the arguments of {call.name} cannot be used", call.problem)
    if arguments is None:
        return _invalid(f"the arguments of {call.name} are no JSON object")
    text = call.arguments_json if as_sent and call.arguments_json else json.dumps(arguments, ensure_ascii=False)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        return _invalid(f"the arguments of {call.name} have {size} bytes, the limit is {max_bytes}")
    fault = check_arguments(tool.input_schema, arguments)
    if fault is not None:
        return _invalid(f"the arguments of {call.name} do not fit its schema", fault)
    command = arguments.get("command")
    if tool.name in SHELL_NAMES and isinstance(command, str) and not command.strip():
        return _invalid("the command is blank")
    return None


def _invalid(reason: str, detail: str = "", code: ErrorCode = ErrorCode.TOOL_ARGUMENTS_INVALID) -> Explanation:
    return Explanation("invalid", reason, "arguments", code=code, detail=detail)


def _available(name: str, names: list[str]) -> str:
    if not names:
        return "no tools are available"
    if len(names) > _MOST_NAMES:
        near = get_close_matches(name, names, n=5, cutoff=0.5)
        shown = [*near, *(other for other in names if other not in near)][:_MOST_NAMES]
        return f"some of the {len(names)} available are {', '.join(shown)}"
    return f"available are {', '.join(names)}"
