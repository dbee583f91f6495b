"""How much of a conversation a model is sent, and what becomes of the rest."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from agentframework.errors import ConfigurationError

Summarize = Callable[..., str | Awaitable[str]]
"""``summarize(messages, abort)``, or of the messages alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOptions:
    """Bounds of what is sent, and how it is kept within them. None leaves a bound to the face.

    ``max_tokens`` are estimated ones, ``max_bytes`` UTF-8. ``strategy`` ``truncate`` leaves the oldest out,
    ``summarize`` has them put into a few words by ``summarize(messages, abort)``, sync or async. ``auto_compact`` is
    the share of the window at which a session shortens its conversation by itself (False: never),
    ``keep_recent_turns`` how many turns stay word for word if they fit, ``instructions`` what a model that summarises
    is to mind. Raises `ConfigurationError`.
    """

    max_tokens: int | None = None
    max_messages: int | None = None
    max_bytes: int | None = None
    strategy: Literal["truncate", "summarize"] = "truncate"
    summarize: Summarize | None = None
    auto_compact: float | Literal[False] = 0.835
    keep_recent_turns: int = 2
    instructions: str | None = None

    def __post_init__(self) -> None:
        for name in ("max_tokens", "max_messages", "max_bytes"):
            value: Any = getattr(self, name)
            if value is not None and not _is_count(value, 1):
                raise _refused(name, f"must be a number of at least 1, not {value!r}")
        if not _is_count(self.keep_recent_turns, 0):
            raise _refused("keep_recent_turns", f"must be a number of at least 0, not {self.keep_recent_turns!r}")
        if self.strategy not in ("truncate", "summarize"):
            raise _refused("strategy", f"must be truncate or summarize, not {self.strategy!r}")
        if self.summarize is not None and not callable(self.summarize):
            raise _refused("summarize", f"must be a function, not {self.summarize!r:.100}")
        share: Any = self.auto_compact
        if share is not False and (share is True or not isinstance(share, int | float) or not 0 < share <= 1):
            raise _refused("auto_compact", f"must be a share above 0 and at most 1, or False, not {share!r}")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _refused(name: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"context.{name} {problem}", details={"field": f"context.{name}"})
