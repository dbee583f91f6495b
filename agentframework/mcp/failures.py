"""What went wrong with a server, in our words: the errors of the official client, of HTTP and of the system."""

from collections.abc import Iterator
from typing import Any

from agentframework._base.bounded import cut_end
from agentframework.errors import (
    AgentFrameworkError,
    McpConnectionError,
    McpDisconnectedError,
    McpError,
    McpOperationError,
)
from agentframework.mcp.config import Server, StdioServer

CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
UNAVAILABLE = frozenset({502, 503, 504})
NOT_ALLOWED = frozenset({401, 403})
_LONGEST = 600


class NeedsAuthError(McpConnectionError):
    """The server wants to know who asks; trying again without an answer to that is no use."""


def leaves(error: BaseException) -> Iterator[BaseException]:
    """What an exception group holds, or the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves(one)
    else:
        yield error


def leaf(error: BaseException) -> BaseException:
    """The one exception of a group that says most."""
    found = list(leaves(error))
    return next((one for one in found if isinstance(one, Exception)), found[0])


def address(server: Server) -> str:
    """What a server is, for messages."""
    return server.command if isinstance(server, StdioServer) else server.url.split("?")[0]


def connection_error(server_id: str, server: Server, error: BaseException, exchange: Any) -> McpConnectionError:
    """Why no connection came about."""
    details: dict[str, Any] = {"server_id": server_id}
    status = getattr(exchange, "status", None)
    if status in NOT_ALLOWED:
        details["status"] = status
        return NeedsAuthError(f"MCP server {server_id}: {_not_allowed(server, status)}", details=details)
    cause = leaf(error)
    if status is not None and status >= 400:
        details["status"] = status
        text = f"{address(server)} answered {status}"
    else:
        text = _why(server, cause)
    return McpConnectionError(f"MCP server {server_id}: {cut_end(text, _LONGEST)}", details=details, retryable=True)


def _not_allowed(server: Server, status: int) -> str:
    return f"{address(server)} answered {status}: it needs authorization; give the server auth or headers"


def _why(server: Server, cause: BaseException) -> str:
    if isinstance(cause, FileNotFoundError) and isinstance(server, StdioServer):
        return f"cannot start {server.command!r}: no such program or directory"
    if isinstance(cause, PermissionError) and isinstance(server, StdioServer):
        return f"cannot start {server.command!r}: permission denied"
    if isinstance(cause, AgentFrameworkError):
        return cause.message
    text = str(cause) or type(cause).__name__
    if type(cause).__module__.startswith("httpx"):
        return f"cannot reach {address(server)}: {text}"
    return text


def operation_error(server_id: str, operation: str, error: BaseException, exchange: Any) -> McpError:
    """Why an operation failed."""
    details: dict[str, Any] = {"server_id": server_id, "operation": operation}
    cause = leaf(error)
    status = getattr(exchange, "status", None)
    if status is not None and status >= 400:
        details["status"] = status
    code = getattr(cause, "code", None)
    text = cut_end(str(cause) or type(cause).__name__, _LONGEST)
    if isinstance(code, int):
        details["code"] = code
    if code == CONNECTION_CLOSED:
        return McpDisconnectedError(
            f"MCP server {server_id}: the connection was lost during {operation}; it may have taken effect",
            details=details,
            retryable=True,
        )
    retryable = status in UNAVAILABLE or status == 429 or code in (REQUEST_TIMEOUT, INTERNAL_ERROR)
    return McpOperationError(
        f"MCP server {server_id}: {operation} failed: {text}",
        details=details,
        retryable=retryable,
    )
