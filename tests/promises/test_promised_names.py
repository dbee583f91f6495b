import pytest

import agentframework

NAMES = (
    "Agent",
    "AgentFrameworkError",
    "CompositeToolExecutor",
    "ContextManager",
    "ErrorCode",
    "ImageBlock",
    "InMemorySessionStore",
    "SessionState",
    "SessionStore",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutionError",
    "ToolExecutor",
    "ToolInfo",
    "ToolPolicy",
    "ToolRegistry",
    "ToolResult",
    "TurnNotRunError",
    "create_headless_runner",
    "create_initial_session_state",
    "estimate_message_bytes",
    "estimate_message_tokens",
    "is_turn_not_run_error",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_promised_name_is_public(name: str) -> None:
    assert name in agentframework.__all__
    assert getattr(agentframework, name) is not None
