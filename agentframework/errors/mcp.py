"""An MCP server failed."""

from collections.abc import Mapping
from typing import Any

from agentframework.errors.base import AgentFrameworkError, ErrorCode


class McpError(AgentFrameworkError):
    """Something about an MCP server; ``details["server_id"]`` names it.

    ``retryable`` says whether the same may succeed later; whether it may be repeated is another question.
    """

    default_code = ErrorCode.MCP_OPERATION_FAILED

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        details: Mapping[str, Any] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.retryable = retryable


class McpConnectionError(McpError):
    """No connection came about: not reached, not started, or no handshake in time."""

    default_code = ErrorCode.MCP_CONNECTION_FAILED


class McpDisconnectedError(McpError):
    """The connection was lost, before or during the operation, or is closed."""

    default_code = ErrorCode.MCP_DISCONNECTED


class McpOperationError(McpError):
    """The server refused or failed an operation, or took longer than ``details["timeout_s"]``."""

    default_code = ErrorCode.MCP_OPERATION_FAILED


class McpExtensionError(McpError):
    """An optional extension of the protocol that is not supported here."""

    default_code = ErrorCode.MCP_EXTENSION_UNSUPPORTED
