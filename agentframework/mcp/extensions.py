"""Optional extensions of the protocol: which of them work here."""

from dataclasses import dataclass

from agentframework.errors import McpExtensionError

_UNSUPPORTED = {
    "tasks": "the official client has no stable operations for tasks; a tool that needs one is answered with an error",
}


@dataclass(frozen=True, slots=True)
class McpExtensionSupport:
    """Whether an extension works here; ``reason`` says why it does not."""

    name: str
    supported: bool
    reason: str | None = None


def mcp_extension_support(name: str) -> McpExtensionSupport:
    """Whether the extension ``name`` works here.

    Others than ``tasks`` may be declared to servers through ``McpOptions(capabilities={"extensions": …})``; what they
    then mean is up to the host.
    """
    return McpExtensionSupport(name, False, _UNSUPPORTED.get(name, "no such extension is built in"))


def assert_mcp_extension_supported(name: str) -> None:
    """Raise `McpExtensionError` unless the extension ``name`` works here."""
    support = mcp_extension_support(name)
    if not support.supported:
        raise McpExtensionError(
            f"the MCP extension {name!r} is not supported: {support.reason}", details={"extension": name}
        )
