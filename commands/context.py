"""``/context``: how full the model's window is, and of what."""

from agentframework.slash import Command, CommandHost, CommandResult

_CELLS = 20
_TITLES = {
    "system": "system prompt",
    "tools": "tools",
    "mcp": "tools of MCP servers",
    "files": "files added with @",
    "messages": "messages",
    "free": "free",
}


def context_command() -> Command:
    """``/context``."""
    return Command("context", "Show what fills the context window", _run, read_only=True)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    state, parts, tools = host.get_context_state(), host.get_context_parts(), host.list_tools()
    lines = [
        f"{_bar(state.used_percentage)} {state.used_percentage:.1f} % of the window of {host.model}",
        f"{state.used_tokens:,} of {state.max_tokens:,} tokens in {state.messages} messages ({state.bytes:,} bytes)",
    ]
    for part in parts:
        share = 100 * part.tokens / max(1, state.max_tokens)
        lines.append(f"{_bar(share)} {share:5.1f} % {part.tokens:>9,} {_TITLES[part.name]}")
    lines.append(f"{len(tools)} tools: {', '.join(tools) or 'none'}")
    data = {
        "used_tokens": state.used_tokens,
        "max_tokens": state.max_tokens,
        "used_percentage": state.used_percentage,
        "messages": state.messages,
        "bytes": state.bytes,
        "tools": list(tools),
        "parts": {part.name: part.tokens for part in parts},
    }
    return CommandResult("\n".join(lines), data=data)


def _bar(percentage: float) -> str:
    filled = min(_CELLS, round(_CELLS * percentage / 100))
    return f"[{'#' * filled}{'.' * (_CELLS - filled)}]"
