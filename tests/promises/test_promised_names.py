import pytest

import agentframework

NAMES = (
    "AgentFrameworkError",
    "CompositeToolExecutor",
    "ErrorCode",
    "ImageBlock",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutionError",
    "ToolExecutor",
    "ToolInfo",
    "ToolRegistry",
    "ToolResult",
    "TurnNotRunError",
    "create_headless_runner",
    "ContextManager",
    "estimate_message_bytes",
    "estimate_message_tokens",
    "is_turn_not_run_error",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_promised_name_is_public(name: str) -> None:
    assert name in agentframework.__all__
    assert getattr(agentframework, name) is not None
