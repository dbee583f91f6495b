"""Which tools a session offers: unique names in a stable order."""

from collections.abc import Iterable, Iterator

from agentframework.errors import ConfigurationError, ErrorCode, ToolExecutionError
from agentframework.messages import ToolSpec
from agentframework.tools.tool import Tool


class ToolSet(tuple[Tool, ...]):
    """Tools as a tuple that can be picked from by name.

    ``optional`` tools belong to the set (they share what its tools know of files, say) but are only in it when picked.
    """

    optional: tuple[Tool, ...]

    def __new__(cls, tools: Iterable[Tool] = (), *, optional: Iterable[Tool] = ()) -> "ToolSet":
        made = super().__new__(cls, tools)
        made.optional = tuple(optional)
        return made

    def pick(self, *names: str) -> "ToolSet":
        """These tools, in the order asked for. Raises `ConfigurationError` for an unknown name."""
        known = {tool.name: tool for tool in (*self, *self.optional)}
        for name in names:
            if name not in known:
                raise ConfigurationError(f"no tool named {name!r}; there are {', '.join(known)}")
        return ToolSet(known[name] for name in names)

    def plus(self, *names: str) -> "ToolSet":
        """All of the set, and these optional ones. Raises like `pick`."""
        return ToolSet((*self, *self.pick(*names)))

    def without(self, *names: str) -> "ToolSet":
        """All tools but these."""
        return ToolSet((tool for tool in self if tool.name not in names), optional=self.optional)


def name_conflict(name: str) -> ToolExecutionError:
    """The error of a name that two tools want."""
    return ToolExecutionError(
        f"two tools are named {name!r}; rename one or leave it out",
        code=ErrorCode.TOOL_NAME_CONFLICT,
        details={"tool": name},
    )


class ToolCatalog:
    """Name → tool. A name already taken is refused with ``TOOL_NAME_CONFLICT``.

    Tools that come and go belong to a group; groups stand behind all others, in the order in which they were first
    named, so that the beginning of what the model is told stays the same.
    """

    __slots__ = ("_groups", "_own", "_specs", "_tools")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._own: dict[str, Tool] = {}
        self._groups: dict[str, tuple[Tool, ...]] = {}
        self._tools: dict[str, Tool] = self._own
        self._specs: tuple[ToolSpec, ...] | None = None
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool) -> None:
        """Offer one more tool."""
        if tool.name in self._tools:
            raise name_conflict(tool.name)
        self._own[tool.name] = tool
        self._join()

    def replace_group(self, group: str, tools: Iterable[Tool]) -> None:
        """The tools of ``group`` are these now; if a name is taken elsewhere, nothing changes."""
        fresh = tuple(tools)
        mine = {tool.name for tool in self._groups.get(group, ())}
        names: set[str] = set()
        for tool in fresh:
            if tool.name in names or (tool.name in self._tools and tool.name not in mine):
                raise name_conflict(tool.name)
            names.add(tool.name)
        self._groups[group] = fresh
        self._join()

    def remove_group(self, group: str) -> None:
        """Forget a group with its tools and its place."""
        if self._groups.pop(group, None) is not None:
            self._join()

    def group_of(self, name: str) -> str | None:
        """The group that a tool belongs to."""
        return next((group for group, tools in self._groups.items() if any(one.name == name for one in tools)), None)

    def _join(self) -> None:
        later = {tool.name: tool for group in self._groups.values() for tool in group}
        self._tools = {**self._own, **later} if later else self._own
        self._specs = None

    def replace(self, names: Iterable[str], tools: Iterable[Tool]) -> None:
        """Offer ``tools`` in place of those named: both at once or, if a name is taken, neither.

        A tool of a name that stays keeps its place, so that requests begin as they did before.
        """
        gone = set(names)
        new: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in new or (tool.name in self._tools and tool.name not in gone):
                raise name_conflict(tool.name)
            new[tool.name] = tool
        kept = {name: new.pop(name, tool) for name, tool in self._own.items() if name not in gone or name in new}
        self._own = {**kept, **new}
        self._join()

    def get(self, name: str) -> Tool | None:
        """The tool of that exact name."""
        return self._tools.get(name)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told; the same tuple until the catalog changes."""
        if self._specs is None:
            self._specs = tuple(tool.spec for tool in self._tools.values())
        return self._specs

    @property
    def names(self) -> tuple[str, ...]:
        """Names in the order offered."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
