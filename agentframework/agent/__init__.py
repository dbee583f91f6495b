"""The governed face: a host asks for a run and gets an asynchronous stream of events, and a result.

Below are the loop, gate, tools, servers and stores that sessions use too.
"""

from agentframework._base.abort import AbortSignal
from agentframework.agent.agent import Agent
from agentframework.agent.run import AgentRun
from agentframework.agent.telemetry import OpenTelemetryObserver
from agentframework.context import ContextManager, ContextOptions
from agentframework.loop import Limits
from agentframework.messages import RunResult
from agentframework.permissions import (
    AuthorizationRule,
    ToolApprovalRequest,
    ToolAuthorizationEvent,
    ToolDecision,
    ToolPolicy,
)

__all__ = [
    "AbortSignal",
    "Agent",
    "AgentRun",
    "AuthorizationRule",
    "ContextManager",
    "ContextOptions",
    "Limits",
    "OpenTelemetryObserver",
    "RunResult",
    "ToolApprovalRequest",
    "ToolAuthorizationEvent",
    "ToolDecision",
    "ToolPolicy",
]
