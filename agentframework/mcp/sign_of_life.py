"""A question that any server can answer, for both eras."""

from mcp import Client, MCPError
from mcp_types import EmptyResult, PingRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentframework.mcp.failures import CONNECTION_CLOSED, REQUEST_TIMEOUT


async def ask(client: Client) -> None:
    """Return when the server has answered, whatever it said. Raises `MCPError` if it did not."""
    version = client.protocol_version
    try:
        if version in MODERN_PROTOCOL_VERSIONS:
            await client.session.send_discover(version)
        else:
            await client.session.send_request(PingRequest(), EmptyResult)
    except MCPError as error:
        if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            raise
