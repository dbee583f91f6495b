"""One operation over one link: sent, waited for within its limits, and its failure read.

What a failure says about the connection is acted on here, once: a forgotten session, a refused key, a server that is
not available, a connection that broke.
"""

import asyncio
from typing import Any

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.errors import AgentFrameworkError, McpDisconnectedError, McpOperationError
from agentframework.mcp.deadlines import Clock, LinkEndedError, OutOfTimeError, within
from agentframework.mcp.failures import CONNECTION_CLOSED, NOT_ALLOWED, UNAVAILABLE, leaf, operation_error
from agentframework.mcp.http import Exchange, current_exchange
from agentframework.mcp.link import Link
from agentframework.mcp.operations import Send, T

_GONE = 404
_CLOSED = "Connection closed"


class SessionGoneError(Exception):
    """The server does not know our session any more; it did not run what was sent."""


async def perform(
    server_id: str, operation: str, send: "Send[T]", link: Link, clock: Clock, abort: AbortSignal | None
) -> T:
    """The result of ``send`` over ``link``. Raises errors of `agentframework.errors`, `AbortedError`, and
    `SessionGoneError` if it may be sent over another link."""
    exchange = Exchange()

    async def work() -> T:
        current_exchange.set(exchange)
        return await send(link, clock)

    details: dict[str, Any] = {"server_id": server_id, "operation": operation}
    link.busy += 1
    try:
        return await within(work(), clock, link.ended, abort, link.adopt)
    except (AbortedError, asyncio.CancelledError, AgentFrameworkError, KeyboardInterrupt, SystemExit):
        raise
    except OutOfTimeError as error:
        link.doubt()
        raise McpOperationError(
            f"MCP server {server_id}: {operation} timed out: {error}",
            details={**details, "timeout_s": error.limit_s},
            retryable=not error.total,
        ) from None
    except LinkEndedError:
        raise McpDisconnectedError(
            f"MCP server {server_id}: the connection was lost during {operation}; it may have taken effect "
            f"({link.reason})",
            details=details,
            retryable=True,
        ) from None
    except Exception as error:
        _act_on(error, exchange, link)
        raise operation_error(server_id, operation, error, exchange) from error
    finally:
        link.busy -= 1


def _act_on(error: Exception, exchange: Exchange, link: Link) -> None:
    status = exchange.status
    if status == _GONE and exchange.with_session:
        link.lose("the server has forgotten the session", renew=True)
        raise SessionGoneError from error
    if status in NOT_ALLOWED:
        link.lose(f"the server answered {status}: it needs authorization", auth=True)
    elif status in UNAVAILABLE:
        link.lose(f"the server answered {status}")
    elif getattr(leaf(error), "code", None) == CONNECTION_CLOSED:
        # Either the whole connection, in the client's own words, or one stream of it.
        if str(leaf(error)) == _CLOSED:
            link.lose("the connection broke")
        else:
            link.doubt()
