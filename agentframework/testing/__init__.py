"""Testing kit, public: what our own tests use, for users' tests too.

`ScriptedProvider` stands in for a provider inside the process; `StrictModelServer` is a local HTTP server that
speaks the wire formats and rejects what the real APIs reject.
"""

from agentframework.testing.contexts import tool_context
from agentframework.testing.scripted_provider import (
    Say,
    ScriptedProvider,
    UnconsumedStepsError,
    UnexpectedModelCallError,
    bad_call,
    call,
    say,
    think,
)
from agentframework.testing.strict_server import StrictModelServer

__all__ = [
    "Say",
    "ScriptedProvider",
    "StrictModelServer",
    "UnconsumedStepsError",
    "UnexpectedModelCallError",
    "bad_call",
    "call",
    "say",
    "think",
    "tool_context",
]
