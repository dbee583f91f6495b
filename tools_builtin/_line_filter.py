"""A regular expression from a model, to be tried on any number of lines.

Above is ``bash_output``; below is the engine that pydantic brings along, which needs time in proportion to the text
whatever the expression, so that none can hold up the session.
"""

from collections.abc import Callable

MAX_PATTERN = 1_000


def line_filter(pattern: str) -> Callable[[str], bool] | None:
    """Whether the expression is found in a line; None if ``pattern`` cannot be used. Syntax of Rust's ``regex``."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # noqa: PLC0415 - loads a compiled library

    if len(pattern) > MAX_PATTERN:
        return None
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex")).isinstance_python
    except (SchemaError, UnicodeEncodeError):
        return None
