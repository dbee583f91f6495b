"""``/cost``: tokens used, and money where a price is known."""

from agentframework.messages import Usage
from agentframework.slash import Command, CommandHost, CommandResult


def cost_command() -> Command:
    """``/cost``."""
    return Command("cost", "Show the tokens used in this session and what they cost", _run, read_only=True)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    usage = host.get_usage()
    about = " (estimated)" if usage.estimated else ""
    lines = [f"{usage.total_tokens:,} tokens{about}: {_parts(usage)}"]
    if usage.cost_usd is None:
        lines.append("Cost: not known; the provider gives no prices.")
    else:
        lines.append(f"Cost: {usage.cost_usd:.4f} USD")
    data = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.total_tokens,
        "cost_usd": usage.cost_usd,
        "estimated": usage.estimated,
    }
    return CommandResult("\n".join(lines), data=data)


def _parts(usage: Usage) -> str:
    cached = f" ({usage.cache_read_tokens:,} from the cache)" if usage.cache_read_tokens else ""
    reasoning = f" ({usage.reasoning_tokens:,} of it reasoning)" if usage.reasoning_tokens else ""
    return f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out{reasoning}"
