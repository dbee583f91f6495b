"""``$ENV:NAME``: a value that comes from an environment variable, so that secrets stay out of files."""

import re
from collections.abc import Mapping
from typing import Any, cast

_VALUE = re.compile(r"\$ENV:([A-Za-z_][A-Za-z0-9_]*)")


class UnsetVariableError(Exception):
    """The variable is not set; ``name`` is its name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the environment variable {name} is not set")
        self.name = name


def variable_of(value: object) -> str | None:
    """The name of the variable that ``value`` stands for, if it is of that form as a whole."""
    match = _VALUE.fullmatch(value) if isinstance(value, str) else None
    return None if match is None else match[1]


def expand(value: Any, environment: Mapping[str, str]) -> Any:
    """``value`` with every such text in it replaced, at any depth. Raises `UnsetVariableError`."""
    if isinstance(value, dict):
        return {key: expand(item, environment) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [expand(item, environment) for item in cast("list[Any]", value)]
    name = variable_of(value)
    if name is None:
        return value
    if name not in environment:
        raise UnsetVariableError(name)
    return environment[name]
