"""JSON schemas: of a Python function's parameters, and of the arguments a model sends.

Schemas of functions come from pydantic; arguments of any tool are checked with jsonschema against the schema
the model was shown, so that there is one truth for both.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, get_type_hints

from agentframework.errors import ConfigurationError
from agentframework.tools.tool import ToolContext


class FunctionSchema:
    """A typed function as a tool sees it: JSON schema, and how to turn arguments into a call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        from pydantic import Field, create_model  # noqa: PLC0415 - keeps the package import light

        self.context_parameter: str | None = None
        hints = get_type_hints(function, include_extras=True)
        described = _parameter_docs(inspect.getdoc(function) or "")
        fields: dict[str, Any] = {}
        for parameter in inspect.signature(function).parameters.values():
            annotation = hints.get(parameter.name, Any)
            if annotation is ToolContext:
                self.context_parameter = parameter.name
                continue
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise ConfigurationError(
                    f"tool function {function.__name__}: parameter {parameter.name} must be an ordinary named one"
                )
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[parameter.name] = (annotation, Field(default, description=described.get(parameter.name)))
        self._model = create_model(f"{function.__name__}_arguments", __config__={"extra": "forbid"}, **fields)
        self.schema: dict[str, Any] = self._model.model_json_schema()
        self.schema.pop("title", None)

    def call_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments for the function. Raises ``ValueError`` with one line per bad field."""
        from pydantic import ValidationError  # noqa: PLC0415

        try:
            model = self._model.model_validate(arguments)
        except ValidationError as error:
            raise ValueError(_lines(error.errors(include_url=False))) from None
        return {name: getattr(model, name) for name in type(model).model_fields}


def _lines(errors: Any) -> str:
    return "\n".join(f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}" for item in errors)


_PARAMETER = re.compile(r"^\s*(?::param\s+)?(\w+)(?:\s*\([^)]*\))?\s*:\s*(\S.*)$")


def _parameter_docs(doc: str) -> dict[str, str]:
    """Descriptions from an ``Args:`` section (Google style) or ``:param name:`` lines."""
    found: dict[str, str] = {}
    inside = False
    for line in doc.splitlines():
        heading = line.strip().lower()
        if heading in ("args:", "arguments:", "parameters:"):
            inside = True
            continue
        if inside and line.strip() and not line.startswith(" "):
            inside = False
        match = _PARAMETER.match(line) if inside or line.lstrip().startswith(":param") else None
        if match:
            found[match.group(1)] = match.group(2).strip()
    return found


def summary_of(doc: str) -> str:
    """The docstring up to its parameter section: what a tool's description should be."""
    kept: list[str] = []
    for line in doc.splitlines():
        if line.strip().lower() in ("args:", "arguments:", "parameters:", "returns:", "raises:"):
            break
        if not line.lstrip().startswith((":param", ":return", ":raise")):
            kept.append(line)
    return "\n".join(kept).strip()


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with ``arguments``, one line per fault (at most five), or None.

    JSON Schema 2020-12. A schema that cannot be used is reported as a fault, never taken as a pass.
    """
    checker = _checker(_Frozen(schema))
    if isinstance(checker, str):
        return checker
    faults = sorted(checker.iter_errors(arguments), key=lambda error: list(map(str, error.absolute_path)))
    if not faults:
        return None
    lines = [
        f"{'.'.join(str(step) for step in fault.absolute_path) or 'arguments'}: {fault.message}"[:300]
        for fault in faults[:5]
    ]
    return "\n".join(lines)


class _Frozen:
    """A schema as a cache key, by identity: tools keep theirs for life."""

    __slots__ = ("schema",)

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and other.schema is self.schema


@lru_cache(maxsize=1024)
def _checker(frozen: _Frozen) -> Any:
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    try:
        Draft202012Validator.check_schema(frozen.schema)
    except SchemaError as error:
        return f"the tool's own schema is invalid: {error.message}"
    # An explicit empty registry: a $ref to the network must fail, not be fetched.
    registry: Any = Registry()
    return Draft202012Validator(dict(frozen.schema), registry=registry)
