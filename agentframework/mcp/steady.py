"""Delays between attempts, and which operations may be attempted again at all."""

import random
from typing import Any

from agentframework.errors import AgentFrameworkError, McpError
from agentframework.providers.protocol import RetryPolicy

READS = frozenset(
    {
        "complete",
        "get_prompt",
        "list_prompts",
        "list_resource_templates",
        "list_resources",
        "list_tools",
        "ping",
        "read_resource",
    }
)
"""Operations without effects on the server. A call of a tool is none of them, whatever the tool says of itself."""


def backoff_s(policy: Any, number: int) -> float:
    """Seconds before the attempt after failure ``number`` (from 1): doubling, bounded, and varied by a fifth or so."""
    delay = min(policy.max_delay_s, policy.initial_delay_s * 2.0 ** min(number - 1, 60))
    jitter = getattr(policy, "jitter_ratio", 0.2)
    return max(0.0, delay * (1 + jitter * random.uniform(-1, 1)))


def may_repeat(operation: str, policy: RetryPolicy) -> bool:
    """Whether ``policy`` allows a second attempt at ``operation``."""
    wanted = policy.retryable_operations
    if wanted is not None and operation not in wanted:
        return False
    return operation in READS or policy.retry_non_idempotent


def worth_repeating(error: AgentFrameworkError) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, McpError) and error.retryable
