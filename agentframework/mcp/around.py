"""Where stdio servers run."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Around:
    """The working directory of servers, and the variables that they may inherit some of."""

    cwd: str
    environment: Mapping[str, str] = field(repr=False)
