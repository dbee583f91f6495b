"""Ways to expose a session. Each translates between a protocol and the session's calls and events."""

from agentframework.transports.headless import HeadlessRunner, create_headless_runner

__all__ = ["HeadlessRunner", "create_headless_runner"]
