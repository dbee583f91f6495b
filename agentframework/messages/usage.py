"""Token counts, what they cost, and the state of the context window, in one convention for all providers."""

from dataclasses import dataclass, replace
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several model requests.

    ``input_tokens`` includes cached ones on every provider; ``cost_usd`` is None while no price is known;
    ``estimated`` marks counts that we guessed because the server sent none.
    """

    json_properties: ClassVar = ("total_tokens",)

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None
    estimated: bool = False

    @property
    def total_tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            sum(costs) if costs else None,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """What a model costs, in USD per million tokens. Cached input costs as much as other input by default."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None

    def cost(self, usage: Usage) -> float:
        """What these tokens cost, in USD."""
        fresh = max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens)
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        cached = usage.cache_read_tokens * read + usage.cache_write_tokens * write
        return (fresh * self.input + cached + usage.output_tokens * self.output) / 1_000_000

    def applied(self, usage: Usage) -> Usage:
        """The same tokens with their cost."""
        return replace(usage, cost_usd=self.cost(usage))


@dataclass(frozen=True, slots=True)
class ContextState:
    """How full the model's window is. Percentages are 0 to 100 with two decimals."""

    json_properties: ClassVar = ("used_percentage", "remaining_percentage")

    max_tokens: int
    used_tokens: int
    messages: int
    bytes: int

    @property
    def used_percentage(self) -> float:
        """Share of the window in use, at most 100."""
        if self.max_tokens < 1:
            return 100.0
        return round(min(100.0, 100.0 * self.used_tokens / self.max_tokens), 2)

    @property
    def remaining_percentage(self) -> float:
        """What is left, in percent."""
        return round(100.0 - self.used_percentage, 2)

    @property
    def tokens(self) -> int:
        """Another name of `used_tokens`."""
        return self.used_tokens
