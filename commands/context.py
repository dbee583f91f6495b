"""``/context``: how full the model's window is."""

from agentframework.slash import Command, CommandHost, CommandResult

_CELLS = 20


def context_command() -> Command:
    """``/context``."""
    return Command("context", "Show how full the context window is", _run, read_only=True)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    state = host.get_context_state()
    filled = min(_CELLS, round(_CELLS * state.used_percentage / 100))
    tools = host.list_tools()
    lines = [
        f"[{'#' * filled}{'.' * (_CELLS - filled)}] {state.used_percentage:.1f} % of the window of {host.model}",
        f"{state.used_tokens:,} of {state.max_tokens:,} tokens in {state.messages} messages ({state.bytes:,} bytes)",
        f"{len(tools)} tools: {', '.join(tools) or 'none'}",
    ]
    data = {
        "used_tokens": state.used_tokens,
        "max_tokens": state.max_tokens,
        "used_percentage": state.used_percentage,
        "messages": state.messages,
        "bytes": state.bytes,
        "tools": list(tools),
    }
    return CommandResult("\n".join(lines), data=data)
